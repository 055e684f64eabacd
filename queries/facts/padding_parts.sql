-- id: padding_parts
-- title: Buffers of TPU programs that are larger than their values, because the tile pads them
-- columns:
--   capture_id: the error log, the dump or the capture
--   module_id: the module; NULL for an error log without a matching one
--   position: 1 for the group with the most padding of the module
--   module_name: its name
--   source: text (of the error log), or plan (at the peak)
--   program_bytes: the program as a whole (bytes); NULL when the error log does not say it
--   shape: their shape; as an error log prints it, with the layout
--   layout: layout with the tile, of a plan
--   op_name: the JAX operation
--   source_file: its Python file
--   source_line: its line
--   each_bytes: bytes of one of them (bytes)
--   count: how many
--   bytes: bytes of all (bytes)
--   padding_bytes: of these padding (bytes)
--   dimension: the dimension whose padding costs most, from 0; NULL: unknown
--   padded_from: its extent
--   padded_to: what it is padded to
CREATE VIEW padding_parts AS
-- Only tiled layouts pad: of other platforms no buffer is looked at.
WITH planned AS (
  SELECT
    m.capture_id,
    b.module_id,
    m.name AS module_name,
    m.plan_bytes,
    b.shape,
    b.layout,
    b.op_name,
    b.source_file,
    b.source_line,
    b.bytes AS each_bytes,
    COUNT(*) AS count,
    CAST(SUM(b.bytes) AS BIGINT) AS bytes,
    CAST(SUM(b.bytes - b.unpadded_bytes) AS BIGINT) AS padding_bytes,
    MAX(b.padded_dimension) AS dimension,
    MAX(b.padded_from) AS padded_from,
    MAX(b.padded_to) AS padded_to
  FROM modules m
  JOIN buffers b ON b.module_id = m.module_id
  WHERE m.platform = 'tpu'
    AND b.memory_space = 0
    AND ((b.class = 'temp' AND b.at_peak = 1) OR (b.class = 'parameter' AND b.offset_bytes = 0
      AND b.opcode = 'parameter'))
    AND 100 * (b.bytes - b.unpadded_bytes)
      > (SELECT s.setting FROM settings s WHERE s.name = 'padding_min_percent') * b.unpadded_bytes
  GROUP BY
    m.capture_id, b.module_id, m.name, m.plan_bytes, b.shape, b.layout, b.op_name, b.source_file,
    b.source_line, b.bytes
),
parts AS (
  SELECT
    f.capture_id,
    f.module_id,
    f.module_name,
    'text' AS source,
    f.needed_bytes AS program_bytes,
    COALESCE(p.layout, p.shape) AS shape,
    CAST(NULL AS VARCHAR(1)) AS layout,
    p.op_name,
    p.source_file,
    p.source_line,
    p.each_bytes,
    p.count,
    p.bytes,
    p.padding_bytes,
    CAST(NULL AS BIGINT) AS dimension,
    CAST(NULL AS BIGINT) AS padded_from,
    CAST(NULL AS BIGINT) AS padded_to
  FROM oom_failures f
  JOIN oom_parts p ON p.oom_event_id = f.oom_event_id
  WHERE f.stage = 'compile'
    -- The matched plan says it better.
    AND f.module_id IS NULL
    AND 100 * p.padding_bytes
      > (SELECT s.setting FROM settings s WHERE s.name = 'padding_min_percent')
        * (p.bytes - p.padding_bytes)
  UNION ALL
  SELECT
    n.capture_id,
    n.module_id,
    n.module_name,
    'plan',
    n.plan_bytes,
    n.shape,
    n.layout,
    n.op_name,
    n.source_file,
    n.source_line,
    n.each_bytes,
    n.count,
    n.bytes,
    n.padding_bytes,
    n.dimension,
    n.padded_from,
    n.padded_to
  FROM planned n
)
SELECT
  a.capture_id,
  a.module_id,
  ROW_NUMBER() OVER (
    PARTITION BY a.capture_id, a.module_id
    ORDER BY
      a.padding_bytes DESC NULLS LAST,
      a.bytes DESC NULLS LAST,
      a.shape NULLS LAST,
      a.op_name NULLS LAST,
      a.source_file NULLS LAST,
      a.source_line NULLS LAST,
      a.layout NULLS LAST
  ) AS position,
  a.module_name,
  a.source,
  a.program_bytes,
  a.shape,
  a.layout,
  a.op_name,
  a.source_file,
  a.source_line,
  a.each_bytes,
  a.count,
  a.bytes,
  a.padding_bytes,
  a.dimension,
  a.padded_from,
  a.padded_to
FROM parts a;
