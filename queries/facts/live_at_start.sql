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
-- An allocation is looked up in the starts that it lived through, not a start in all that was ever
-- allocated. Origins are compared by id, since their texts are long.
WITH pools AS (
  SELECT
    b.allocator_id,
    ROW_NUMBER() OVER (
      PARTITION BY b.device_id
      ORDER BY b.capture_peak_bytes DESC NULLS LAST, b.allocator_id
    ) AS place
  FROM allocators b
  WHERE b.device_id IS NOT NULL
),
grouped AS (
  SELECT
    a.capture_id,
    a.device_id,
    e.module_id,
    e.execution_id,
    x.origin_id,
    x.purpose,
    CAST(SUM(x.bytes) AS BIGINT) AS bytes,
    COUNT(*) AS count
  FROM allocators a
  JOIN pools p ON p.allocator_id = a.allocator_id AND p.place = 1
  JOIN stored_allocations x ON x.allocator_id = a.allocator_id
  JOIN stored_executions e
    ON e.device_id = a.device_id
    AND e.start_ns > COALESCE(x.alloc_ns, -9223372036854775807)
    AND e.start_ns <= COALESCE(x.free_ns, 9223372036854775807)
  GROUP BY e.execution_id, x.origin_id, x.purpose, a.capture_id, a.device_id, e.module_id
)
SELECT
  g.capture_id,
  g.device_id,
  g.module_id,
  g.execution_id,
  o.content AS origin,
  g.purpose,
  g.bytes,
  g.count
FROM grouped g
LEFT JOIN strings o ON o.string_id = g.origin_id;
