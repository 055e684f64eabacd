-- id: module_devices
-- title: Every module on every device it ran on, its plan beside the device's capacity
-- columns:
--   capture_id: the capture
--   run: its run
--   host: its host
--   status: complete or truncated
--   device_id: the device; for a module that never ran the one that may use least; NULL without
--     devices
--   device: its ordinal as recorded
--   module_id: the module
--   module_name: its name
--   label: its name with the program id, as it is written for people
--   plan_bytes: parameters, outputs, constants and temps (bytes)
--   parameter_bytes: parameters (bytes)
--   output_bytes: non-donated outputs (bytes)
--   constant_bytes: constants (bytes)
--   temp_bytes: temps (bytes)
--   heap_peak_bytes: most temp bytes live at once (bytes)
--   capacity_bytes: what the device may use (bytes); where nothing says it, and the plan is larger
--     than any device of the target, the memory of the largest
--   capacity_source: pool, error log, setting, device memory or largest device
--   capacity_evidence: measured, read or inferred
--   memory_bytes: the device's memory (bytes)
--   allocator_id: the device's pool
--   execution_count: executions on this device
--   launched_count: of these, with evidence that they launched
--   failed_count: of these, known to have failed (never on a truncated capture)
--   target: what the module was compiled for; NULL: unknown
CREATE VIEW module_devices AS
-- On a truncated capture a missing launch may only be missing from the file, so nothing counts as
-- failed.
-- From the modules on, and grouped by capture too: an engine then looks at the executions of the
-- captures that are asked for alone.
WITH ran AS (
  SELECT
    m.capture_id,
    m.module_id,
    e.device_id,
    COUNT(e.execution_id) AS execution_count,
    CAST(SUM(CASE WHEN e.launched = 1 THEN 1 ELSE 0 END) AS BIGINT) AS launched_count,
    CAST(SUM(CASE WHEN e.failed = 1 AND c.status = 'complete' THEN 1
      ELSE 0 END) AS BIGINT) AS failed_count
  FROM stored_modules m
  JOIN captures c ON c.capture_id = m.capture_id
  LEFT JOIN stored_executions e ON e.module_id = m.module_id
  GROUP BY m.capture_id, m.module_id, e.device_id
)
SELECT
  r.capture_id,
  c.run,
  c.host,
  c.status,
  COALESCE(r.device_id, p.device_id) AS device_id,
  p.device,
  m.module_id,
  m.name AS module_name,
  m.name || COALESCE('(' || CAST(m.program_id AS VARCHAR(20)) || ')', '') AS label,
  m.plan_bytes,
  m.parameter_bytes,
  m.output_bytes,
  m.constant_bytes,
  m.temp_bytes,
  m.heap_peak_bytes,
  COALESCE(p.capacity_bytes, CASE WHEN m.plan_bytes > k.setting THEN k.setting END)
    AS capacity_bytes,
  CASE
    WHEN p.capacity_bytes IS NULL AND m.plan_bytes > k.setting THEN 'largest device'
    ELSE p.capacity_source
  END AS capacity_source,
  CASE
    WHEN p.capacity_bytes IS NULL AND m.plan_bytes > k.setting THEN 'read'
    ELSE p.capacity_evidence
  END AS capacity_evidence,
  p.memory_bytes,
  p.allocator_id,
  r.execution_count,
  r.launched_count,
  r.failed_count,
  m.target
FROM ran r
JOIN modules m ON m.module_id = r.module_id
JOIN captures c ON c.capture_id = r.capture_id
LEFT JOIN effective_capacity p
  ON p.capture_id = r.capture_id
  AND ((r.execution_count > 0
      AND (p.device_id = r.device_id OR (p.device_id IS NULL AND r.device_id IS NULL)))
    OR (r.execution_count = 0 AND p.place = 1))
-- A CPU's memory is the machine's: none is the largest.
LEFT JOIN settings k
  ON k.name = 'device_bytes_' || CASE
    WHEN m.platform = 'cpu' THEN NULL
    WHEN m.target
      IN (SELECT SUBSTR(s.name, 14) FROM settings s WHERE LOWER(s.name) LIKE 'device_bytes_%')
      THEN m.target
    ELSE COALESCE(m.platform, 'any')
  END;
