-- id: capacity_below_memory
-- title: The pool is much smaller than the device's memory
-- asks: Was the memory fraction set low, and would raising it help?
-- needs: allocator events, and the device's memory in the capture
-- tags: capacity, settings
-- severity: warning when an execution failed that a larger pool would hold, else info
-- cause: XLA_PYTHON_CLIENT_MEM_FRACTION (or another process at the start) left the pool less than
--   the usual three quarters.
-- columns:
--   capture_id: the capture
--   run: its run
--   host: its host
--   device: ordinal of the device
--   device_id: the device
--   module_id: the module that failed and would fit; NULL when none
--   module_name: its name
--   execution_id: its first execution that launched nothing
--   severity: warning or info
--   evidence: measured
--   title: one sentence
--   detail: how much, and whether raising it would help
--   bytes: what the pool holds (bytes)
-- how to read: Ratios of 0.746, 0.75 and 0.97 are normal. Raising the fraction is advised only when
--   an execution failed, nothing grows, and plan and other arrays stay below what a pool can be
--   raised to.
-- next: oomdb query --db oom.db "SELECT device, capacity_bytes, memory_bytes FROM
--   effective_capacity"
CREATE VIEW capacity_below_memory AS
WITH helped AS (
  SELECT
    f.device_id,
    f.module_id,
    f.execution_id,
    m.name AS module_name,
    m.plan_bytes + f.others_bytes AS needs_bytes,
    ROW_NUMBER() OVER (
      PARTITION BY f.device_id
      ORDER BY m.plan_bytes + f.others_bytes DESC NULLS LAST, f.start_ns, f.execution_id
    ) AS place
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
  'The pool holds ' || CAST(p.capacity_bytes AS VARCHAR(20)) || ' bytes of the device''s '
    || CAST(p.memory_bytes AS VARCHAR(20)) || ' bytes'
    || CASE WHEN h.execution_id IS NULL THEN ''
      ELSE ': raising the memory fraction would help' END AS title,
  'That is '
    || CAST(CAST((100 * p.capacity_bytes - 100 * p.capacity_bytes % NULLIF(p.memory_bytes, 0))
      / NULLIF(p.memory_bytes, 0) AS BIGINT) AS VARCHAR(20))
    || ' % (measured): the memory fraction was set, or something else held memory when the program'
    || ' started.'
    || COALESCE(' ' || h.module_name || ' needs ' || CAST(h.needs_bytes AS VARCHAR(20))
      || ' bytes with what else is live (inferred), which a pool of '
      || CAST((SELECT s.setting FROM settings s WHERE s.name = 'raised_capacity_percent')
        AS VARCHAR(20))
      || ' % would hold.', '') AS detail,
  p.capacity_bytes AS bytes
FROM effective_capacity p
JOIN captures c ON c.capture_id = p.capture_id
LEFT JOIN helped h ON h.device_id = p.device_id AND h.place = 1
WHERE p.capacity_source = 'pool'
  AND p.memory_bytes > 0
  AND 100 * p.capacity_bytes
    < (SELECT s.setting FROM settings s WHERE s.name = 'low_capacity_percent') * p.memory_bytes;
