-- id: capacity_below_memory
-- title: The pool is much smaller than the device's memory
-- rank: 120
-- hint: yes
-- verdict: pool full
-- incident: device
-- explained by: step_does_not_fit, other_arrays_take_room, grows_per_execution, fragmentation,
--   no_donation
-- asks: Was the memory fraction set low, and would raising it help?
-- needs: allocator events, and the device's memory in the capture
-- tags: capacity, settings
-- severity: warning when an execution failed that a larger pool would hold, else info
-- cause: XLA_PYTHON_CLIENT_MEM_FRACTION (or another process at the start) left the pool less than
--   the usual three quarters.
-- how to read: Ratios of 0.746, 0.75 and 0.97 are normal. Raising the fraction is advised only when
--   an execution failed, nothing grows, and plan and other arrays stay below what a pool can be
--   raised to.
-- next: oomdb query --db oom.db "SELECT device, capacity_bytes, memory_bytes FROM
--   effective_capacity"
-- says: The pool holds {bytes:bytes} of the device's {memory_bytes:bytes}(helps?: raising the
--   memory fraction would help)
-- detail: That is {memory_percent:%} (measured): the memory fraction was set, or something else
--   held memory when the program started.[ {module_name} needs {needs_bytes:bytes} with what else
--   is live (inferred), which a pool of {raised_percent:%} would hold.]
-- columns:
--   module_id: the module that failed and would fit; NULL when none
--   execution_id: its first execution that failed before launch
--   severity: warning or info
--   evidence: measured
--   bytes: what the pool holds (bytes)
--   memory_bytes: the device's memory (bytes)
--   memory_percent: the pool, as a share of it (per cent, rounded down)
--   needs_bytes: plan and other arrays of the module that would fit (bytes)
--   raised_percent: what the pool must be raised to (per cent of the memory); NULL when that would
--     not help
--   unset: 1 when three quarters of the memory, the default, are enough, else 0
--   helps: 1 when raising it would help, else 0
CREATE VIEW capacity_below_memory AS
WITH limits AS (
  SELECT
    MAX(CASE WHEN s.name = 'fraction_margin_percent' THEN s.setting END) AS margin_percent,
    MAX(CASE WHEN s.name = 'fraction_max_percent' THEN s.setting END) AS max_percent,
    MAX(CASE WHEN s.name = 'fraction_default_percent' THEN s.setting END) AS default_percent
  FROM settings s
),
helped AS (
  SELECT
    f.device_id,
    f.module_id,
    f.execution_id,
    m.name AS module_name,
    m.plan_bytes + f.others_bytes AS needs_bytes,
    CAST((100 * (m.plan_bytes + f.others_bytes) + f.memory_bytes - 1
      - (100 * (m.plan_bytes + f.others_bytes) + f.memory_bytes - 1) % NULLIF(f.memory_bytes, 0))
      / NULLIF(f.memory_bytes, 0) AS BIGINT) AS needs_percent,
    ROW_NUMBER() OVER (
      PARTITION BY f.device_id
      ORDER BY m.plan_bytes + f.others_bytes DESC NULLS LAST, f.start_ns, f.execution_id
    ) AS position
  FROM failed_executions f
  JOIN modules m ON m.module_id = f.module_id
  WHERE f.place = 1
    AND m.plan_bytes + f.others_bytes > f.capacity_bytes
    AND 100 * (m.plan_bytes + f.others_bytes)
      <= (SELECT s.setting FROM settings s WHERE s.name = 'raised_capacity_percent')
        * f.memory_bytes
    -- NOT IN: looked up once, not for every failure.
    AND (f.device_id IS NULL OR f.device_id NOT IN (SELECT g.device_id FROM growth g))
)
SELECT
  c.capture_id,
  c.run,
  c.host,
  p.device,
  p.device_id,
  h.module_id,
  h.module_name,
  h.execution_id,
  CASE WHEN h.execution_id IS NULL THEN 'info' ELSE 'warning' END AS severity,
  'measured' AS evidence,
  p.capacity_bytes AS bytes,
  p.memory_bytes,
  CAST((100 * p.capacity_bytes - 100 * p.capacity_bytes % NULLIF(p.memory_bytes, 0))
    / NULLIF(p.memory_bytes, 0) AS BIGINT) AS memory_percent,
  h.needs_bytes,
  -- What is needed, in whole per cents and rounded up, and a margin.
  CASE
    WHEN h.needs_percent + l.margin_percent > l.max_percent THEN l.max_percent
    ELSE h.needs_percent + l.margin_percent
  END AS raised_percent,
  CASE WHEN h.needs_percent + l.margin_percent <= l.default_percent THEN 1 ELSE 0 END AS unset,
  CASE WHEN h.execution_id IS NULL THEN 0 ELSE 1 END AS helps
FROM effective_capacity p
JOIN captures c ON c.capture_id = p.capture_id
CROSS JOIN limits l
LEFT JOIN helped h ON h.device_id = p.device_id AND h.position = 1
WHERE p.capacity_source = 'pool'
  AND p.memory_bytes > 0
  AND 100 * p.capacity_bytes
    < (SELECT s.setting FROM settings s WHERE s.name = 'low_capacity_percent') * p.memory_bytes;

-- title: Raise the memory fraction, where that helps
-- words fix: (unset?remove XLA_PYTHON_CLIENT_MEM_FRACTION|raise XLA_PYTHON_CLIENT_MEM_FRACTION to
--   {raised_percent:x}), and free the device of other processes
-- words cost: less memory for libraries and other processes on the device
-- columns:
--   module_id: the module that failed and would fit
--   position: always 1
--   saving_bytes: always NULL: the step stays as large as it is
--   needs_bytes: plan and other arrays (bytes)
--   fits: 1: below what a pool can be raised to
--   changes_results: 0
--   evidence: inferred
CREATE VIEW capacity_below_memory_remedies AS
SELECT
  f.capture_id,
  f.device_id,
  f.module_id,
  1 AS position,
  'raise_memory_fraction' AS remedy,
  f.raised_percent,
  f.unset,
  CAST(NULL AS BIGINT) AS saving_bytes,
  f.needs_bytes,
  1 AS fits,
  0 AS changes_results,
  'inferred' AS evidence
FROM capacity_below_memory f
WHERE f.helps = 1;
