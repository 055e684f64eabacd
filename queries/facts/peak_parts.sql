-- id: peak_parts
-- title: What every module's peak is made of: temps at the heap peak, parameters, outputs,
--   constants
-- columns:
--   module_id: the module
--   kind: temp, parameter, output or constant
--   role: forward, backward, workspace or other; NULL where it is not known
--   shape: its shape; NULL where the plan does not say it
--   instruction: the instruction that makes it; NULL for what no single one makes
--   op_name: the JAX operation that makes it
--   source_file: its Python file
--   source_line: its line
--   bytes: its size (bytes)
-- how to read: The sizes of a module add up to its peak_bytes, but for the tables of tuples, which
--   are a few bytes. Without a heap trace the temps stand in one row.
CREATE VIEW peak_parts AS
SELECT
  b.module_id,
  'temp' AS kind,
  b.role,
  b.shape,
  b.instruction,
  b.op_name,
  b.source_file,
  b.source_line,
  b.bytes
FROM buffers b
WHERE b.class = 'temp' AND b.memory_space = 0 AND b.at_peak = 1
UNION ALL
SELECT
  p.module_id, p.class, NULL, p.shape, NULL, NULL, NULL, NULL, p.bytes
FROM plan_allocations p
JOIN modules m ON m.module_id = p.module_id
WHERE p.memory_space = 0
  AND (p.class IN ('parameter', 'constant') OR (p.class = 'temp' AND m.heap_peak_bytes IS NULL))
UNION ALL
SELECT
  o.module_id, 'output', o.role, o.shape, o.instruction, NULL, NULL, NULL, o.bytes
FROM module_outputs o
WHERE o.memory_space = 0 AND o.aliased = 0;
