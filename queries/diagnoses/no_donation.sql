-- id: no_donation
-- title: The step keeps two copies of its state: nothing, or only a part, is donated
-- asks: Could parameters give their memory to results of the same shape and type?
-- needs: a plan with a buffer assignment
-- tags: plan, donation
-- severity: error when an execution failed that would fit with donation, warning from a tenth of
--   the plan on, else info
-- cause: Without donate_argnums XLA must keep the old state while it writes the new one, so both
--   are in memory.
-- columns:
--   capture_id: the capture
--   run: its run
--   host: its host
--   device: ordinal of the device; NULL without devices
--   device_id: the device
--   module_id: the module
--   module_name: its name
--   execution_id: the first execution that launched nothing
--   severity: error, warning or info
--   evidence: inferred: pairs are matched by shape, state by the role of the results
--   title: one sentence
--   detail: how many pairs, and how much of the plan
--   bytes: what donation saves at most (bytes)
-- how to read: The saving is an upper bound: compiled pairs gained 58 to 68 % of it on small models
--   and all of it where the state dominates. A function that returns gradients has results of its
--   parameters' shapes too; these don't count.
-- next: oomdb query --db oom.db "SELECT label, count, bytes FROM finding_items WHERE finding_id
--   LIKE 'no_donation%'"
CREATE VIEW no_donation AS
SELECT
  d.capture_id,
  d.run,
  d.host,
  d.device,
  d.device_id,
  d.module_id,
  d.module_name,
  f.execution_id,
  CASE
    WHEN f.execution_id IS NOT NULL
      AND d.plan_bytes + COALESCE(f.others_bytes, 0) - s.bytes <= d.capacity_bytes THEN 'error'
    WHEN 100 * s.bytes
      >= (SELECT t.setting FROM settings t WHERE t.name = 'donation_warning_percent') * d.plan_bytes
      THEN 'warning'
    ELSE 'info'
  END AS severity,
  'inferred' AS evidence,
  CASE WHEN m.donated_parameter_count > 0 THEN 'Only a part of the state of '
    ELSE 'The state of ' END
    || d.module_name
    || CASE WHEN m.donated_parameter_count > 0 THEN ' is donated' ELSE ' is not donated' END
    || CASE WHEN m.donated_parameter_count > 0 THEN ': donating the rest' ELSE ': donating it' END
    || ' saves up to ' || CAST(s.bytes AS VARCHAR(20)) || ' bytes' AS title,
  CAST(m.donated_parameter_count AS VARCHAR(20)) || ' of '
    || CAST(m.parameter_count AS VARCHAR(20)) || ' parameters are donated (read). '
    || CAST(s.pairs AS VARCHAR(20))
    || ' more could be: the step returns a result of their shape and type that looks like updated'
    || ' state (inferred): '
    || CAST(s.bytes AS VARCHAR(20)) || ' bytes at most, '
    || CAST(CAST((100 * s.bytes - 100 * s.bytes % NULLIF(d.plan_bytes, 0))
      / NULLIF(d.plan_bytes, 0) AS BIGINT)
      AS VARCHAR(20))
    || ' % of the plan of ' || CAST(d.plan_bytes AS VARCHAR(20)) || ' bytes (read).'
    || CASE
      WHEN f.execution_id IS NULL OR d.capacity_bytes IS NULL THEN ''
      WHEN d.plan_bytes + COALESCE(f.others_bytes, 0) - s.bytes <= d.capacity_bytes
        THEN ' An execution launched nothing (measured); with donation it would fit (inferred).'
      ELSE ' An execution launched nothing (measured); donation alone would not make it fit'
        || ' (inferred).'
    END AS detail,
  s.bytes AS bytes
FROM donation_savings s
JOIN module_devices d ON d.module_id = s.module_id
JOIN modules m ON m.module_id = s.module_id
LEFT JOIN failed_executions f
  ON f.module_id = d.module_id AND f.device_id IS NOT DISTINCT FROM d.device_id AND f.place = 1;
