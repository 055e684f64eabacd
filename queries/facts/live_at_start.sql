-- id: live_at_start
-- title: What was live on the device when each execution started, by origin
-- columns:
--   capture_id: the capture
--   device_id: the device
--   module_id: the module of the execution
--   execution_id: the execution that started
--   origin: where the live bytes came from
--   purpose: output, temp, transfer or other; NULL when unknown
--   bytes: live bytes of that origin (bytes)
--   count: allocations they are made of
CREATE VIEW live_at_start AS
SELECT
  e.capture_id,
  e.device_id,
  e.module_id,
  e.execution_id,
  x.origin,
  x.purpose,
  CAST(SUM(x.bytes) AS BIGINT) AS bytes,
  COUNT(*) AS count
FROM executions e
JOIN effective_capacity p ON p.device_id = e.device_id
JOIN allocations x ON x.allocator_id = p.allocator_id
WHERE (x.alloc_ns IS NULL OR x.alloc_ns < e.start_ns)
  AND (x.free_ns IS NULL OR x.free_ns >= e.start_ns)
GROUP BY e.capture_id, e.device_id, e.module_id, e.execution_id, x.origin, x.purpose;
