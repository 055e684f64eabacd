-- id: over_capacity_parts
-- title: The single parts of every plan that does not fit: parameters, constants, outputs, temps at
--   the peak
-- columns:
--   capture_id: the capture
--   device_id: the device; NULL without devices
--   module_id: the module
--   kind: parameter, output, constant, temp at the peak, or temp where the plan has no heap trace
--   role: forward, backward, workspace or other, for temps at the peak and for outputs
--   shape: its shape; NULL where the plan does not say it
--   op_name: the JAX operation that makes it
--   source_file: its Python file
--   source_line: its line
--   function_name: its function
--   bytes: its size (bytes)
CREATE VIEW over_capacity_parts AS
-- Mentioned three times, an engine computes them once.
WITH found AS (
  SELECT f.capture_id, f.device_id, f.module_id, f.heap_peak_bytes
  FROM over_capacity f
)
SELECT
  f.capture_id,
  f.device_id,
  f.module_id,
  'temp at the peak' AS kind,
  b.role,
  b.shape,
  b.op_name,
  b.source_file,
  b.source_line,
  b.function_name,
  b.bytes
FROM found f
JOIN buffers b ON b.module_id = f.module_id
WHERE b.class = 'temp' AND b.memory_space = 0 AND b.at_peak = 1
UNION ALL
SELECT
  f.capture_id, f.device_id, f.module_id, p.class, NULL, p.shape, NULL, NULL, NULL, NULL, p.bytes
FROM found f
JOIN plan_allocations p ON p.module_id = f.module_id
WHERE p.memory_space = 0
  AND (p.class IN ('parameter', 'constant') OR (p.class = 'temp' AND f.heap_peak_bytes IS NULL))
UNION ALL
SELECT
  f.capture_id, f.device_id, f.module_id, 'output', o.role, o.shape, NULL, NULL, NULL, NULL, o.bytes
FROM found f
JOIN module_outputs o ON o.module_id = f.module_id
WHERE o.memory_space = 0 AND o.aliased = 0;
