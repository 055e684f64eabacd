-- id: failure_comparison
-- title: Two runs side by side of which one fails by its error log: what did not fit, by how much,
--   and the buffers that make the difference
-- empty without: oom_events
-- columns:
--   base_run: the run to compare with
--   new_run: the run that is compared
--   stage: compile, run, host or chip, as in oom_failures
--   kind: figure, or buffer: a group of alike buffers of the program that did not fit
--   name: of a figure what it is: needed, capacity, short, requested, used, total, program,
--     arguments, temps, outputs, aliased, free, largest free, TensorCore or SparseCore; of a buffer
--     its JAX operation, else its label, else its shape
--   change: appeared or went (also with the failure itself, where the other run has none of this
--     stage); grew, shrank or same; NULL where one of the two error logs does not say it
--   base_bytes: in the base run (bytes); NULL when it is not known
--   new_bytes: in the new run (bytes); NULL when it is not known
--   delta_bytes: how much more the new run has (bytes); NULL when it is not known
--   base_count: buffers in the base run; NULL for a figure and where it is not known
--   new_count: buffers in the new run
--   base_shape: the shape of the largest of them in the base run
--   new_shape: the same in the new run
--   op_name: the JAX operation of the largest, of the new run where it is there
--   source_file: its Python file
--   source_line: its line
--   label: the instruction of the largest, as the error log prints it, of the new run where it is
--     there
-- how to read: Ask for one pair: WHERE base_run = … AND new_run = …. One failure of a run and stage
--   counts: the one of its captures and hosts that is shortest of memory. Buffers are paired by
--   shape, JAX operation and Python line; what is left by shape and operation, where lines moved;
--   by operation and line, and by operation, so that another batch shows as a buffer that shrank or
--   grew; then by shape and line, where operations have new names. One that no operation names can
--   only be told by its shape. An error log lists its largest buffers only: one that is no larger
--   than the least of a list that may be cut (setting listed_buffers_max) has no change.
CREATE VIEW failure_comparison AS
WITH runs AS (
  SELECT DISTINCT c.run FROM captures c WHERE c.run IS NOT NULL
),
figure_names AS (
  SELECT 'needed' AS name UNION ALL SELECT 'capacity' UNION ALL SELECT 'short'
  UNION ALL SELECT 'requested' UNION ALL SELECT 'used' UNION ALL SELECT 'total'
  UNION ALL SELECT 'program' UNION ALL SELECT 'arguments' UNION ALL SELECT 'temps'
  UNION ALL SELECT 'outputs' UNION ALL SELECT 'aliased' UNION ALL SELECT 'free'
  UNION ALL SELECT 'largest free' UNION ALL SELECT 'TensorCore' UNION ALL SELECT 'SparseCore'
),
figures AS (
  SELECT
    c.oom_event_id, n.name,
    CASE n.name
      WHEN 'needed' THEN c.needed_bytes
      WHEN 'capacity' THEN c.capacity_bytes
      WHEN 'short' THEN c.short_bytes
      WHEN 'requested' THEN c.requested_bytes
      WHEN 'used' THEN c.used_bytes
      WHEN 'total' THEN c.total_bytes
      WHEN 'program' THEN c.program_bytes
      WHEN 'arguments' THEN c.arguments_bytes
      WHEN 'temps' THEN c.temp_bytes
      WHEN 'outputs' THEN c.output_bytes
      WHEN 'aliased' THEN c.alias_bytes
      WHEN 'free' THEN c.free_bytes
      WHEN 'largest free' THEN c.largest_free_bytes
      WHEN 'TensorCore' THEN c.tensor_core_bytes
      WHEN 'SparseCore' THEN c.sparse_core_bytes
    END AS bytes
  FROM stage_failures c
  CROSS JOIN figure_names n
),
parts AS (
  SELECT
    p.oom_event_id, p.source, COALESCE(p.op_name, '') AS op_name,
    COALESCE(p.shape, CASE WHEN p.op_name IS NULL THEN p.label END, '') AS shape_key,
    p.shape, p.source_file, p.source_line, p.label, p.each_bytes, p.count, p.bytes
  FROM oom_parts p
),
-- From which size on a list is whole; a plan always is.
lists AS (
  SELECT
    p.oom_event_id,
    CASE
      WHEN SUM(CASE WHEN p.source = 'text' THEN p.count END)
        >= (SELECT s.setting FROM settings s WHERE s.name = 'listed_buffers_max')
      THEN MIN(p.each_bytes)
      ELSE 0
    END AS least_bytes
  FROM parts p
  GROUP BY p.oom_event_id
),
-- The same shape in two layouts is one piece. By event, not by run: an engine then joins those of
-- the pair that is asked for, and no others.
pieces AS (
  SELECT
    f.oom_event_id, 'figure' AS kind, f.name, '' AS shape_key, NULL AS shape, '' AS op_name,
    NULL AS source_file, NULL AS source_line, NULL AS label, NULL AS each_bytes, f.bytes,
    NULL AS count
  FROM figures f
  WHERE f.bytes IS NOT NULL
  UNION ALL
  SELECT
    p.oom_event_id, 'buffer', '', p.shape_key, MAX(p.shape), p.op_name, p.source_file,
    p.source_line, MIN(p.label), MAX(p.each_bytes), CAST(SUM(p.bytes) AS BIGINT),
    CAST(SUM(p.count) AS BIGINT)
  FROM parts p
  GROUP BY p.oom_event_id, p.shape_key, p.op_name, p.source_file, p.source_line
),
sided AS (
  SELECT
    c.run AS base_run, r.run AS new_run, 0 AS is_new, c.stage, p.kind, p.name, p.shape_key,
    p.shape, p.op_name, p.source_file, p.source_line, p.label, p.each_bytes, p.bytes, p.count
  FROM stage_failures c
  JOIN runs r ON r.run <> c.run
  JOIN pieces p ON p.oom_event_id = c.oom_event_id
  UNION ALL
  SELECT
    r.run, c.run, 1, c.stage, p.kind, p.name, p.shape_key, p.shape, p.op_name, p.source_file,
    p.source_line, p.label, p.each_bytes, p.bytes, p.count
  FROM stage_failures c
  JOIN runs r ON r.run <> c.run
  JOIN pieces p ON p.oom_event_id = c.oom_event_id
),
-- Each step pairs what is on both sides by a weaker key than the one before, and leaves the rest.
-- One kind of window a select: SQLite looks no further down for the pair that is asked for.
by_line AS (
  SELECT
    s.*,
    CASE WHEN s.op_name = '' THEN s.shape_key ELSE '' END AS nameless,
    MAX(s.is_new) OVER w - MIN(s.is_new) OVER w AS line_step
  FROM sided s
  WINDOW w AS (
    PARTITION BY s.base_run, s.new_run, s.stage, s.kind, s.name, s.shape_key, s.op_name,
      s.source_line
  )
),
by_shape AS (
  SELECT
    l.*,
    CASE
      WHEN l.line_step > 0 THEN l.line_step
      ELSE 2 * (MAX(l.is_new) OVER w - MIN(l.is_new) OVER w)
    END AS shape_step
  FROM by_line l
  WINDOW w AS (
    PARTITION BY l.base_run, l.new_run, l.stage, l.kind, l.name, l.line_step, l.shape_key, l.op_name
  )
),
by_place AS (
  SELECT
    h.*,
    CASE
      WHEN h.shape_step > 0 THEN h.shape_step
      ELSE 3 * (MAX(h.is_new) OVER w - MIN(h.is_new) OVER w)
    END AS place_step
  FROM by_shape h
  WINDOW w AS (
    PARTITION BY h.base_run, h.new_run, h.stage, h.kind, h.name, h.shape_step, h.op_name,
      h.nameless,
      h.source_line
  )
),
by_operation AS (
  SELECT
    q.*,
    CASE
      WHEN q.place_step > 0 THEN q.place_step
      ELSE 4 * (MAX(q.is_new) OVER w - MIN(q.is_new) OVER w)
    END AS operation_step
  FROM by_place q
  WINDOW w AS (
    PARTITION BY q.base_run, q.new_run, q.stage, q.kind, q.name, q.place_step, q.op_name, q.nameless
  )
),
-- Rematerialization and new versions of JAX rename the operations, not the lines.
by_renamed AS (
  SELECT
    o.*,
    CASE
      WHEN o.operation_step > 0 OR o.source_line IS NULL THEN o.operation_step
      ELSE 5 * (MAX(o.is_new) OVER w - MIN(o.is_new) OVER w)
    END AS step
  FROM by_operation o
  WINDOW w AS (
    PARTITION BY o.base_run, o.new_run, o.stage, o.kind, o.name, o.operation_step, o.shape_key,
      o.source_line
  )
),
-- What is in one run only stays apart by all of its key.
keyed AS (
  SELECT
    m.*,
    CASE WHEN m.step < 3 OR m.step = 5 THEN m.shape_key ELSE m.nameless END AS pair_shape,
    CASE WHEN m.step < 5 THEN m.op_name END AS pair_op,
    CASE WHEN m.step IN (0, 1, 3, 5) THEN m.source_line END AS pair_line
  FROM by_renamed m
),
sized AS (
  SELECT
    k.*,
    ROW_NUMBER() OVER (
      PARTITION BY k.base_run, k.new_run, k.stage, k.kind, k.name, k.step, k.pair_op, k.pair_shape,
        k.pair_line, k.is_new
      ORDER BY k.bytes DESC NULLS LAST, k.each_bytes DESC NULLS LAST, k.shape NULLS LAST,
        k.op_name NULLS FIRST, k.source_file NULLS LAST, k.source_line NULLS LAST,
        k.label NULLS LAST
    ) AS size_place
  FROM keyed k
),
-- By a window, not by GROUP BY, which SQLite does not look through either.
summed AS (
  SELECT
    z.base_run, z.new_run, z.stage, z.kind, z.name, z.is_new, z.size_place,
    CAST(SUM(CASE WHEN z.is_new = 0 THEN z.bytes END) OVER w AS BIGINT) AS base_bytes,
    CAST(SUM(CASE WHEN z.is_new = 1 THEN z.bytes END) OVER w AS BIGINT) AS new_bytes,
    CAST(SUM(CASE WHEN z.is_new = 0 THEN z.count END) OVER w AS BIGINT) AS base_count,
    CAST(SUM(CASE WHEN z.is_new = 1 THEN z.count END) OVER w AS BIGINT) AS new_count,
    MAX(CASE WHEN z.is_new = 0 THEN z.each_bytes END) OVER w AS base_each,
    MAX(CASE WHEN z.is_new = 1 THEN z.each_bytes END) OVER w AS new_each,
    MIN(z.is_new) OVER w AS only_new,
    MAX(CASE WHEN z.size_place = 1 AND z.is_new = 0 THEN z.shape END) OVER w AS base_shape,
    MAX(CASE WHEN z.size_place = 1 AND z.is_new = 1 THEN z.shape END) OVER w AS new_shape,
    MAX(CASE WHEN z.size_place = 1 AND z.is_new = 0 THEN z.op_name END) OVER w AS base_op,
    MAX(CASE WHEN z.size_place = 1 AND z.is_new = 1 THEN z.op_name END) OVER w AS new_op,
    MAX(CASE WHEN z.size_place = 1 AND z.is_new = 0 THEN z.source_file END) OVER w AS base_file,
    MAX(CASE WHEN z.size_place = 1 AND z.is_new = 1 THEN z.source_file END) OVER w AS new_file,
    MAX(CASE WHEN z.size_place = 1 AND z.is_new = 0 THEN z.source_line END) OVER w AS base_line,
    MAX(CASE WHEN z.size_place = 1 AND z.is_new = 1 THEN z.source_line END) OVER w AS new_line,
    MAX(CASE WHEN z.size_place = 1 AND z.is_new = 0 THEN z.label END) OVER w AS base_label,
    MAX(CASE WHEN z.size_place = 1 AND z.is_new = 1 THEN z.label END) OVER w AS new_label
  FROM sized z
  WINDOW w AS (
    PARTITION BY z.base_run, z.new_run, z.stage, z.kind, z.name, z.step, z.pair_op, z.pair_shape,
      z.pair_line
  )
),
listed AS (
  SELECT
    u.base_run, u.new_run, u.stage, u.kind, u.name, u.base_bytes, u.new_bytes, u.base_shape,
    u.new_shape,
    COALESCE(u.new_op, u.base_op) AS op_name,
    COALESCE(u.new_file, u.base_file) AS source_file,
    COALESCE(u.new_line, u.base_line) AS source_line,
    COALESCE(u.new_label, u.base_label) AS label,
    -- Absent from a list that says so: there are none of them.
    COALESCE(u.base_count, CASE WHEN u.new_each > b.least_bytes THEN 0 END) AS base_count,
    COALESCE(u.new_count, CASE WHEN u.base_each > n.least_bytes THEN 0 END) AS new_count,
    CASE WHEN f.run IS NULL THEN 'appeared' WHEN g.run IS NULL THEN 'went' END AS with_failure,
    -- With equal shapes, the side with fewer of them may only have been cut off.
    CASE
      WHEN u.base_shape <> u.new_shape THEN 0
      WHEN u.base_bytes < u.new_bytes AND u.base_each <= b.least_bytes THEN 1
      WHEN u.new_bytes < u.base_bytes AND u.new_each <= n.least_bytes THEN 1
      ELSE 0
    END AS cut
  FROM summed u
  LEFT JOIN stage_failures f ON f.run = u.base_run AND f.stage = u.stage
  LEFT JOIN stage_failures g ON g.run = u.new_run AND g.stage = u.stage
  LEFT JOIN lists b ON b.oom_event_id = f.oom_event_id
  LEFT JOIN lists n ON n.oom_event_id = g.oom_event_id
  WHERE u.size_place = 1 AND (u.is_new = 0 OR u.only_new = 1)
)
SELECT
  d.base_run,
  d.new_run,
  d.stage,
  d.kind,
  CASE
    WHEN d.kind = 'figure' THEN d.name
    WHEN d.op_name <> '' THEN d.op_name
    ELSE COALESCE(d.label, d.new_shape, d.base_shape, 'one block')
  END AS name,
  CASE
    WHEN d.with_failure IS NOT NULL THEN d.with_failure
    WHEN d.cut = 1 THEN NULL
    WHEN d.base_count = 0 THEN 'appeared'
    WHEN d.new_count = 0 THEN 'went'
    WHEN d.new_bytes > d.base_bytes THEN 'grew'
    WHEN d.new_bytes < d.base_bytes THEN 'shrank'
    WHEN d.new_bytes = d.base_bytes THEN 'same'
  END AS change,
  d.base_bytes,
  d.new_bytes,
  CASE
    WHEN d.cut = 1 THEN NULL
    WHEN d.base_count = 0 THEN d.new_bytes
    WHEN d.new_count = 0 THEN -d.base_bytes
    ELSE d.new_bytes - d.base_bytes
  END AS delta_bytes,
  d.base_count,
  d.new_count,
  d.base_shape,
  d.new_shape,
  CASE WHEN d.op_name <> '' THEN d.op_name END AS op_name,
  d.source_file,
  d.source_line,
  d.label
FROM listed d;
