-- id: forward_dominates_items
-- title: The largest forward buffers at the heap peak
-- columns:
--   capture_id: the capture
--   device_id: the device; NULL without devices
--   module_id: the module
--   position: from 1, most bytes first
--   kind: temp at the peak
--   label: shape, operation and Python line
--   bytes: bytes of the group (bytes)
--   count: buffers in it
CREATE VIEW forward_dominates_items AS
WITH mine AS (
  SELECT
    g.capture_id,
    g.device_id,
    g.module_id,
    ROW_NUMBER() OVER (PARTITION BY g.module_id, g.device_id ORDER BY g.position) AS position,
    g.kind,
    COALESCE(g.shape, 'shape unknown')
      || COALESCE(' ' || g.op_name, '')
      || COALESCE(' ' || g.source_file || COALESCE(':' || CAST(g.source_line AS VARCHAR(20)), ''),
        '')
      || COALESCE(' ' || g.function_name, '') AS label,
    g.bytes,
    g.count
  FROM misfit_groups g
  JOIN misfit_peaks p
    ON p.module_id = g.module_id AND p.device_id IS NOT DISTINCT FROM g.device_id
  WHERE g.kind = 'temp at the peak' AND g.role = 'forward' AND p.leading_role = 'forward'
)
SELECT m.capture_id, m.device_id, m.module_id, m.position, m.kind, m.label, m.bytes, m.count
FROM mine m
WHERE m.position <= (SELECT s.setting FROM settings s WHERE s.name = 'items_max');
