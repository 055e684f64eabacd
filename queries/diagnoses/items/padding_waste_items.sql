-- id: padding_waste_items
-- title: The buffers that the tiles pad most
-- columns:
--   capture_id: the log, the dump or the capture
--   device_id: NULL
--   module_id: the module
--   position: from 1, most padding first
--   kind: padding
--   label: shape, layout, operation and Python line
--   bytes: padding of the group (bytes)
--   count: buffers in it
CREATE VIEW padding_waste_items AS
SELECT
  p.capture_id,
  CAST(NULL AS BIGINT) AS device_id,
  p.module_id,
  p.position,
  'padding' AS kind,
  p.shape || COALESCE(' in ' || p.layout, '') || COALESCE(' ' || p.op_name, '')
    || COALESCE(' ' || p.source_file || COALESCE(':' || CAST(p.source_line AS VARCHAR(20)), ''), '')
    AS label,
  p.padding_bytes AS bytes,
  p.count
FROM padding_parts p
JOIN padding_waste w ON w.capture_id = p.capture_id AND w.module_id IS NOT DISTINCT FROM p.module_id
WHERE p.position <= (SELECT s.setting FROM settings s WHERE s.name = 'items_max');
