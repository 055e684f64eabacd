-- id: run_comparison
-- title: Two runs side by side: their modules, and the buffers at the peak that make the difference
-- columns:
--   base_run: the run to compare with
--   new_run: the run that is compared
--   module_name: the module
--   place: 1 for the pair with the largest plan of that name
--   kind: module; or temp, parameter, output, constant: a part of its peak that is not in both
--   change: appeared, went, grew, shrank or same
--   base_bytes: in the base run (bytes); of a module its peak; NULL when it has none
--   new_bytes: in the new run (bytes)
--   delta_bytes: how much more the new run has (bytes)
--   base_count: buffers in the base run
--   new_count: buffers in the new run
--   base_shape: the shape of the largest of them in the base run
--   new_shape: the same in the new run
--   instruction: the largest one's instruction, in the new run where it is there
--   role: its role; NULL where it is not known
--   op_name: the JAX operation
--   source_file: its Python file
--   source_line: its line
--   pairing: how the two modules were found to be one: name and shapes; or name: their parameters
--     or results have other shapes, so they may be two functions; NULL when one run has no such
-- how to read: Ask for one pair: WHERE base_run = … AND new_run = …. Modules of one name and of
--   the same shapes of parameters and results are one; what is left is paired by the name alone,
--   the largest plan with the largest. A buffer is the same when
--   instruction and shape are; where the compiler numbered its instructions anew, when shape, JAX
--   operation and Python line are, or shape and operation where lines moved. What is left is added
--   up by operation, so that a batch twice as large shows as a buffer that grew.
CREATE VIEW run_comparison AS
WITH runs AS (
  SELECT DISTINCT m.run FROM run_modules m
),
sided AS (
  SELECT
    m.run AS base_run, r.run AS new_run, 0 AS is_new, m.module_name, m.place AS size_place,
    m.module_id, m.peak_bytes, COALESCE(m.shape_signature, '') AS signature
  FROM run_modules m
  JOIN runs r ON r.run <> m.run
  UNION ALL
  SELECT
    r.run, m.run, 1, m.module_name, m.place, m.module_id, m.peak_bytes,
    COALESCE(m.shape_signature, '')
  FROM run_modules m
  JOIN runs r ON r.run <> m.run
),
-- First what has the same shapes; an unknown signature equals none.
numbered AS (
  SELECT
    s.base_run, s.new_run, s.is_new, s.module_name, s.size_place, s.module_id, s.peak_bytes,
    s.signature,
    ROW_NUMBER() OVER (
      PARTITION BY s.base_run, s.new_run, s.module_name, s.signature, s.is_new
      ORDER BY s.size_place
    ) AS number
  FROM sided s
),
alike AS (
  SELECT
    n.*,
    CASE WHEN n.signature <> '' AND COUNT(*) OVER w = 2 THEN 1 ELSE 0 END AS same_shapes
  FROM numbered n
  WINDOW w AS (PARTITION BY n.base_run, n.new_run, n.module_name, n.signature, n.number)
),
keyed AS (
  SELECT
    a.base_run, a.new_run, a.is_new, a.module_name, a.size_place, a.module_id, a.peak_bytes,
    a.same_shapes,
    CASE WHEN a.same_shapes = 1 THEN a.signature ELSE '' END AS pair_signature,
    CASE
      WHEN a.same_shapes = 1 THEN a.number
      ELSE ROW_NUMBER() OVER (
        PARTITION BY a.base_run, a.new_run, a.module_name, a.same_shapes, a.is_new
        ORDER BY a.size_place
      )
    END AS pair_number
  FROM alike a
),
counted AS (
  SELECT
    k.base_run, k.new_run, k.is_new, k.module_name, k.module_id, k.peak_bytes, k.same_shapes,
    k.pair_signature, k.pair_number,
    COUNT(*) OVER w AS sides,
    MIN(k.size_place) OVER w AS pair_place
  FROM keyed k
  WINDOW w AS (
    PARTITION BY k.base_run, k.new_run, k.module_name, k.same_shapes, k.pair_signature,
      k.pair_number
  )
),
paired AS (
  SELECT
    c.base_run, c.new_run, c.is_new, c.module_name, c.module_id, c.peak_bytes, c.sides,
    CASE WHEN c.sides < 2 THEN NULL WHEN c.same_shapes = 1 THEN 'name and shapes' ELSE 'name' END
      AS pairing,
    DENSE_RANK() OVER (
      PARTITION BY c.base_run, c.new_run, c.module_name
      ORDER BY c.pair_place, c.same_shapes DESC NULLS LAST, c.pair_signature NULLS FIRST,
        c.pair_number
    ) AS place
  FROM counted c
),
-- The module itself is one more part of its kind, so that all rows come down one path: an engine
-- then looks only at the pair of runs that is asked for.
-- What is in peak_parts comes from its three tables by left joins, each with a key for one source
-- alone: a union would be put together for all plans there are.
sources AS (
  SELECT 'module' AS source UNION ALL SELECT 'temp' UNION ALL SELECT 'allocation'
  UNION ALL SELECT 'output'
),
pieces AS (
  SELECT
    p.base_run, p.new_run, p.is_new, p.module_name, p.place, p.pairing, s.source,
    COALESCE(a.class, s.source) AS kind,
    COALESCE(b.role, o.role) AS role,
    COALESCE(b.shape_id, a.shape_id, o.shape_id) AS shape_id,
    COALESCE(b.instruction_id, o.instruction_id) AS instruction_id,
    b.op_name_id,
    b.source_file_id,
    b.source_line,
    CASE s.source WHEN 'module' THEN p.peak_bytes ELSE COALESCE(b.bytes, a.bytes, o.bytes) END
      AS bytes
  FROM paired p
  JOIN modules m ON m.module_id = p.module_id
  JOIN sources s ON s.source = 'module' OR p.sides = 2
  LEFT JOIN stored_buffers b
    ON b.plan_id = CASE s.source WHEN 'temp' THEN m.plan_id END
    AND b.class = 'temp' AND b.memory_space = 0 AND b.at_peak = 1
  LEFT JOIN stored_plan_allocations a
    ON a.plan_id = CASE s.source WHEN 'allocation' THEN m.plan_id END
    AND a.memory_space = 0
    AND (a.class IN ('parameter', 'constant') OR (a.class = 'temp' AND m.heap_peak_bytes IS NULL))
  LEFT JOIN stored_module_outputs o
    ON o.plan_id = CASE s.source WHEN 'output' THEN m.plan_id END
    AND o.memory_space = 0 AND o.aliased = 0
  WHERE s.source = 'module'
    OR b.plan_id IS NOT NULL OR a.plan_id IS NOT NULL OR o.plan_id IS NOT NULL
),
parts AS (
  SELECT
    p.base_run, p.new_run, p.is_new, p.module_name, p.place, p.pairing, p.kind, p.role,
    COALESCE(h.content, '') AS shape,
    COALESCE(i.content, '') AS instruction,
    COALESCE(n.content, '') AS op_name,
    f.content AS source_file,
    p.source_line,
    p.bytes
  FROM pieces p
  LEFT JOIN strings h ON h.string_id = p.shape_id
  LEFT JOIN strings i ON i.string_id = p.instruction_id
  LEFT JOIN strings n ON n.string_id = p.op_name_id
  LEFT JOIN strings f ON f.string_id = p.source_file_id
),
-- Each step pairs off what is on both sides, the first so many of each, and leaves the rest; which
-- are the first is settled by all that is told of a buffer, or engines would leave different ones.
-- One kind of window a select: SQLite looks no further down for the pair that is asked for than
-- there.
by_instruction_counts AS (
  SELECT
    p.*,
    SUM(p.is_new) OVER w AS new_count,
    COUNT(*) OVER w AS both_count
  FROM parts p
  WINDOW w AS (
    PARTITION BY p.base_run, p.new_run, p.module_name, p.place, p.kind, p.shape, p.instruction
  )
),
by_instruction AS (
  SELECT
    c.*,
    ROW_NUMBER() OVER (
      PARTITION BY c.base_run, c.new_run, c.module_name, c.place, c.kind, c.shape, c.instruction,
        c.is_new
      ORDER BY c.op_name NULLS FIRST, c.source_line NULLS FIRST, c.source_file NULLS FIRST,
        c.bytes DESC NULLS LAST, c.role NULLS FIRST
    ) AS number
  FROM by_instruction_counts c
),
by_line_counts AS (
  SELECT
    i.base_run, i.new_run, i.is_new, i.module_name, i.place, i.pairing, i.kind, i.role, i.shape,
    i.instruction, i.op_name, i.source_file, i.source_line, i.bytes,
    SUM(i.is_new) OVER w AS new_count,
    COUNT(*) OVER w AS both_count
  FROM by_instruction i
  WHERE i.kind = 'module'
    OR i.number > CASE WHEN i.is_new = 1 THEN i.both_count - i.new_count ELSE i.new_count END
  WINDOW w AS (
    PARTITION BY i.base_run, i.new_run, i.module_name, i.place, i.kind, i.shape, i.op_name,
      i.source_line
  )
),
by_line AS (
  SELECT
    d.*,
    ROW_NUMBER() OVER (
      PARTITION BY d.base_run, d.new_run, d.module_name, d.place, d.kind, d.shape, d.op_name,
        d.source_line, d.is_new
      ORDER BY d.instruction NULLS FIRST, d.source_file NULLS FIRST, d.bytes DESC NULLS LAST,
        d.role NULLS FIRST
    ) AS number
  FROM by_line_counts d
),
by_operation_counts AS (
  SELECT
    l.base_run, l.new_run, l.is_new, l.module_name, l.place, l.pairing, l.kind, l.role, l.shape,
    l.instruction, l.op_name, l.source_file, l.source_line, l.bytes,
    SUM(l.is_new) OVER w AS new_count,
    COUNT(*) OVER w AS both_count
  FROM by_line l
  WHERE l.kind = 'module'
    OR l.number > CASE WHEN l.is_new = 1 THEN l.both_count - l.new_count ELSE l.new_count END
  WINDOW w AS (
    PARTITION BY l.base_run, l.new_run, l.module_name, l.place, l.kind, l.shape, l.op_name
  )
),
by_operation AS (
  SELECT
    e.*,
    ROW_NUMBER() OVER (
      PARTITION BY e.base_run, e.new_run, e.module_name, e.place, e.kind, e.shape, e.op_name,
        e.is_new
      ORDER BY e.source_line NULLS LAST, e.instruction NULLS FIRST, e.source_file NULLS FIRST,
        e.bytes DESC NULLS LAST, e.role NULLS FIRST
    ) AS number
  FROM by_operation_counts e
),
-- A temp that no operation names can only be told by its shape.
unmatched AS (
  SELECT
    o.base_run, o.new_run, o.is_new, o.module_name, o.place, o.pairing, o.kind, o.role, o.shape,
    o.instruction, o.op_name, o.source_file, o.source_line, o.bytes,
    CASE WHEN o.kind = 'temp' AND o.op_name = '' THEN o.shape ELSE '' END AS nameless,
    ROW_NUMBER() OVER (
      PARTITION BY o.base_run, o.new_run, o.module_name, o.place, o.kind, o.op_name,
        CASE WHEN o.kind = 'temp' AND o.op_name = '' THEN o.shape ELSE '' END, o.is_new
      ORDER BY o.bytes DESC NULLS LAST, o.shape NULLS FIRST, o.instruction NULLS FIRST,
        o.source_file NULLS FIRST, o.source_line NULLS FIRST, o.role NULLS FIRST
    ) AS size_place
  FROM by_operation o
  WHERE o.kind = 'module'
    OR o.number > CASE WHEN o.is_new = 1 THEN o.both_count - o.new_count ELSE o.new_count END
),
-- By a window, not by GROUP BY, which SQLite does not look through either.
summed AS (
  SELECT
    u.base_run, u.new_run, u.module_name, u.place, u.pairing, u.kind, u.op_name, u.is_new,
    u.size_place,
    CAST(SUM(CASE WHEN u.is_new = 0 THEN u.bytes END) OVER w AS BIGINT) AS base_bytes,
    CAST(SUM(CASE WHEN u.is_new = 1 THEN u.bytes END) OVER w AS BIGINT) AS new_bytes,
    CAST(SUM(1 - u.is_new) OVER w AS BIGINT) AS base_count,
    CAST(SUM(u.is_new) OVER w AS BIGINT) AS new_count,
    MAX(CASE WHEN u.size_place = 1 AND u.is_new = 0 THEN u.shape END) OVER w AS base_shape,
    MAX(CASE WHEN u.size_place = 1 AND u.is_new = 1 THEN u.shape END) OVER w AS new_shape,
    MAX(CASE WHEN u.size_place = 1 AND u.is_new = 0 THEN u.instruction END) OVER w
      AS base_instruction,
    MAX(CASE WHEN u.size_place = 1 AND u.is_new = 1 THEN u.instruction END) OVER w
      AS new_instruction,
    MAX(CASE WHEN u.size_place = 1 AND u.is_new = 0 THEN u.role END) OVER w AS base_role,
    MAX(CASE WHEN u.size_place = 1 AND u.is_new = 1 THEN u.role END) OVER w AS new_role,
    MAX(CASE WHEN u.size_place = 1 AND u.is_new = 0 THEN u.source_file END) OVER w AS base_file,
    MAX(CASE WHEN u.size_place = 1 AND u.is_new = 1 THEN u.source_file END) OVER w AS new_file,
    MAX(CASE WHEN u.size_place = 1 AND u.is_new = 0 THEN u.source_line END) OVER w AS base_line,
    MAX(CASE WHEN u.size_place = 1 AND u.is_new = 1 THEN u.source_line END) OVER w AS new_line
  FROM unmatched u
  WINDOW w AS (
    PARTITION BY u.base_run, u.new_run, u.module_name, u.place, u.pairing, u.kind, u.op_name,
      u.nameless
  )
),
listed AS (
  SELECT
    s.base_run, s.new_run, s.module_name, s.place, s.kind, s.base_bytes, s.new_bytes,
    s.base_count, s.new_count, s.base_shape, s.new_shape,
    COALESCE(s.new_instruction, s.base_instruction) AS instruction,
    COALESCE(s.new_role, s.base_role) AS role,
    s.op_name,
    COALESCE(s.new_file, s.base_file) AS source_file,
    COALESCE(s.new_line, s.base_line) AS source_line,
    s.pairing
  FROM summed s
  WHERE s.size_place = 1 AND (s.is_new = 0 OR s.base_count = 0)
)
SELECT
  l.base_run,
  l.new_run,
  l.module_name,
  l.place,
  l.kind,
  CASE
    WHEN l.base_count = 0 THEN 'appeared'
    WHEN l.new_count = 0 THEN 'went'
    WHEN l.new_bytes > l.base_bytes THEN 'grew'
    WHEN l.new_bytes < l.base_bytes THEN 'shrank'
    ELSE 'same'
  END AS change,
  l.base_bytes,
  l.new_bytes,
  COALESCE(l.new_bytes, 0) - COALESCE(l.base_bytes, 0) AS delta_bytes,
  l.base_count,
  l.new_count,
  CASE WHEN l.base_shape <> '' THEN l.base_shape END AS base_shape,
  CASE WHEN l.new_shape <> '' THEN l.new_shape END AS new_shape,
  CASE WHEN l.instruction <> '' THEN l.instruction END AS instruction,
  l.role,
  CASE WHEN l.op_name <> '' THEN l.op_name END AS op_name,
  l.source_file,
  l.source_line,
  l.pairing
FROM listed l;
