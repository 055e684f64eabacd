-- id: no_donation
-- title: The step keeps two copies of its state: nothing, or only a part, is donated
-- rank: 100
-- hint: yes
-- verdict: second copy
-- incident: device
-- asks: Could parameters give their memory to results of the same shape and type?
-- needs: a plan with a buffer assignment
-- tags: plan, donation
-- severity: error when an execution failed that would fit with donation, warning from a tenth of
--   the plan on, else info
-- cause: Without donate_argnums XLA must keep the old state while it writes the new one, so both
--   are in memory.
-- how to read: The saving is an upper bound: compiled pairs gained 58 to 68 % of it on small models
--   and all of it where the state dominates. A function that returns gradients has results of its
--   parameters' shapes too; these don't count.
-- next: oomdb query --db oom.db "SELECT label, count, bytes FROM finding_items WHERE finding_id
--   LIKE 'no_donation%'"
-- says: (part_donated?Only a part of the state|The state) of {module_name} is
--   (part_donated?donated: donating the rest|not donated: donating it) saves up to {bytes:bytes}
-- detail: {donated_parameter_count:n} of {parameter_count:n} parameters are donated (read).
--   {pairs:n} more could be: the step returns a result of their shape and type that looks like
--   updated state (inferred): {bytes:bytes} at most, {plan_percent:%} of the plan of
--   {plan_bytes:bytes} (read).[ A loop reads {read_bytes:bytes} of that while it writes the result,
--   so that donating it saves nothing: carry it through the loop and update it in
--   place.](would_fit? An execution failed before launch (measured); with donation it would fit
--   (inferred).)(not_enough? An execution failed before launch (measured);
--   donation alone would not make it fit (inferred).)
-- quiet: donation complete ({donated_parameter_count:n} of {parameter_count:n} parameters)
-- columns:
--   execution_id: the first execution that failed before launch
--   evidence: inferred: pairs are matched by shape, state by the role of the results
--   bytes: what donation saves at most (bytes)
--   pairs: parameters that could be donated
--   parameter_count: its parameters
--   donated_parameter_count: of these donated
--   part_donated: 1 when any is, else 0
--   plan_bytes: what the plan needs (bytes)
--   plan_percent: the saving, as a share of the plan (per cent, rounded down)
--   likely_bytes: of these, of parameters that nothing reads while their result is written (bytes)
--   read_bytes: the rest: a loop reads it while it writes the result, so that the compiler copies
--     it; NULL when there is none (bytes)
--   sure_bytes: what compiled programs gained at least of likely_bytes (bytes)
--   others_bytes: what else was in use when that one started (bytes); 0 when none failed
--   needs_bytes: plan and other arrays, less the saving (bytes)
--   capacity_bytes: what the device may use (bytes)
--   would_fit: 1 when an execution failed that would fit with donation, else 0
--   not_enough: 1 when one failed that would not, else 0
CREATE VIEW no_donation AS
WITH sized AS (
  SELECT
    d.capture_id,
    d.run,
    d.host,
    d.device,
    d.device_id,
    d.module_id,
    d.module_name,
    f.execution_id,
    s.bytes,
    s.pairs,
    s.likely_bytes,
    s.sure_bytes,
    COALESCE(f.others_bytes, 0) AS others_bytes,
    m.parameter_count,
    m.donated_parameter_count,
    d.plan_bytes,
    d.plan_bytes + COALESCE(f.others_bytes, 0) - s.bytes AS needs_bytes,
    -- By a replay of the plan where there is one, else what is likely.
    COALESCE(c.needs_bytes, d.plan_bytes - s.likely_bytes) + COALESCE(f.others_bytes, 0)
      AS expected_bytes,
    d.capacity_bytes
  FROM donation_savings s
  JOIN module_devices d ON d.module_id = s.module_id
  JOIN modules m ON m.module_id = s.module_id
  LEFT JOIN failed_executions f
    ON f.module_id = d.module_id
    AND (f.device_id = d.device_id OR (f.device_id IS NULL AND d.device_id IS NULL))
    AND f.place = 1
  LEFT JOIN plan_changes c ON c.module_id = d.module_id AND c.remedy = 'donate'
)
SELECT
  z.*,
  CASE
    WHEN z.execution_id IS NOT NULL
      AND z.expected_bytes <= z.capacity_bytes THEN 'error'
    WHEN 100 * z.bytes
      >= (SELECT t.setting FROM settings t WHERE t.name = 'donation_warning_percent') * z.plan_bytes
      THEN 'warning'
    ELSE 'info'
  END AS severity,
  'inferred' AS evidence,
  CASE WHEN z.donated_parameter_count > 0 THEN 1 ELSE 0 END AS part_donated,
  CAST((100 * z.bytes - 100 * z.bytes % NULLIF(z.plan_bytes, 0)) / NULLIF(z.plan_bytes, 0)
    AS BIGINT) AS plan_percent,
  CASE
    WHEN z.execution_id IS NOT NULL
      AND z.expected_bytes <= z.capacity_bytes THEN 1
    ELSE 0
  END AS would_fit,
  CASE
    WHEN z.execution_id IS NOT NULL
      AND z.expected_bytes > z.capacity_bytes THEN 1
    ELSE 0
  END AS not_enough,
  CASE WHEN z.likely_bytes < z.bytes THEN z.bytes - z.likely_bytes END AS read_bytes
FROM sized z;

-- title: The shapes of which parameters could be donated
-- columns:
--   kind: pair of parameter and result
--   label: their shape
--   bytes: what donating them saves at most (bytes)
--   count: pairs of it
CREATE VIEW no_donation_items AS
WITH ordered AS (
  SELECT
    f.capture_id,
    f.device_id,
    f.module_id,
    ROW_NUMBER() OVER (
      PARTITION BY f.module_id, f.device_id
      ORDER BY p.bytes DESC NULLS LAST, p.shape NULLS FIRST
    ) AS position,
    'pair of parameter and result' AS kind,
    p.shape AS label,
    p.bytes,
    p.pairs AS count
  FROM no_donation f
  JOIN donation_pairs p ON p.module_id = f.module_id
  WHERE p.state_pairs > 0 OR p.cache_outputs > 0
)
SELECT o.*
FROM ordered o
WHERE o.position <= (SELECT s.setting FROM settings s WHERE s.name = 'items_max');

-- title: Donate the state
-- words fix: donate the state: jax.jit(step, donate_argnums=...) for the arguments that the step
--   returns updated
-- words cost: none; using a donated array afterwards is a clear error
-- columns:
--   saving_bytes: what it saves by a replay of the plan, else at most (bytes)
--   needs_bytes: plan and other arrays, less the saving (bytes)
--   needs_low_bytes: the low end of the range in which that lies (bytes); NULL: not replayed
--   needs_high_bytes: its high end (bytes); NULL: not replayed
--   fits: 1 when all of the range is within the capacity, 0 when none of it is, else NULL; without
--     a replay, 1 when what compiled programs gained at least is enough
--   likely: 1 when needs_bytes is within the capacity, without what a loop still reads; else 0
--   changes_results: 0
--   evidence: inferred
CREATE VIEW no_donation_remedies AS
SELECT
  f.capture_id,
  f.device_id,
  f.module_id,
  1 AS position,
  'donate' AS remedy,
  COALESCE(f.plan_bytes - c.needs_bytes, f.bytes) AS saving_bytes,
  COALESCE(c.needs_bytes + f.others_bytes, f.needs_bytes) AS needs_bytes,
  c.low_bytes + f.others_bytes AS needs_low_bytes,
  c.high_bytes + f.others_bytes AS needs_high_bytes,
  CASE
    WHEN c.high_bytes + f.others_bytes <= f.capacity_bytes THEN 1
    WHEN c.low_bytes + f.others_bytes > f.capacity_bytes THEN 0
    WHEN c.needs_bytes IS NOT NULL THEN NULL
    WHEN (100 + t.setting) * (f.plan_bytes + f.others_bytes - f.sure_bytes)
      <= 100 * f.capacity_bytes THEN 1
    WHEN (100 - t.setting) * f.needs_bytes > 100 * f.capacity_bytes THEN 0
  END AS fits,
  CASE
    WHEN f.capacity_bytes IS NULL THEN NULL
    WHEN c.needs_bytes IS NOT NULL
      THEN CASE WHEN c.needs_bytes + f.others_bytes <= f.capacity_bytes THEN 1 ELSE 0 END
    WHEN f.plan_bytes + f.others_bytes - f.likely_bytes <= f.capacity_bytes THEN 1
    ELSE 0
  END AS likely,
  0 AS changes_results,
  'inferred' AS evidence
FROM no_donation f
JOIN settings t ON t.name = 'fit_margin_percent'
LEFT JOIN plan_changes c ON c.module_id = f.module_id AND c.remedy = 'donate';

-- title: Modules that have donated parameters
-- columns:
--   parameter_count: its parameters
--   donated_parameter_count: of these donated
CREATE VIEW no_donation_quiet AS
SELECT
  m.capture_id,
  CAST(NULL AS BIGINT) AS device_id,
  m.module_id,
  m.parameter_count,
  m.donated_parameter_count
FROM modules m
WHERE m.donated_parameter_count > 0;
