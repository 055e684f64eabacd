-- id: last_executions
-- title: The last execution of every module that ran, on whichever device
-- columns:
--   capture_id: the capture
--   module_id: the module
--   execution_id: the execution
--   device_id: the device that it ran on
--   failed: 1 when it is known to have failed
CREATE VIEW last_executions AS
SELECT l.capture_id, l.module_id, l.execution_id, l.device_id, l.failed
FROM (
  SELECT
    m.capture_id, e.module_id, e.execution_id, e.device_id, e.failed,
    ROW_NUMBER() OVER (
      PARTITION BY m.capture_id, m.module_id
      ORDER BY e.start_ns DESC, e.execution_id DESC
    ) AS place
  FROM stored_modules m
  JOIN stored_executions e ON e.module_id = m.module_id
) l
WHERE l.place = 1;
