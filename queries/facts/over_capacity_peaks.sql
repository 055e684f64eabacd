-- id: over_capacity_peaks
-- title: The heap peak of every plan that does not fit, by role, and what a fix could take from it
-- columns:
--   capture_id: the capture
--   run: its run
--   host: its host
--   status: complete or truncated
--   device_id: the device; NULL without devices
--   device: its ordinal as recorded
--   module_id: the module
--   module_name: its name
--   label: its name with the program id
--   plan_bytes: what it needs (bytes)
--   parameter_bytes: parameters (bytes)
--   output_bytes: non-donated outputs (bytes)
--   constant_bytes: constants (bytes)
--   temp_bytes: temps (bytes)
--   heap_peak_bytes: most temp bytes live at once (bytes)
--   capacity_bytes: what the device may use (bytes)
--   capacity_source: pool, error log, setting, device memory or largest device
--   capacity_evidence: measured, read or inferred
--   target: what the module was compiled for; NULL: unknown
--   memory_bytes: the device's memory (bytes)
--   short_bytes: what is missing (bytes)
--   execution_count: executions on this device
--   failed_count: of these, known to have failed
--   execution_id: the first that failed; NULL when none did
--   others_bytes: what else was in use when that one started (bytes); 0 when none failed
--   peak_bytes: temps live at the heap peak (bytes); NULL without a heap trace, and so are the
--     columns after it
--   forward_bytes: of these, kept for the backward pass (bytes)
--   backward_bytes: of these, gradients and their temporaries (bytes)
--   workspace_bytes: of these, scratch of library calls (bytes)
--   other_bytes: the rest (bytes)
--   forward_percent: forward, as a share of the peak (per cent, rounded)
--   backward_percent: backward, as a share of the peak (per cent, rounded)
--   workspace_percent: workspace, as a share of the peak (per cent, rounded)
--   leading_role: the largest of forward, backward and workspace; NULL when it is a small part of
--     the plan
--   forward_block_bytes: forward bytes of one block, which recomputing would still hold (bytes)
--   forward_line: Python file, line and function of the largest forward buffers
--   batch_bytes: forward and backward temps without a parameter's shape: they shrink with the batch
--     (bytes)
--   square_bytes: of these, sequence by sequence: the last two dimensions are equal (bytes)
--   square_shape: the shape of the largest of them
--   gradient_bytes: backward temps with a parameter's shape: they shrink when parameters are
--     sharded (bytes)
--   f32_copy_bytes: f32 backward temps that have a bf16 twin of the same dimensions (bytes)
CREATE VIEW over_capacity_peaks AS
WITH sizes AS (
  SELECT
    p.device_id,
    p.module_id,
    p.kind,
    p.role,
    p.shape,
    p.bytes AS each_bytes,
    p.source_file || COALESCE(':' || CAST(p.source_line AS VARCHAR(20)), '')
      || COALESCE(' ' || p.function_name, '') AS line,
    COUNT(*) AS buffers,
    SUM(p.bytes) AS bytes
  FROM over_capacity_parts p
  GROUP BY
    p.device_id, p.module_id, p.kind, p.role, p.shape, p.bytes, p.source_file, p.source_line,
    p.function_name
),
-- The last dimension has as many digits as one of these; [..,S,S] has it twice.
widths AS (
  SELECT 1 AS digits UNION ALL SELECT 2 UNION ALL SELECT 3 UNION ALL SELECT 4 UNION ALL SELECT 5
  UNION ALL SELECT 6 UNION ALL SELECT 7 UNION ALL SELECT 8 UNION ALL SELECT 9
),
shaped AS (
  SELECT
    z.device_id,
    z.module_id,
    CASE WHEN z.kind = 'temp at the peak' THEN z.role END AS role,
    z.kind,
    z.shape,
    z.each_bytes,
    z.line,
    z.buffers,
    z.bytes,
    CASE WHEN w.digits IS NULL THEN 0 ELSE 1 END AS square,
    CASE WHEN LOWER(z.shape) LIKE 'bf16[%' THEN 1 ELSE 0 END AS bf16,
    CASE WHEN LOWER(z.shape) LIKE 'f32[%' THEN 1 ELSE 0 END AS f32,
    CASE
      WHEN LOWER(z.shape) LIKE 'bf16[%' THEN SUBSTR(z.shape, 5)
      WHEN LOWER(z.shape) LIKE 'f32[%' THEN SUBSTR(z.shape, 4)
    END AS dimensions
  FROM sizes z
  LEFT JOIN widths w
    ON z.shape LIKE '%[%,%,%]'
    AND LENGTH(z.shape) > 2 * w.digits + 3
    AND SUBSTR(z.shape, LENGTH(z.shape) - w.digits, w.digits) NOT LIKE '%,%'
    AND SUBSTR(z.shape, LENGTH(z.shape) - 2 * w.digits - 2, 2 * w.digits + 3)
      = ',' || SUBSTR(z.shape, LENGTH(z.shape) - w.digits, w.digits)
      || ',' || SUBSTR(z.shape, LENGTH(z.shape) - w.digits, w.digits) || ']'
),
compared AS (
  SELECT
    h.device_id,
    h.module_id,
    h.role,
    h.kind,
    h.shape,
    h.each_bytes,
    h.line,
    h.bytes,
    h.square,
    -- A temp of a parameter's shape is its gradient or its copy: it does not shrink with the batch.
    MAX(CASE WHEN h.kind = 'parameter' THEN 1 ELSE 0 END) OVER (
      PARTITION BY h.device_id, h.module_id, h.shape
    ) AS like_parameter,
    h.f32 * MAX(h.bf16) OVER (PARTITION BY h.device_id, h.module_id, h.dimensions) AS f32_copy,
    -- Buffers of one size and role are the same value of successive blocks.
    SUM(h.buffers) OVER (PARTITION BY h.device_id, h.module_id, h.role,
      h.each_bytes) AS size_buffers,
    SUM(h.bytes) OVER (PARTITION BY h.device_id, h.module_id, h.role, h.each_bytes) AS size_bytes
  FROM shaped h
),
marked AS (
  SELECT
    c.device_id,
    c.module_id,
    c.role,
    c.kind,
    c.shape,
    c.each_bytes,
    c.line,
    c.bytes,
    c.like_parameter,
    c.f32_copy,
    c.size_buffers,
    c.size_bytes,
    CASE
      WHEN c.square = 1 AND c.like_parameter = 0 AND c.role IN ('forward', 'backward') THEN 1
      ELSE 0
    END AS square
  FROM compared c
),
ordered AS (
  SELECT
    k.device_id,
    k.module_id,
    k.role,
    k.kind,
    k.shape,
    k.each_bytes,
    k.line,
    k.bytes,
    k.like_parameter,
    k.f32_copy,
    k.size_buffers,
    k.square,
    ROW_NUMBER() OVER (
      PARTITION BY k.device_id, k.module_id, k.role
      ORDER BY
        k.size_bytes DESC NULLS LAST,
        k.each_bytes DESC NULLS LAST,
        k.bytes DESC NULLS LAST,
        k.kind NULLS FIRST,
        k.shape NULLS FIRST,
        k.line NULLS LAST
    ) AS role_place,
    ROW_NUMBER() OVER (
      PARTITION BY k.device_id, k.module_id, k.square
      ORDER BY
        k.each_bytes DESC NULLS LAST,
        k.kind NULLS FIRST,
        k.shape NULLS FIRST,
        k.role NULLS FIRST,
        k.line NULLS LAST
    ) AS square_place
  FROM marked k
),
peaks AS (
  SELECT
    o.device_id,
    o.module_id,
    CAST(SUM(CASE WHEN o.kind = 'temp at the peak' THEN o.bytes
      ELSE 0 END) AS BIGINT) AS peak_bytes,
    CAST(SUM(CASE WHEN o.role = 'forward' THEN o.bytes ELSE 0 END) AS BIGINT) AS forward_bytes,
    CAST(SUM(CASE WHEN o.role = 'backward' THEN o.bytes ELSE 0 END) AS BIGINT) AS backward_bytes,
    CAST(SUM(CASE WHEN o.role = 'workspace' THEN o.bytes ELSE 0 END) AS BIGINT) AS workspace_bytes,
    CAST(SUM(CASE WHEN o.role = 'other' THEN o.bytes ELSE 0 END) AS BIGINT) AS other_bytes,
    CAST(SUM(CASE WHEN o.role IN ('forward', 'backward') AND o.like_parameter = 0 THEN o.bytes
      ELSE 0 END)
      AS BIGINT) AS batch_bytes,
    CAST(SUM(CASE WHEN o.square = 1 THEN o.bytes ELSE 0 END) AS BIGINT) AS square_bytes,
    MAX(CASE WHEN o.square = 1 AND o.square_place = 1 THEN o.shape END) AS square_shape,
    CAST(SUM(CASE WHEN o.role = 'backward' AND o.like_parameter = 1 THEN o.bytes ELSE 0 END)
      AS BIGINT) AS gradient_bytes,
    CAST(SUM(CASE WHEN o.role = 'backward' AND o.f32_copy = 1 THEN o.bytes ELSE 0 END)
      AS BIGINT) AS f32_copy_bytes,
    CAST(MAX(CASE WHEN o.role = 'forward' AND o.role_place = 1 THEN o.size_buffers END)
      AS BIGINT) AS block_count,
    CAST(MAX(CASE WHEN o.role = 'forward' AND o.role_place = 1 THEN o.each_bytes END)
      AS BIGINT) AS block_buffer_bytes,
    MAX(CASE WHEN o.role = 'forward' AND o.role_place = 1 THEN o.line END) AS forward_line
  FROM ordered o
  GROUP BY o.device_id, o.module_id
)
SELECT
  f.capture_id,
  f.run,
  f.host,
  f.status,
  f.device_id,
  f.device,
  f.module_id,
  f.module_name,
  f.label,
  f.plan_bytes,
  f.parameter_bytes,
  f.output_bytes,
  f.constant_bytes,
  f.temp_bytes,
  f.heap_peak_bytes,
  f.capacity_bytes,
  f.capacity_source,
  f.capacity_evidence,
  f.target,
  f.memory_bytes,
  f.short_bytes,
  f.execution_count,
  f.failed_count,
  f.execution_id,
  f.others_bytes,
  p.peak_bytes,
  p.forward_bytes,
  p.backward_bytes,
  p.workspace_bytes,
  p.other_bytes,
  CAST((200 * p.forward_bytes + p.peak_bytes
    - (200 * p.forward_bytes + p.peak_bytes) % NULLIF(2 * p.peak_bytes, 0))
    / NULLIF(2 * p.peak_bytes, 0) AS BIGINT) AS forward_percent,
  CAST((200 * p.backward_bytes + p.peak_bytes
    - (200 * p.backward_bytes + p.peak_bytes) % NULLIF(2 * p.peak_bytes, 0))
    / NULLIF(2 * p.peak_bytes, 0) AS BIGINT) AS backward_percent,
  CAST((200 * p.workspace_bytes + p.peak_bytes
    - (200 * p.workspace_bytes + p.peak_bytes) % NULLIF(2 * p.peak_bytes, 0))
    / NULLIF(2 * p.peak_bytes, 0) AS BIGINT) AS workspace_percent,
  CASE
    WHEN p.forward_bytes >= p.backward_bytes AND p.forward_bytes >= p.workspace_bytes
      AND 100 * p.forward_bytes
        >= (SELECT s.setting FROM settings s WHERE s.name = 'role_min_percent') * f.plan_bytes
      THEN 'forward'
    WHEN p.backward_bytes > p.forward_bytes AND p.backward_bytes >= p.workspace_bytes
      AND 100 * p.backward_bytes
        >= (SELECT s.setting FROM settings s WHERE s.name = 'role_min_percent') * f.plan_bytes
      THEN 'backward'
    WHEN p.workspace_bytes > p.forward_bytes AND p.workspace_bytes > p.backward_bytes
      AND 100 * p.workspace_bytes
        >= (SELECT s.setting FROM settings s WHERE s.name = 'role_min_percent') * f.plan_bytes
      THEN 'workspace'
  END AS leading_role,
  -- A single large buffer is a scanned model's [layers, ...] stack: what stays is put at that
  -- buffer.
  CASE
    WHEN p.block_count >= 2
      THEN CAST((p.forward_bytes - p.forward_bytes % NULLIF(p.block_count, 0))
        / NULLIF(p.block_count, 0) AS BIGINT)
    ELSE COALESCE(p.block_buffer_bytes, 0)
  END AS forward_block_bytes,
  p.forward_line,
  p.batch_bytes,
  p.square_bytes,
  p.square_shape,
  p.gradient_bytes,
  p.f32_copy_bytes
FROM over_capacity f
LEFT JOIN peaks p
  ON p.module_id = f.module_id
  AND p.device_id IS NOT DISTINCT FROM f.device_id
  AND f.heap_peak_bytes IS NOT NULL;
