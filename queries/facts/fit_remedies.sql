-- id: fit_remedies
-- title: What could make a plan fit, how much each remedy saves, and what is needed then
-- words fix by remedy:
--   donate: donate the state: jax.jit(step, donate_argnums=...) for the arguments that the step
--     returns updated
--   checkpoint: jax.checkpoint on the block[ at {forward_line}]: its activations are computed again
--     in the backward pass
--   micro_batch: split the batch into {batch_parts:n} micro-batches and accumulate the gradients
--   fused_attention: fused attention; then check that {square_shape} is gone from the plan
--   shard_parameters: shard parameters, gradients and state (FSDP) over {state_parts:n} devices
--   narrower_dtype: keep gradients in bf16: f32 copies of bf16 values of their dimensions are live
--     at the peak
--   less_workspace: let the library calls use less scratch: another algorithm, or smaller calls
--   shorter_sequence: half the sequence: sequence by sequence buffers fall to a quarter, the others
--     to half
--   raise_memory_fraction: a larger pool (XLA_PYTHON_CLIENT_MEM_FRACTION) if nothing else needs the
--     device's memory
-- words cost by remedy:
--   donate: none; the saving is an upper bound
--   checkpoint: about one more forward pass
--   micro_batch: step time; an accumulator of the size of the gradients
--   fused_attention: none, where a fused kernel supports the shapes
--   shard_parameters: network traffic, and the devices
--   narrower_dtype: precision of the accumulated gradients
--   less_workspace: speed of these calls; the saving is an upper bound
--   shorter_sequence: shorter context
--   raise_memory_fraction: less memory for libraries and other processes on the device
-- columns:
--   capture_id: the capture
--   device_id: the device; NULL without devices
--   module_id: the module
--   remedy: donate, checkpoint, micro_batch, fused_attention, shard_parameters, narrower_dtype,
--     less_workspace, shorter_sequence or raise_memory_fraction
--   preference: the one to try first has the smallest
--   fix: what to do
--   saving_bytes: what it saves (bytes); NULL when it does not make the step smaller
--   needs_bytes: plan and other arrays, less the saving (bytes)
--   fits: 1 when that is within the capacity, 0 when not
--   cost: what it costs
--   changes_results: 0 or 1
--   leading_role: the role that dominates the heap peak
CREATE VIEW fit_remedies AS
WITH powers AS (
  SELECT 2 AS parts UNION ALL SELECT 4 UNION ALL SELECT 8 UNION ALL SELECT 16 UNION ALL SELECT 32
  UNION ALL SELECT 64 UNION ALL SELECT 128 UNION ALL SELECT 256
),
-- What is there to save. State is what sharding splits: parameters, results, and gradients of their
-- shapes.
needs AS (
  SELECT
    p.capture_id,
    p.device_id,
    p.module_id,
    p.leading_role,
    p.plan_bytes + p.others_bytes AS total_bytes,
    p.capacity_bytes,
    p.forward_bytes - p.forward_block_bytes AS checkpoint_bytes,
    p.forward_line,
    p.batch_bytes,
    p.square_bytes,
    p.square_shape,
    p.parameter_bytes + p.output_bytes + COALESCE(p.gradient_bytes, 0) AS state_bytes,
    p.f32_copy_bytes,
    p.workspace_bytes,
    s.bytes AS donation_bytes,
    CASE
      WHEN p.capacity_source = 'pool'
        AND 100 * p.capacity_bytes
          < (SELECT t.setting FROM settings t WHERE t.name = 'low_capacity_percent')
            * p.memory_bytes
        AND 100 * (p.plan_bytes + p.others_bytes)
          <= (SELECT t.setting FROM settings t WHERE t.name = 'raised_capacity_percent')
            * p.memory_bytes
        THEN 1
      ELSE 0
    END AS pool_helps
  FROM over_capacity_peaks p
  LEFT JOIN donation_savings s ON s.module_id = p.module_id
),
-- Into how many parts: the fewest that make it fit, else as many as are tried.
tried AS (
  SELECT
    n.*,
    w.parts,
    CASE
      WHEN w.parts <= (SELECT t.setting FROM settings t WHERE t.name = 'micro_batches_max') THEN
        n.batch_bytes - CAST((n.batch_bytes - n.batch_bytes % NULLIF(w.parts, 0))
          / NULLIF(w.parts, 0) AS BIGINT)
    END AS batch_saving,
    CASE
      WHEN w.parts <= (SELECT t.setting FROM settings t WHERE t.name = 'shards_max') THEN
        n.state_bytes - CAST((n.state_bytes - n.state_bytes % NULLIF(w.parts, 0))
          / NULLIF(w.parts, 0) AS BIGINT)
    END AS state_saving
  FROM needs n
  CROSS JOIN powers w
),
split AS (
  SELECT
    t.capture_id,
    t.device_id,
    t.module_id,
    t.leading_role,
    t.total_bytes,
    t.capacity_bytes,
    t.checkpoint_bytes,
    t.forward_line,
    t.batch_bytes,
    t.square_bytes,
    t.square_shape,
    t.f32_copy_bytes,
    t.workspace_bytes,
    t.donation_bytes,
    t.pool_helps,
    COALESCE(
      MIN(CASE WHEN t.total_bytes - t.batch_saving <= t.capacity_bytes THEN t.batch_saving END),
      MAX(t.batch_saving)
    ) AS batch_saving,
    COALESCE(
      MIN(CASE WHEN t.total_bytes - t.batch_saving <= t.capacity_bytes THEN t.parts END),
      MAX(CASE WHEN t.batch_saving IS NOT NULL THEN t.parts END)
    ) AS batch_parts,
    COALESCE(
      MIN(CASE WHEN t.total_bytes - t.state_saving <= t.capacity_bytes THEN t.state_saving END),
      MAX(t.state_saving)
    ) AS state_saving,
    COALESCE(
      MIN(CASE WHEN t.total_bytes - t.state_saving <= t.capacity_bytes THEN t.parts END),
      MAX(CASE WHEN t.state_saving IS NOT NULL THEN t.parts END)
    ) AS state_parts
  FROM tried t
  GROUP BY
    t.capture_id, t.device_id, t.module_id, t.leading_role, t.total_bytes, t.capacity_bytes,
    t.checkpoint_bytes, t.forward_line, t.batch_bytes, t.square_bytes, t.square_shape,
    t.f32_copy_bytes,
    t.workspace_bytes, t.donation_bytes, t.pool_helps
),
remedies AS (
  SELECT 'donate' AS remedy, 1 AS preference, 0 AS changes_results
  UNION ALL SELECT 'checkpoint', 2, 0
  UNION ALL SELECT 'micro_batch', 3, 0
  UNION ALL SELECT 'fused_attention', 4, 0
  UNION ALL SELECT 'shard_parameters', 5, 0
  UNION ALL SELECT 'narrower_dtype', 6, 1
  UNION ALL SELECT 'less_workspace', 7, 0
  UNION ALL SELECT 'shorter_sequence', 8, 1
  UNION ALL SELECT 'raise_memory_fraction', 0, 0
),
sized AS (
  SELECT
    z.*,
    r.remedy,
    r.preference,
    r.changes_results,
    CASE r.remedy
      WHEN 'donate' THEN z.donation_bytes
      WHEN 'checkpoint' THEN z.checkpoint_bytes
      WHEN 'micro_batch' THEN z.batch_saving
      WHEN 'fused_attention' THEN z.square_bytes
      WHEN 'shard_parameters' THEN z.state_saving
      WHEN 'narrower_dtype' THEN CAST((z.f32_copy_bytes - z.f32_copy_bytes % 2) / 2 AS BIGINT)
      WHEN 'less_workspace' THEN z.workspace_bytes
      WHEN 'shorter_sequence' THEN
        CASE
          WHEN z.square_bytes > 0 THEN
            z.square_bytes - CAST((z.square_bytes - z.square_bytes % 4) / 4 AS BIGINT)
            + CAST((z.batch_bytes - z.square_bytes - (z.batch_bytes - z.square_bytes) % 2) / 2
              AS BIGINT)
        END
    END AS saving_bytes
  FROM split z
  CROSS JOIN remedies r
)
SELECT
  s.*,
  s.total_bytes - COALESCE(s.saving_bytes, 0) AS needs_bytes,
  CASE
    WHEN s.remedy = 'raise_memory_fraction' THEN 1
    WHEN s.total_bytes - s.saving_bytes <= s.capacity_bytes THEN 1
    ELSE 0
  END AS fits
FROM sized s
WHERE s.saving_bytes > 0 OR (s.remedy = 'raise_memory_fraction' AND s.pool_helps = 1);
