-- id: grows_per_execution_items
-- title: What survives a growing module's executions, and what may hold it
-- columns:
--   capture_id: the capture
--   device_id: the device
--   module_id: the module that grows
--   position: from 1
--   kind: still live, or holder
--   label: the origin of live bytes, or the event
--   bytes: live bytes (bytes); NULL for a holder
--   count: allocations, or events
CREATE VIEW grows_per_execution_items AS
WITH listed AS (
  SELECT s.capture_id, s.device_id, s.module_id, 2 AS part, s.position, 'still live' AS kind,
    s.origin AS label,
    s.bytes, s.count
  FROM growth_survivors s
  WHERE s.position <= (SELECT t.setting FROM settings t WHERE t.name = 'items_max')
  UNION ALL
  SELECT h.capture_id, h.device_id, h.module_id, 1, h.position, 'holder', h.event, NULL, h.count
  FROM growth_holders h
)
SELECT
  r.capture_id,
  r.device_id,
  r.module_id,
  ROW_NUMBER() OVER (
    PARTITION BY r.capture_id, r.device_id ORDER BY r.part, r.position
  ) AS position,
  r.kind,
  r.label,
  r.bytes,
  r.count
FROM listed r;
