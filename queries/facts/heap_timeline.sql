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
WITH directions AS (
  SELECT 0 AS freed UNION ALL SELECT 1
),
-- Grouped over the tables themselves: through that an engine still looks for the capture that is
-- asked for.
moments AS (
  SELECT
    a.capture_id,
    a.device_id,
    x.allocator_id,
    CASE d.freed WHEN 1 THEN x.free_ns ELSE x.alloc_ns END AS time_ns,
    CAST(SUM(CASE d.freed WHEN 1 THEN -x.bytes ELSE x.bytes END) AS BIGINT) AS change_bytes
  FROM allocators a
  JOIN stored_allocations x ON x.allocator_id = a.allocator_id
  JOIN directions d ON d.freed = 0 OR x.free_ns IS NOT NULL
  GROUP BY
    x.allocator_id, CASE d.freed WHEN 1 THEN x.free_ns ELSE x.alloc_ns END, a.capture_id,
    a.device_id
)
SELECT
  m.capture_id,
  m.allocator_id,
  m.device_id,
  m.time_ns,
  CAST(SUM(m.change_bytes) OVER (
    PARTITION BY m.capture_id, m.allocator_id
    ORDER BY m.time_ns NULLS FIRST
    ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW
  ) AS BIGINT) AS in_use_bytes
FROM moments m;
