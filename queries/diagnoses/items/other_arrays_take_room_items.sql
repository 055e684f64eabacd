-- id: other_arrays_take_room_items
-- title: What else was live when the step found no room
-- columns:
--   capture_id: the capture
--   device_id: the device
--   module_id: the module that failed
--   position: from 1, most bytes first
--   kind: live at the start
--   label: where the bytes came from
--   bytes: live bytes of that origin (bytes)
--   count: allocations
CREATE VIEW other_arrays_take_room_items AS
SELECT
  g.capture_id,
  g.device_id,
  g.module_id,
  g.position,
  'live at the start' AS kind,
  g.origin AS label,
  g.bytes,
  g.count
FROM other_arrays_take_room f
JOIN failed_live_groups g ON g.execution_id = f.execution_id
WHERE g.position <= (SELECT s.setting FROM settings s WHERE s.name = 'items_max');
