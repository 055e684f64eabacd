-- id: waste
-- title: Memory of a plan that does little: padding, duplicates, what only waits, holes, constants
-- words label by kind:
--   padding: {count:n} × {what}[, dimension {dimension:n} padded from {padded_from:n} to
--     {padded_to:n}][, {op_name}][, {source_file}[:{source_line:n}]]
--   duplicate: {count:n} × {what}, the same values as {partner}[, {op_name}][,
--     {source_file}[:{source_line:n}]]
--   f32_copy: {count:n} × {what}, a wider copy of {partner}[, {op_name}][,
--     {source_file}[:{source_line:n}]]
--   dead_weight: {count:n} × {what}[, made by {op_name}][, {source_file}[:{source_line:n}]], next
--     read by {partner}[, {reader_op_name}][, {reader_file}[:{reader_line:n}]], idle for
--     {idle_percent:%} of the schedule
--   fragmentation: a hole above {what}[, {op_name}][,
--     {source_file}[:{source_line:n}]](has_partner?, below {partner}|, at the end of the block)
--   large_constant: {count:n} × {what} in the program itself[, {op_name}][,
--     {source_file}[:{source_line:n}]]
-- columns:
--   capture_id: the error log, the dump or the capture
--   module_id: the module; NULL for an error log without a matching one
--   position: from 1, most weight first
--   kind: padding (of the tiles), duplicate (a copy beside its source), f32_copy (of a bf16 or f16
--     value, beside it), dead_weight (live at the peak, and read only long after), fragmentation
--     (a hole in the temp block at the peak) or large_constant
--   label: what it is
--   bytes: of padding the padding, of fragmentation the hole, else the things (bytes)
--   weight_bytes: bytes; of dead weight times the share of the schedule that it lies idle (bytes)
--   count: how many there are
--   shape: their shape
--   instruction: the instruction that makes one of them; of a hole the one below it
--   op_name: its JAX operation
--   source_file: its Python file
--   source_line: its line
--   dimension: of padding: the dimension whose padding costs most, from 0
--   padded_from: its extent
--   padded_to: what it is padded to
--   partner: what is copied; the instruction that reads it next; the one above a hole
--   reader_op_name: of dead weight: the JAX operation that reads it next
--   reader_file: its Python file
--   reader_line: its line
--   idle_percent: of dead weight: how long it lies idle, of the schedule (per cent, rounded down)
--   evidence: read for padding, holes and constants, else inferred
-- how to read: A thing may be wasted in several ways, so that the bytes of different kinds don't
--   add up. The schedule is the entry computation's, in which a loop is one instruction. Dead
--   weight is what checkpoints and offloading are for; the ends of the largest holes are what keeps
--   the temps from packing well.
CREATE VIEW waste AS
WITH limits AS (
  SELECT
    (SELECT s.setting FROM settings s WHERE s.name = 'waste_min_bytes') AS min_bytes,
    (SELECT s.setting FROM settings s WHERE s.name = 'dead_weight_min_percent') AS idle_percent
),
things AS (
  SELECT
    m.capture_id,
    p.module_id,
    CASE WHEN p.dtype = p.copied_dtype THEN 'duplicate' ELSE 'f32_copy' END AS kind,
    p.bytes,
    p.bytes AS weight_bytes,
    p.shape,
    p.instruction,
    p.op_name,
    p.source_file,
    p.source_line,
    p.copy_of AS partner,
    CAST(NULL AS VARCHAR(1)) AS reader_op_name,
    CAST(NULL AS VARCHAR(1)) AS reader_file,
    CAST(NULL AS BIGINT) AS reader_line,
    CAST(NULL AS BIGINT) AS idle_percent
  FROM modules m
  JOIN plan_parts p ON p.module_id = m.module_id
  WHERE p.memory_space = 0
    AND (p.dtype = p.copied_dtype OR (p.dtype = 'f32' AND p.copied_dtype IN ('bf16', 'f16')))
  UNION ALL
  SELECT
    m.capture_id, p.module_id, 'large_constant', p.bytes, p.bytes, p.shape, p.instruction,
    p.op_name, p.source_file, p.source_line, NULL, NULL, NULL, NULL, NULL
  FROM modules m
  JOIN plan_parts p ON p.module_id = m.module_id
  WHERE p.memory_space = 0 AND p.class = 'constant'
  UNION ALL
  SELECT
    m.capture_id, p.module_id, 'fragmentation', p.hole_bytes, p.hole_bytes, p.shape, p.instruction,
    p.op_name, p.source_file, p.source_line, p.hole_end, NULL, NULL, NULL, NULL
  FROM modules m
  JOIN plan_parts p ON p.module_id = m.module_id
  WHERE p.hole_bytes > 0
  UNION ALL
  SELECT
    m.capture_id, p.module_id, 'dead_weight', p.bytes,
    CAST((p.bytes * (p.idle_to - p.idle_from)
      - p.bytes * (p.idle_to - p.idle_from) % NULLIF(p.schedule_length, 0))
      / NULLIF(p.schedule_length, 0) AS BIGINT),
    p.shape, p.instruction, p.op_name, p.source_file, p.source_line, p.reader, p.reader_op_name,
    p.reader_file, p.reader_line,
    CAST((100 * (p.idle_to - p.idle_from)
      - 100 * (p.idle_to - p.idle_from) % NULLIF(p.schedule_length, 0))
      / NULLIF(p.schedule_length, 0) AS BIGINT)
  FROM modules m
  JOIN plan_parts p ON p.module_id = m.module_id
  CROSS JOIN limits l
  WHERE p.memory_space = 0
    AND 100 * (p.idle_to - p.idle_from) >= l.idle_percent * p.schedule_length
),
grouped AS (
  SELECT
    t.capture_id,
    t.module_id,
    t.kind,
    CAST(SUM(t.bytes) AS BIGINT) AS bytes,
    CAST(SUM(t.weight_bytes) AS BIGINT) AS weight_bytes,
    COUNT(*) AS count,
    t.shape,
    MIN(t.instruction) AS instruction,
    t.op_name,
    t.source_file,
    t.source_line,
    CAST(NULL AS BIGINT) AS dimension,
    CAST(NULL AS BIGINT) AS padded_from,
    CAST(NULL AS BIGINT) AS padded_to,
    MIN(t.partner) AS partner,
    t.reader_op_name,
    t.reader_file,
    t.reader_line,
    MAX(t.idle_percent) AS idle_percent
  FROM things t
  GROUP BY
    t.capture_id, t.module_id, t.kind, t.shape, t.op_name, t.source_file, t.source_line,
    t.reader_op_name, t.reader_file, t.reader_line,
    -- Every hole is one of its own.
    CASE WHEN t.kind = 'fragmentation' THEN t.instruction END
),
wasted AS (
  SELECT
    g.*
  FROM grouped g
  UNION ALL
  SELECT
    a.capture_id, a.module_id, 'padding', a.padding_bytes, a.padding_bytes, a.count, a.shape,
    NULL, a.op_name, a.source_file, a.source_line, a.dimension, a.padded_from, a.padded_to, NULL,
    NULL, NULL, NULL, NULL
  FROM padding_parts a
)
SELECT
  w.capture_id,
  w.module_id,
  ROW_NUMBER() OVER (
    PARTITION BY w.capture_id, w.module_id
    ORDER BY
      w.weight_bytes DESC NULLS LAST,
      w.bytes DESC NULLS LAST,
      w.kind NULLS LAST,
      w.shape NULLS LAST,
      w.instruction NULLS LAST,
      w.op_name NULLS LAST,
      w.source_file NULLS LAST,
      w.source_line NULLS LAST,
      w.reader_op_name NULLS LAST,
      w.reader_file NULLS LAST,
      w.reader_line NULLS LAST,
      w.dimension NULLS LAST
  ) AS position,
  w.kind,
  w.bytes,
  w.weight_bytes,
  w.count,
  w.shape,
  COALESCE(w.shape, w.instruction, 'unknown shape') AS what,
  CASE WHEN w.partner IS NULL THEN 0 ELSE 1 END AS has_partner,
  w.instruction,
  w.op_name,
  w.source_file,
  w.source_line,
  w.dimension,
  w.padded_from,
  w.padded_to,
  w.partner,
  w.reader_op_name,
  w.reader_file,
  w.reader_line,
  w.idle_percent,
  CASE WHEN w.kind IN ('padding', 'fragmentation', 'large_constant') THEN 'read'
    ELSE 'inferred' END AS evidence
FROM wasted w
CROSS JOIN limits l
WHERE w.bytes >= l.min_bytes;
