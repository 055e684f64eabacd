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
--   is_state: for parameters: 1 when it is donated or a result has its shape, else 0
--   accumulator_bytes: for parameters that are trained: their gradient in f32 (bytes)
--   stack: for temps at the peak: kept, carried or NULL, as in buffers
--   repeat_count: for temps at the peak, as in buffers
--   score_length: for temps at the peak, as in buffers
--   vocabulary_length: for temps at the peak, as in buffers
CREATE VIEW over_capacity_parts AS
-- Mentioned three times, an engine computes them once.
WITH found AS (
  SELECT f.capture_id, f.device_id, f.module_id, f.heap_peak_bytes
  FROM over_capacity f
),
-- State is what the step gives back: what only has the shape of an argument may be a batch.
results AS (
  SELECT DISTINCT f.module_id, o.shape
  FROM found f
  JOIN module_outputs o ON o.module_id = f.module_id
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
  b.bytes,
  0 AS is_state,
  0 AS accumulator_bytes,
  b.stack,
  b.repeat_count,
  b.score_length,
  b.vocabulary_length
FROM found f
JOIN buffers b ON b.module_id = f.module_id
WHERE b.class = 'temp' AND b.memory_space = 0 AND b.at_peak = 1
UNION ALL
SELECT
  f.capture_id, f.device_id, f.module_id, p.class, NULL, p.shape, NULL, NULL, NULL, NULL, p.bytes,
  CASE WHEN p.aliased_output = 1 OR r.shape IS NOT NULL THEN 1 ELSE 0 END,
  CASE
    WHEN p.forward_read = 1 AND (p.aliased_output = 1 OR r.shape IS NOT NULL) THEN
      CASE
        WHEN LOWER(p.shape) LIKE 'bf16[%' OR LOWER(p.shape) LIKE 'f16[%' THEN 2 * p.bytes
        WHEN LOWER(p.shape) LIKE 'f32[%' THEN p.bytes
        ELSE 0
      END
    ELSE 0
  END,
  NULL, NULL, NULL, NULL
FROM found f
JOIN plan_allocations p ON p.module_id = f.module_id
LEFT JOIN results r ON r.module_id = f.module_id AND r.shape = p.shape
WHERE p.memory_space = 0
  AND (p.class IN ('parameter', 'constant') OR (p.class = 'temp' AND f.heap_peak_bytes IS NULL))
UNION ALL
SELECT
  f.capture_id, f.device_id, f.module_id, 'output', o.role, o.shape, NULL, NULL, NULL, NULL,
  o.bytes, 0, 0, NULL, NULL, NULL, NULL
FROM found f
JOIN module_outputs o ON o.module_id = f.module_id
WHERE o.memory_space = 0 AND o.aliased = 0;
