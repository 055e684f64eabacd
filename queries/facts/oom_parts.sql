-- id: oom_parts
-- title: What the program of an error log is made of: the buffers it lists, else those of the
--   matched module's plan
-- empty without: oom_events
-- columns:
--   oom_event_id: the event
--   capture_id: the error log
--   position: 1 for the group with the most bytes
--   source: text (of the error log) or plan
--   shape: their shape, without layout
--   layout: the layout, where the error log prints one; NULL for a plan
--   op_name: the JAX operation
--   source_file: its Python file
--   source_line: its line
--   label: the instruction, as the error log prints it; NULL for a plan
--   each_bytes: bytes of one of them (bytes)
--   count: how many
--   bytes: bytes of all (bytes)
--   padding_bytes: of these, what the tiles add (bytes); NULL when it is not known
--   what: their shape, else the instruction
--   made_by: the JAX operation and its Python line; NULL without both
CREATE VIEW oom_parts AS
WITH failures AS (
  SELECT f.oom_event_id, f.capture_id, f.stage, f.module_id
  FROM oom_failures f
),
listed AS (
  SELECT
    f.oom_event_id,
    f.capture_id,
    b.plain_shape AS shape,
    b.shape AS layout,
    b.op_name,
    b.source_file,
    b.source_line,
    b.label,
    b.bytes AS each_bytes,
    b.count,
    COALESCE(b.padding_bytes, b.bytes - b.unpadded_bytes, b.tiled_bytes - b.dense_bytes) AS padding
  FROM failures f
  JOIN oom_buffers b ON b.oom_event_id = f.oom_event_id
  WHERE b.bytes IS NOT NULL
),
texts AS (
  SELECT
    l.oom_event_id,
    l.capture_id,
    l.shape,
    MAX(l.layout) AS layout,
    l.op_name,
    l.source_file,
    l.source_line,
    -- Any one of several alike names the kind of instruction.
    MIN(l.label) AS label,
    l.each_bytes,
    CAST(SUM(l.count) AS BIGINT) AS count,
    CAST(SUM(l.each_bytes * l.count) AS BIGINT) AS bytes,
    CAST(SUM(l.padding * l.count) AS BIGINT) AS padding_bytes
  FROM listed l
  GROUP BY
    l.oom_event_id, l.capture_id, l.shape, l.op_name, l.source_file, l.source_line, l.each_bytes
),
unlisted AS (
  SELECT f.oom_event_id, f.capture_id, f.module_id
  FROM failures f
  WHERE f.stage IN ('compile', 'run')
    AND NOT EXISTS (SELECT 1 FROM oom_buffers b WHERE b.oom_event_id = f.oom_event_id)
),
-- What is in peak_parts, from its tables one by one: an engine puts a union together for all plans.
-- Where a plan has no heap trace its temps are one block; what lies in it says more.
planned AS (
  SELECT u.oom_event_id, u.capture_id, b.shape, b.op_name, b.source_file, b.source_line, b.bytes
  FROM unlisted u
  JOIN buffers b ON b.module_id = u.module_id
  WHERE b.class = 'temp' AND b.memory_space = 0 AND b.at_peak = 1 AND b.shape IS NOT NULL
  UNION ALL
  SELECT u.oom_event_id, u.capture_id, b.shape, b.op_name, b.source_file, b.source_line, b.bytes
  FROM unlisted u
  JOIN modules m ON m.module_id = u.module_id
  JOIN buffers b ON b.module_id = u.module_id
  WHERE m.heap_peak_bytes IS NULL AND b.class = 'temp' AND b.memory_space = 0
  UNION ALL
  SELECT u.oom_event_id, u.capture_id, p.shape, NULL, NULL, NULL, p.bytes
  FROM unlisted u
  JOIN plan_allocations p ON p.module_id = u.module_id
  WHERE p.memory_space = 0 AND p.class IN ('parameter', 'constant')
  UNION ALL
  SELECT u.oom_event_id, u.capture_id, o.shape, NULL, NULL, NULL, o.bytes
  FROM unlisted u
  JOIN module_outputs o ON o.module_id = u.module_id
  WHERE o.memory_space = 0 AND o.aliased = 0
),
plans AS (
  SELECT
    p.oom_event_id,
    p.capture_id,
    p.shape,
    p.op_name,
    p.source_file,
    p.source_line,
    p.bytes AS each_bytes,
    COUNT(*) AS count,
    CAST(SUM(p.bytes) AS BIGINT) AS bytes
  FROM planned p
  GROUP BY
    p.oom_event_id, p.capture_id, p.shape, p.op_name, p.source_file, p.source_line, p.bytes
),
united AS (
  SELECT
    t.oom_event_id, t.capture_id, 'text' AS source, t.shape, t.layout, t.op_name, t.source_file,
    t.source_line, t.label, t.each_bytes, t.count, t.bytes, t.padding_bytes
  FROM texts t
  UNION ALL
  SELECT
    p.oom_event_id, p.capture_id, 'plan', p.shape, NULL, p.op_name, p.source_file, p.source_line,
    NULL, p.each_bytes, p.count, p.bytes, NULL
  FROM plans p
),
parts AS (
  SELECT
    u.*, u.source_file || COALESCE(':' || CAST(u.source_line AS VARCHAR(20)), '') AS file_line
  FROM united u
)
SELECT
  a.oom_event_id,
  a.capture_id,
  ROW_NUMBER() OVER (
    PARTITION BY a.oom_event_id
    ORDER BY
      a.bytes DESC NULLS LAST,
      a.each_bytes DESC NULLS LAST,
      a.shape NULLS LAST,
      a.op_name NULLS LAST,
      a.source_file NULLS LAST,
      a.source_line NULLS LAST
  ) AS position,
  a.source,
  a.shape,
  a.layout,
  a.op_name,
  a.source_file,
  a.source_line,
  a.label,
  a.each_bytes,
  a.count,
  a.bytes,
  a.padding_bytes,
  COALESCE(a.shape, a.label, 'one block') AS what,
  COALESCE(a.op_name || ' ' || a.file_line, a.op_name, a.file_line) AS made_by
FROM parts a;
