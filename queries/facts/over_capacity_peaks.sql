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
--   platform: gpu, tpu, cpu; NULL: unknown
--   stack_bytes: forward temps that a loop fills for the backward pass alone: recomputing its body
--     does without them (bytes)
--   block_bytes: forward temps that repeat from block to block, less those of one block, which
--     recomputing still holds; 0 on a CPU, whose compiler undoes that (bytes)
--   block: the function that they are made in; NULL: not known
--   block_line: Python file, line and function where it is called; without a function, of the
--     largest of these temps
--   batch_bytes: forward and backward temps without the shape of state, and attention scores: they
--     shrink with the batch (bytes)
--   accumulator_bytes: the gradients of the trained parameters in f32, less those that are at the
--     peak anyway: what accumulating them takes (bytes)
--   square_bytes: attention scores, sequence by sequence (bytes)
--   square_shape: the shape of the largest of them
--   gradient_bytes: backward temps with the shape of state: they shrink when parameters are
--     sharded (bytes)
--   logits_bytes: logits and their gradients (bytes)
--   vocabulary: how many logits there are for a token
--   vmap_bytes: temps of a vmap that is not differentiated (bytes)
--   f32_bytes: forward and backward temps in f32 without the shape of state (bytes)
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
    p.is_state,
    p.stack,
    p.repeat_count,
    p.score_length,
    p.vocabulary_length,
    CASE WHEN LOWER(p.op_name) LIKE '%vmap(%' THEN 1 ELSE 0 END AS mapped,
    COUNT(*) AS buffers,
    SUM(p.accumulator_bytes) AS accumulator_bytes,
    SUM(p.bytes) AS bytes
  FROM over_capacity_parts p
  GROUP BY
    p.device_id, p.module_id, p.kind, p.role, p.shape, p.bytes, p.is_state, p.stack,
    p.repeat_count, p.score_length, p.vocabulary_length,
    CASE WHEN LOWER(p.op_name) LIKE '%vmap(%' THEN 1 ELSE 0 END
),
shaped AS (
  SELECT
    z.device_id,
    z.module_id,
    CASE WHEN z.kind = 'temp at the peak' THEN z.role END AS role,
    z.kind,
    z.shape,
    z.each_bytes,
    z.is_state,
    z.stack,
    z.repeat_count,
    z.vocabulary_length,
    z.mapped,
    z.buffers,
    z.accumulator_bytes,
    z.bytes,
    CASE
      WHEN z.score_length >= (SELECT s.setting FROM settings s
        WHERE s.name = 'attention_min_length') THEN 1
      ELSE 0
    END AS square,
    CASE WHEN LOWER(z.shape) LIKE 'bf16[%' THEN 1 ELSE 0 END AS bf16,
    CASE WHEN LOWER(z.shape) LIKE 'f32[%' THEN 1 ELSE 0 END AS f32,
    CASE
      WHEN LOWER(z.shape) LIKE 'bf16[%' THEN SUBSTR(z.shape, 5)
      WHEN LOWER(z.shape) LIKE 'f32[%' THEN SUBSTR(z.shape, 4)
    END AS dimensions
  FROM sizes z
),
compared AS (
  SELECT
    h.device_id,
    h.module_id,
    h.role,
    h.kind,
    h.shape,
    h.each_bytes,
    h.stack,
    h.vocabulary_length,
    h.mapped,
    h.accumulator_bytes,
    h.bytes,
    h.square,
    h.f32,
    -- A temp of the shape of state is its gradient or its copy: it does not shrink with the batch.
    MAX(CASE WHEN h.kind = 'parameter' THEN h.is_state ELSE 0 END) OVER (
      PARTITION BY h.device_id, h.module_id, h.shape
    ) AS like_state,
    h.f32 * MAX(h.bf16) OVER (PARTITION BY h.device_id, h.module_id, h.dimensions) AS f32_copy,
    -- In a file of an earlier version buffers of one size and role are taken for the same value of
    -- successive blocks.
    COALESCE(
      h.repeat_count,
      SUM(h.buffers) OVER (PARTITION BY h.device_id, h.module_id, h.role, h.each_bytes)
    ) AS repeats
  FROM shaped h
),
marked AS (
  SELECT
    c.*,
    CASE
      WHEN c.like_state = 0 AND (c.role IN ('forward', 'backward') OR c.square = 1) THEN 1
      ELSE 0
    END AS in_batch,
    ROW_NUMBER() OVER (
      PARTITION BY c.device_id, c.module_id, c.square
      ORDER BY
        c.each_bytes DESC NULLS LAST,
        c.kind NULLS FIRST,
        c.shape NULLS FIRST,
        c.role NULLS FIRST,
        c.bytes DESC NULLS LAST
    ) AS square_place
  FROM compared c
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
    CAST(SUM(CASE WHEN o.in_batch = 1 THEN o.bytes ELSE 0 END) AS BIGINT) AS batch_bytes,
    CAST(SUM(CASE WHEN o.square = 1 THEN o.bytes ELSE 0 END) AS BIGINT) AS square_bytes,
    MAX(CASE WHEN o.square = 1 AND o.square_place = 1 THEN o.shape END) AS square_shape,
    CAST(SUM(CASE WHEN o.role = 'backward' AND o.like_state = 1 THEN o.bytes ELSE 0 END)
      AS BIGINT) AS gradient_bytes,
    CAST(SUM(o.accumulator_bytes) AS BIGINT) AS trained_bytes,
    CAST(SUM(CASE WHEN o.role = 'forward' AND o.stack = 'kept' THEN o.bytes ELSE 0 END)
      AS BIGINT) AS stack_bytes,
    CAST(SUM(CASE
      WHEN o.role = 'forward' AND o.stack IS NULL AND o.repeats >= 2
        THEN o.bytes
          - CAST((o.bytes - o.bytes % NULLIF(o.repeats, 0)) / NULLIF(o.repeats, 0) AS BIGINT)
      ELSE 0
    END) AS BIGINT) AS block_bytes,
    CAST(SUM(CASE WHEN o.vocabulary_length IS NOT NULL THEN o.bytes ELSE 0 END)
      AS BIGINT) AS logits_bytes,
    MAX(o.vocabulary_length) AS vocabulary,
    CAST(SUM(CASE WHEN o.mapped = 1 AND o.role = 'other' THEN o.bytes ELSE 0 END)
      AS BIGINT) AS vmap_bytes,
    CAST(SUM(CASE WHEN o.in_batch = 1 AND o.f32 = 1 THEN o.bytes ELSE 0 END)
      AS BIGINT) AS f32_bytes,
    CAST(SUM(CASE WHEN o.role = 'backward' AND o.f32_copy = 1 THEN o.bytes ELSE 0 END)
      AS BIGINT) AS f32_copy_bytes
  FROM marked o
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
  m.platform,
  p.stack_bytes,
  -- The CPU compiler drops the barrier that keeps what is recomputed apart, but in loops.
  CASE WHEN m.platform = 'cpu' THEN 0 ELSE p.block_bytes END AS block_bytes,
  m.block_function AS block,
  m.block_file || COALESCE(':' || CAST(m.block_line AS VARCHAR(20)), '')
    || COALESCE(' ' || m.block_caller, '') AS block_line,
  p.batch_bytes,
  CASE
    WHEN p.trained_bytes > p.gradient_bytes THEN p.trained_bytes - p.gradient_bytes
    ELSE 0
  END AS accumulator_bytes,
  p.square_bytes,
  p.square_shape,
  p.gradient_bytes,
  p.logits_bytes,
  p.vocabulary,
  p.vmap_bytes,
  p.f32_bytes,
  p.f32_copy_bytes
FROM over_capacity f
JOIN modules m ON m.module_id = f.module_id
LEFT JOIN peaks p
  ON p.module_id = f.module_id
  AND (p.device_id = f.device_id OR (p.device_id IS NULL AND f.device_id IS NULL))
  AND f.heap_peak_bytes IS NOT NULL;
