-- id: leading_role_groups
-- title: The buffers at the heap peak that have its leading role, largest first
-- words label: {what}[ {op_name}][ {source_file}[:{source_line:n}]][ {function_name}]
-- columns:
--   capture_id: the capture
--   device_id: the device; NULL without devices
--   module_id: the module
--   role: forward, backward or workspace
--   position: from 1, most bytes first
--   kind: temp at the peak
--   label: shape, operation and Python line
--   bytes: bytes of the group (bytes)
--   count: buffers in it
CREATE VIEW leading_role_groups AS
SELECT
  g.capture_id,
  g.device_id,
  g.module_id,
  g.role,
  ROW_NUMBER() OVER (PARTITION BY g.module_id, g.device_id ORDER BY g.position) AS position,
  g.kind,
  COALESCE(g.shape, 'shape unknown') AS what,
  g.op_name,
  g.source_file,
  g.source_line,
  g.function_name,
  g.bytes,
  g.count
FROM over_capacity_groups g
JOIN over_capacity_peaks p
  ON p.module_id = g.module_id
  AND (p.device_id = g.device_id OR (p.device_id IS NULL AND g.device_id IS NULL))
WHERE g.kind = 'temp at the peak' AND g.role = p.leading_role;
