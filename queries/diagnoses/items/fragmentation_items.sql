-- id: fragmentation_items
-- title: What lies between the free blocks
-- columns:
--   capture_id: the capture
--   device_id: the device
--   module_id: the module that failed
--   position: from 1
--   kind: free, largest free block, or live at the start
--   label: what it is
--   bytes: its bytes (bytes)
--   count: allocations; NULL for free memory
CREATE VIEW fragmentation_items AS
WITH listed AS (
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
)
SELECT
  l.capture_id,
  l.device_id,
  l.module_id,
  ROW_NUMBER() OVER (PARTITION BY l.device_id, l.module_id ORDER BY l.part, l.place) AS position,
  l.kind,
  l.label,
  l.bytes,
  l.count
FROM listed l;
