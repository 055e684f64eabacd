-- id: oom_part_kinds
-- title: What the buffers of an error log look like, as far as names and shapes tell
-- empty without: oom_events
-- words words: {count:n} × {what} ({bytes:bytes}[, {made_by}])
-- columns:
--   oom_event_id: the event
--   capture_id: the error log
--   position: its place, from 1 for the most bytes
--   bytes: bytes of the group (bytes)
--   each_bytes: bytes of one of them (bytes)
--   count: how many
--   padding_bytes: what the tiles add (bytes); NULL when it is not known
--   words: count, shape, bytes, operation and Python line
--   made_by: operation and Python line; NULL without both
--   shape: their shape
--   square: 1 when the last two dimensions are equal and large and a dot or a softmax makes it, as
--     of attention scores
--   forward: 1 for a value of the forward pass of a gradient (jvp, not transpose)
--   backward: 1 for one of the backward pass (transpose)
--   stacked: 1 for what a loop fills, one slice in each of its steps
--   wide: 1 for an array of 64-bit numbers
--   upcast: 1 for a f32 copy made by convert_element_type
--   downcast: 1 for a bf16 or f16 copy made by convert_element_type
--   random: 1 for a random number generator's
--   batched: 1 for one under vmap
--   gathered: 1 for the result of an all-gather
--   rematerialized: 1 when XLA computes it again, by its instruction's name
-- how to read: All of it is inferred: names are the program's own words, and a square weight looks
--   like scores.
CREATE VIEW oom_part_kinds AS
-- The last dimension has as many digits as one of these; [..,S,S] has it twice.
WITH widths AS (
  SELECT 1 AS digits UNION ALL SELECT 2 UNION ALL SELECT 3 UNION ALL SELECT 4 UNION ALL SELECT 5
  UNION ALL SELECT 6 UNION ALL SELECT 7 UNION ALL SELECT 8 UNION ALL SELECT 9
)
SELECT
  p.oom_event_id,
  p.capture_id,
  p.position,
  p.bytes,
  p.each_bytes,
  p.count,
  p.padding_bytes,
  p.what,
  p.made_by,
  p.shape,
  -- Scores come from a product of queries and keys, and go through a softmax: any other square is
  -- anything.
  CASE
    WHEN d.digits IS NULL OR CAST(SUBSTR(p.shape, LENGTH(p.shape) - d.digits, d.digits) AS BIGINT)
      < (SELECT s.setting FROM settings s WHERE s.name = 'scores_min_length') THEN 0
    WHEN LOWER(p.op_name) LIKE '%dot_general%' OR LOWER(p.op_name) LIKE '%softmax%'
      OR LOWER(p.op_name) LIKE '%einsum%' OR LOWER(p.op_name) LIKE '%->%'
      OR LOWER(p.op_name) LIKE '%attention%' OR LOWER(p.op_name) LIKE '%attn%' THEN 1
    ELSE 0
  END AS square,
  CASE
    WHEN LOWER(p.shape) LIKE 'f64[%' OR LOWER(p.shape) LIKE 's64[%' OR LOWER(p.shape) LIKE 'u64[%'
      OR LOWER(p.shape) LIKE 'c128[%' THEN 1
    ELSE 0
  END AS wide,
  CASE
    WHEN LOWER(p.op_name) LIKE '%jvp(%' AND LOWER(p.op_name) NOT LIKE '%transpose(%' THEN 1
    ELSE 0
  END AS forward,
  CASE WHEN LOWER(p.op_name) LIKE '%transpose(%' THEN 1 ELSE 0 END AS backward,
  CASE WHEN LOWER(p.op_name) LIKE '%while/body%dynamic_update_slice%' THEN 1 ELSE 0 END AS stacked,
  CASE
    WHEN LOWER(p.shape) LIKE 'f32[%' AND LOWER(p.op_name) LIKE '%convert_element_type%' THEN 1
    ELSE 0
  END AS upcast,
  CASE
    WHEN LOWER(p.op_name) LIKE '%convert_element_type%'
      AND (LOWER(p.shape) LIKE 'bf16[%' OR LOWER(p.shape) LIKE 'f16[%') THEN 1
    ELSE 0
  END AS downcast,
  CASE
    WHEN LOWER(p.op_name) LIKE '%threefry%' OR LOWER(p.op_name) LIKE '%random_bits%' THEN 1
    ELSE 0
  END AS random,
  CASE WHEN LOWER(p.op_name) LIKE '%vmap(%' THEN 1 ELSE 0 END AS batched,
  CASE WHEN LOWER(p.label) LIKE '%all-gather%' OR LOWER(p.op_name) LIKE '%all_gather%' THEN 1 ELSE 0
    END AS gathered,
  CASE WHEN LOWER(p.label) LIKE '%.remat%' THEN 1 ELSE 0 END AS rematerialized
FROM oom_parts p
LEFT JOIN widths d
  ON p.shape LIKE '%[%,%,%]'
  AND LENGTH(p.shape) > 2 * d.digits + 3
  AND SUBSTR(p.shape, LENGTH(p.shape) - d.digits, d.digits) NOT LIKE '%,%'
  AND SUBSTR(p.shape, LENGTH(p.shape) - 2 * d.digits - 2, 2 * d.digits + 3)
    = ',' || SUBSTR(p.shape, LENGTH(p.shape) - d.digits, d.digits)
    || ',' || SUBSTR(p.shape, LENGTH(p.shape) - d.digits, d.digits) || ']';
