-- id: growth_failures
-- title: Failed executions that would have had room before the device's memory grew
-- columns:
--   capture_id: the capture
--   device_id: the device
--   module_id: the module that failed
--   execution_id: its execution that failed before launch
--   growing_module_id: the module that grows
--   start_ns: when it started (Unix ns)
--   place: 1 for the first of the device
CREATE VIEW growth_failures AS
-- Had in-use stayed where it was at the first start of the growing module, the plan would have
-- fitted.
SELECT
  f.capture_id,
  f.device_id,
  f.module_id,
  f.execution_id,
  g.module_id AS growing_module_id,
  f.start_ns,
  ROW_NUMBER() OVER (
    PARTITION BY f.capture_id, f.device_id ORDER BY f.start_ns, f.execution_id
  ) AS place
FROM growth g
JOIN failed_executions f
  ON f.capture_id = g.capture_id
  AND f.device_id = g.device_id
  AND f.start_ns >= g.first_start_ns
JOIN modules m ON m.module_id = f.module_id
LEFT JOIN effective_capacity p ON p.device_id = g.device_id
WHERE p.capacity_bytes IS NULL
  OR m.plan_bytes IS NULL
  OR m.plan_bytes + CASE
      WHEN g.first_in_use_bytes > m.parameter_bytes THEN g.first_in_use_bytes - m.parameter_bytes
      ELSE 0
    END <= p.capacity_bytes;
