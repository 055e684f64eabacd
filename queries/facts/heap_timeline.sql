-- id: heap_timeline
-- title: How many bytes each allocator had in use, over time
-- columns:
--   capture_id: the capture
--   allocator_id: the allocator
--   device_id: its device; NULL for a host pool
--   time_ns: when it changed (Unix ns); NULL for what was in use before the first event
--   in_use_bytes: in use after all events of that moment (bytes)
CREATE VIEW heap_timeline AS
-- Summed from the allocations and their frees, so it is only as good as the record: where an
-- allocator has reconciliation_breaks, events are missing and the line drifts.
WITH changes AS (
  SELECT x.allocator_id, x.alloc_ns AS time_ns, x.bytes AS change_bytes
  FROM allocations x
  UNION ALL
  SELECT x.allocator_id, x.free_ns AS time_ns, -x.bytes AS change_bytes
  FROM allocations x
  WHERE x.free_ns IS NOT NULL
),
moments AS (
  SELECT g.allocator_id, g.time_ns, CAST(SUM(g.change_bytes) AS BIGINT) AS change_bytes
  FROM changes g
  GROUP BY g.allocator_id, g.time_ns
)
SELECT
  a.capture_id,
  m.allocator_id,
  a.device_id,
  m.time_ns,
  CAST(SUM(m.change_bytes) OVER (
    PARTITION BY m.allocator_id
    ORDER BY m.time_ns NULLS FIRST
    ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW
  ) AS BIGINT) AS in_use_bytes
FROM moments m
JOIN allocators a ON a.allocator_id = m.allocator_id;
