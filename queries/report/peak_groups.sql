-- id: peak_groups
-- title: What every module's peak is made of, equal buffers together
-- columns:
--   module_id: the module
--   kind: temp, parameter, output or constant
--   role: of temps forward, backward, workspace or other (inferred); NULL for the rest, and for the
--     temps of a plan without a heap trace
--   rematerialized: 1 for buffers that XLA computes again
--   shape: their shape; NULL where the plan does not say it
--   op_name: the JAX operation that makes them
--   source_file: its Python file
--   source_line: its line
--   function_name: the function that the line stands in
--   bytes: all of them together (bytes)
--   count: how many
--   frame_id: the innermost Python frame of one of them; NULL where it is not known
-- how to read: The same parts as in peak_parts, without those of 0 bytes. Parameters, outputs and
--   constants are there all the time, temps by the heap trace; without one all temp allocations.
CREATE VIEW peak_groups AS
-- Each part is grouped by itself: an engine would put the parts of all plans together first.
SELECT
  b.module_id,
  'temp' AS kind,
  b.role,
  CASE WHEN LOWER(b.instruction) LIKE '%.remat%' THEN 1 ELSE 0 END AS rematerialized,
  b.shape,
  b.op_name,
  b.source_file,
  b.source_line,
  b.function_name,
  CAST(SUM(b.bytes) AS BIGINT) AS bytes,
  COUNT(*) AS count,
  MIN(b.frame_id) AS frame_id
FROM buffers b
WHERE b.class = 'temp' AND b.memory_space = 0 AND b.at_peak = 1 AND b.bytes > 0
GROUP BY
  b.module_id,
  b.role,
  CASE WHEN LOWER(b.instruction) LIKE '%.remat%' THEN 1 ELSE 0 END,
  b.shape,
  b.op_name,
  b.source_file,
  b.source_line,
  b.function_name
UNION ALL
SELECT
  p.module_id, p.class, NULL, 0, p.shape, NULL, NULL, NULL, NULL, CAST(SUM(p.bytes) AS BIGINT),
  COUNT(*), NULL
FROM plan_allocations p
JOIN modules m ON m.module_id = p.module_id
WHERE p.memory_space = 0 AND p.bytes > 0
  AND (p.class IN ('parameter', 'constant') OR (p.class = 'temp' AND m.heap_peak_bytes IS NULL))
GROUP BY p.module_id, p.class, p.shape
UNION ALL
SELECT
  o.module_id, 'output', NULL, 0, o.shape, NULL, NULL, NULL, NULL, CAST(SUM(o.bytes) AS BIGINT),
  COUNT(*), NULL
FROM module_outputs o
WHERE o.memory_space = 0 AND o.aliased = 0 AND o.bytes > 0
GROUP BY o.module_id, o.shape;
