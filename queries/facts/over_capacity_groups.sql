-- id: over_capacity_groups
-- title: What a plan that does not fit is made of: parameters, outputs and temps at the peak,
--   largest first
-- columns:
--   capture_id: the capture
--   device_id: the device; NULL without devices
--   module_id: the module
--   position: 1 for the group with the most bytes
--   kind: parameter, output, constant, temp at the peak, or temp where the plan has no heap trace
--   role: forward, backward, workspace or other, for temps at the peak
--   shape: their common shape; NULL where the plan does not say it
--   op_name: the JAX operation that makes them
--   source_file: its Python file
--   source_line: its line
--   function_name: its function
--   bytes: bytes of the group (bytes)
--   count: buffers in it
CREATE VIEW over_capacity_groups AS
-- Without donation the temps are the minor part, so parameters and outputs stand in the same order.
WITH grouped AS (
  SELECT
    p.capture_id,
    p.device_id,
    p.module_id,
    p.kind,
    p.role,
    p.shape,
    p.op_name,
    p.source_file,
    p.source_line,
    p.function_name,
    CAST(SUM(p.bytes) AS BIGINT) AS bytes,
    COUNT(*) AS count
  FROM over_capacity_parts p
  GROUP BY
    p.capture_id, p.device_id, p.module_id, p.kind, p.role, p.shape, p.op_name, p.source_file,
    p.source_line, p.function_name
)
SELECT
  g.capture_id,
  g.device_id,
  g.module_id,
  ROW_NUMBER() OVER (
    PARTITION BY g.module_id, g.device_id
    ORDER BY
      g.bytes DESC NULLS LAST,
      g.kind NULLS FIRST,
      g.role NULLS FIRST,
      g.shape NULLS FIRST,
      g.op_name NULLS FIRST,
      g.source_file NULLS FIRST,
      g.source_line NULLS FIRST,
      g.function_name NULLS FIRST
  ) AS position,
  g.kind,
  g.role,
  g.shape,
  g.op_name,
  g.source_file,
  g.source_line,
  g.function_name,
  g.bytes,
  g.count
FROM grouped g;
