-- id: misfit_peaks
-- title: The heap peak of every plan that does not fit, by role, and what a fix could take from it
-- columns:
--   capture_id: the capture
--   device_id: the device; NULL without devices
--   module_id: the module
--   plan_bytes: what the module needs (bytes)
--   capacity_bytes: what the device may use (bytes)
--   others_bytes: what else was in use when it failed (bytes)
--   execution_id: the execution that failed; NULL when none did
--   peak_bytes: temps live at the heap peak (bytes)
--   forward_bytes: of these, kept for the backward pass (bytes)
--   backward_bytes: of these, gradients and their temporaries (bytes)
--   workspace_bytes: of these, scratch of library calls (bytes)
--   other_bytes: the rest (bytes)
--   forward_block_bytes: forward bytes of one block, which recomputing would still hold (bytes)
--   batch_bytes: forward and backward temps without a parameter's shape: they shrink with the batch (bytes)
--   square_bytes: of these, sequence by sequence (last two dimensions equal) (bytes)
--   square_shape: the shape of the largest of them
--   gradient_bytes: backward temps with a parameter's shape: they shrink when parameters are sharded (bytes)
--   f32_copy_bytes: f32 backward temps that have a bf16 twin of the same dimensions (bytes)
--   largest_workspace_bytes: the largest scratch buffer (bytes)
CREATE VIEW misfit_peaks AS
WITH peak AS (
  SELECT f.capture_id, f.device_id, f.module_id, b.role, b.bytes, b.shape
  FROM misfits f
  JOIN buffers b ON b.module_id = f.module_id
  WHERE b.class = 'temp' AND b.memory_space = 0 AND b.at_peak = 1
),
parameter_shapes AS (
  SELECT DISTINCT p.module_id, p.shape
  FROM misfits f
  JOIN plan_allocations p ON p.module_id = f.module_id
  WHERE p.class = 'parameter'
),
-- Forward buffers of one size are the same value of successive blocks, so the count of the size that weighs most
-- is the number of blocks.
sizes AS (
  SELECT k.device_id, k.module_id, k.bytes, COUNT(*) AS buffers, SUM(k.bytes) AS total_bytes
  FROM peak k
  WHERE k.role = 'forward'
  GROUP BY k.device_id, k.module_id, k.bytes
),
blocks AS (
  SELECT
    z.device_id,
    z.module_id,
    z.bytes,
    z.buffers,
    ROW_NUMBER() OVER (
      PARTITION BY z.device_id, z.module_id
      ORDER BY z.total_bytes DESC NULLS LAST, z.bytes DESC NULLS LAST
    ) AS place
  FROM sizes z
),
-- The last dimension of a shape of at most nine digits, and whether the one before is the same: [..,S,S].
widths AS (
  SELECT 1 AS digits UNION ALL SELECT 2 UNION ALL SELECT 3 UNION ALL SELECT 4 UNION ALL SELECT 5
  UNION ALL SELECT 6 UNION ALL SELECT 7 UNION ALL SELECT 8 UNION ALL SELECT 9
),
shapes AS (
  SELECT DISTINCT k.module_id, k.shape
  FROM peak k
  WHERE k.role IN ('forward', 'backward')
),
square_shapes AS (
  SELECT h.module_id, h.shape
  FROM shapes h
  CROSS JOIN widths w
  WHERE h.shape LIKE '%[%,%,%]'
    AND LENGTH(h.shape) > 2 * w.digits + 3
    AND SUBSTR(h.shape, LENGTH(h.shape) - w.digits, w.digits) NOT LIKE '%,%'
    AND SUBSTR(h.shape, LENGTH(h.shape) - 2 * w.digits - 2, 2 * w.digits + 3)
      = ',' || SUBSTR(h.shape, LENGTH(h.shape) - w.digits, w.digits)
      || ',' || SUBSTR(h.shape, LENGTH(h.shape) - w.digits, w.digits) || ']'
),
square_names AS (
  SELECT
    k.device_id,
    k.module_id,
    k.shape,
    ROW_NUMBER() OVER (
      PARTITION BY k.device_id, k.module_id
      ORDER BY k.bytes DESC, k.shape
    ) AS place
  FROM peak k
  JOIN square_shapes q ON q.module_id = k.module_id AND q.shape = k.shape
  WHERE k.role IN ('forward', 'backward')
    AND NOT EXISTS (
      SELECT 1 FROM parameter_shapes p WHERE p.module_id = k.module_id AND p.shape = k.shape
    )
),
bf16_shapes AS (
  SELECT DISTINCT k.module_id, SUBSTR(k.shape, 5) AS dimensions
  FROM peak k
  WHERE k.shape LIKE 'bf16[%'
  UNION
  SELECT DISTINCT p.module_id, SUBSTR(p.shape, 5) AS dimensions
  FROM parameter_shapes p
  WHERE p.shape LIKE 'bf16[%'
),
sums AS (
  SELECT
    k.device_id,
    k.module_id,
    CAST(SUM(k.bytes) AS BIGINT) AS peak_bytes,
    CAST(SUM(CASE WHEN k.role = 'forward' THEN k.bytes ELSE 0 END) AS BIGINT) AS forward_bytes,
    CAST(SUM(CASE WHEN k.role = 'backward' THEN k.bytes ELSE 0 END) AS BIGINT) AS backward_bytes,
    CAST(SUM(CASE WHEN k.role = 'workspace' THEN k.bytes ELSE 0 END) AS BIGINT) AS workspace_bytes,
    CAST(SUM(CASE WHEN k.role = 'other' THEN k.bytes ELSE 0 END) AS BIGINT) AS other_bytes,
    CAST(SUM(CASE WHEN k.role IN ('forward', 'backward') AND p.shape IS NULL THEN k.bytes ELSE 0 END)
      AS BIGINT) AS batch_bytes,
    CAST(SUM(CASE WHEN q.shape IS NOT NULL AND p.shape IS NULL THEN k.bytes ELSE 0 END)
      AS BIGINT) AS square_bytes,
    CAST(SUM(CASE WHEN k.role = 'backward' AND p.shape IS NOT NULL THEN k.bytes ELSE 0 END)
      AS BIGINT) AS gradient_bytes,
    CAST(SUM(CASE WHEN k.role = 'backward' AND t.dimensions IS NOT NULL THEN k.bytes ELSE 0 END)
      AS BIGINT) AS f32_copy_bytes,
    MAX(CASE WHEN k.role = 'workspace' THEN k.bytes END) AS largest_workspace_bytes
  FROM peak k
  LEFT JOIN parameter_shapes p ON p.module_id = k.module_id AND p.shape = k.shape
  LEFT JOIN square_shapes q
    ON q.module_id = k.module_id AND q.shape = k.shape AND k.role IN ('forward', 'backward')
  LEFT JOIN bf16_shapes t
    ON t.module_id = k.module_id AND k.shape LIKE 'f32[%' AND t.dimensions = SUBSTR(k.shape, 4)
  GROUP BY k.device_id, k.module_id
)
SELECT
  f.capture_id,
  f.device_id,
  f.module_id,
  f.plan_bytes,
  f.capacity_bytes,
  f.others_bytes,
  f.execution_id,
  s.peak_bytes,
  s.forward_bytes,
  s.backward_bytes,
  s.workspace_bytes,
  s.other_bytes,
  -- A single large buffer (a scanned model's [layers, ...] stack): what stays is put at that buffer.
  CASE
    WHEN l.buffers >= 2 THEN CAST((s.forward_bytes - s.forward_bytes % l.buffers) / l.buffers AS BIGINT)
    ELSE COALESCE(l.bytes, 0)
  END AS forward_block_bytes,
  s.batch_bytes,
  s.square_bytes,
  q.shape AS square_shape,
  s.gradient_bytes,
  s.f32_copy_bytes,
  s.largest_workspace_bytes
FROM misfits f
JOIN sums s ON s.module_id = f.module_id AND s.device_id IS NOT DISTINCT FROM f.device_id
LEFT JOIN blocks l
  ON l.module_id = f.module_id AND l.device_id IS NOT DISTINCT FROM f.device_id AND l.place = 1
LEFT JOIN square_names q
  ON q.module_id = f.module_id AND q.device_id IS NOT DISTINCT FROM f.device_id AND q.place = 1;
