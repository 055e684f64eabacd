-- id: allocator_retry_items
-- title: The executions that waited for memory, longest wait first
-- columns:
--   capture_id: the capture
--   device_id: the device
--   module_id: the module whose executions waited
--   position: from 1, longest wait first
--   kind: wait
--   label: the execution, how long it waited and what came of it
--   bytes: the request that failed (bytes); NULL when the wait succeeded
--   count: waits of that execution
CREATE VIEW allocator_retry_items AS
WITH waits AS (
  SELECT
    f.capture_id,
    f.device_id,
    f.module_id,
    ROW_NUMBER() OVER (
      PARTITION BY f.capture_id, f.device_id, f.module_id
      ORDER BY e.wait_ns DESC NULLS LAST, e.start_ns, e.execution_id
    ) AS position,
    'execution ' || CAST(e.sequence AS VARCHAR(20)) || ' waited ' || CAST(e.wait_ns AS VARCHAR(20))
      || ' ns'
      || CASE WHEN x.execution_id IS NULL THEN '' ELSE ' and launched nothing' END AS label,
    x.failed_bytes AS bytes,
    COALESCE(e.retry_count, 1) AS count
  FROM allocator_retry f
  JOIN executions e
    ON e.capture_id = f.capture_id
    AND e.device_id IS NOT DISTINCT FROM f.device_id
    AND e.module_id IS NOT DISTINCT FROM f.module_id
  LEFT JOIN failed_executions x ON x.execution_id = e.execution_id
  WHERE e.wait_ns > 0
)
SELECT w.capture_id, w.device_id, w.module_id, w.position, 'wait' AS kind, w.label, w.bytes, w.count
FROM waits w
WHERE w.position <= (SELECT s.setting FROM settings s WHERE s.name = 'items_max');
