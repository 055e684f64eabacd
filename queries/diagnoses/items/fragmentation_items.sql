-- id: fragmentation_items
-- title: What lies between the free blocks
-- columns:
--   capture_id: the capture
--   device_id: the device
--   module_id: the module that failed
--   position: from 1
--   kind: free, largest free block, live at the start, or between two holes
--   label: what it is
--   bytes: its bytes (bytes)
--   count: allocations; NULL for free memory
CREATE VIEW fragmentation_items AS
-- Of an allocator's dump: what is in use with free chunks on both sides, in one region. Freed, it
-- would make one block of three. From the events to their chunks: SQLite keeps to the order of a
-- CROSS JOIN.
WITH enclosed AS (
  SELECT
    c.oom_event_id,
    c.op_name,
    c.bytes AS each_bytes,
    COUNT(*) AS count,
    CAST(SUM(c.bytes) AS BIGINT) AS bytes
  FROM oom_events o
  CROSS JOIN oom_chunks c
  CROSS JOIN oom_chunks l
  CROSS JOIN oom_chunks r
  WHERE c.oom_event_id = o.oom_event_id AND c.in_use = 1
    AND l.oom_event_id = c.oom_event_id AND l.position = c.position - 1 AND l.region = c.region
    AND l.in_use = 0
    AND r.oom_event_id = c.oom_event_id AND r.position = c.position + 1 AND r.region = c.region
    AND r.in_use = 0
  GROUP BY c.oom_event_id, c.op_name, c.bytes
),
ordered_enclosed AS (
  SELECT
    b.oom_event_id,
    'between two holes: ' || COALESCE(b.op_name || ', ', '') || CAST(b.each_bytes AS VARCHAR(20))
      || ' bytes each' AS label,
    b.count,
    b.bytes,
    ROW_NUMBER() OVER (
      PARTITION BY b.oom_event_id
      ORDER BY b.count DESC NULLS LAST, b.bytes DESC NULLS LAST, b.op_name NULLS LAST
    ) AS place
  FROM enclosed b
),
listed AS (
  SELECT f.capture_id, f.device_id, f.module_id, k.part, 1 AS place, k.kind, k.label,
    CASE WHEN k.part = 1 THEN x.free_bytes ELSE x.largest_free_bytes END AS bytes,
    CAST(NULL AS BIGINT) AS count
  FROM fragmentation f
  JOIN failed_executions x ON x.execution_id = f.execution_id
  CROSS JOIN (
    SELECT 1 AS part, 'free' AS kind, 'all free blocks together' AS label
    UNION ALL
    SELECT 2, 'largest free block', 'the largest free block'
  ) k
  UNION ALL
  SELECT f.capture_id, f.device_id, f.module_id, 3, g.position, 'live at the start', g.origin,
    g.bytes, g.count
  FROM fragmentation f
  JOIN failed_live_groups g ON g.execution_id = f.execution_id
  WHERE g.position <= (SELECT s.setting FROM settings s WHERE s.name = 'items_max')
  UNION ALL
  SELECT f.capture_id, f.device_id, f.module_id, k.part, 1, k.kind, k.label,
    CASE WHEN k.part = 1 THEN f.free_bytes ELSE f.largest_free_bytes END, NULL
  FROM oom_failures f
  JOIN oom_branches b ON b.oom_event_id = f.oom_event_id AND b.branch = 'fragmentation'
  CROSS JOIN (
    SELECT 1 AS part, 'free' AS kind, 'all free blocks together' AS label
    UNION ALL
    SELECT 2, 'largest free block', 'the largest free block'
  ) k
  UNION ALL
  SELECT f.capture_id, f.device_id, f.module_id, 3, o.place, 'between two holes', o.label, o.bytes,
    o.count
  FROM oom_failures f
  JOIN oom_branches b ON b.oom_event_id = f.oom_event_id AND b.branch = 'fragmentation'
  JOIN ordered_enclosed o ON o.oom_event_id = f.oom_event_id
  WHERE o.place <= (SELECT s.setting FROM settings s WHERE s.name = 'items_max')
)
SELECT
  l.capture_id,
  l.device_id,
  l.module_id,
  ROW_NUMBER() OVER (
    PARTITION BY l.capture_id, l.device_id, l.module_id ORDER BY l.part, l.place
  ) AS position,
  l.kind,
  l.label,
  l.bytes,
  l.count
FROM listed l;
