-- id: step_does_not_fit_items
-- title: The largest parts of a plan that does not fit
-- columns:
--   capture_id: the capture
--   device_id: the device; NULL without devices
--   module_id: the module
--   position: from 1, most bytes first
--   kind: parameter, output, constant, temp at the peak, or temp
--   label: shape, role, operation and Python line
--   bytes: bytes of the group (bytes)
--   count: buffers in it
CREATE VIEW step_does_not_fit_items AS
SELECT
  g.capture_id,
  g.device_id,
  g.module_id,
  g.position,
  g.kind,
  COALESCE(g.shape, 'one block')
    || COALESCE(' ' || g.role, '')
    || COALESCE(' ' || g.op_name, '')
    || COALESCE(' ' || g.source_file || COALESCE(':' || CAST(g.source_line AS VARCHAR(20)), ''), '')
    || COALESCE(' ' || g.function_name, '') AS label,
  g.bytes,
  g.count
FROM misfit_groups g
WHERE g.position <= (SELECT s.setting FROM settings s WHERE s.name = 'items_max');
