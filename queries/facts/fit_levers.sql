-- id: fit_levers
-- title: What could make a plan fit, how much each lever saves, and what is needed then
-- columns:
--   capture_id: the capture
--   device_id: the device; NULL without devices
--   module_id: the module
--   lever: donation, checkpoint, micro_batch, fused_attention, shard, bf16_gradients, workspace,
--     shorter_sequence or pool
--   preference: the one to try first has the smallest
--   fix: what to do
--   saving_bytes: what it saves (bytes); NULL when it does not make the step smaller
--   needs_bytes: plan and other arrays, less the saving (bytes)
--   fits: 1 when that is within the capacity, 0 when not
--   cost: what it costs
--   changes_results: 0 or 1
--   leading_role: the role that dominates the heap peak
CREATE VIEW fit_levers AS
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
  FROM misfit_peaks p
  LEFT JOIN donation_savings s ON s.module_id = p.module_id
),
-- Into how many parts: the fewest that make it fit, else as many as are tried.
tried AS (
  SELECT
    n.capture_id,
    n.device_id,
    n.module_id,
    n.leading_role,
    n.total_bytes,
    n.capacity_bytes,
    n.checkpoint_bytes,
    n.forward_line,
    n.batch_bytes,
    n.square_bytes,
    n.square_shape,
    n.state_bytes,
    n.f32_copy_bytes,
    n.workspace_bytes,
    n.donation_bytes,
    n.pool_helps,
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
levers AS (
  SELECT 'donation' AS lever, 1 AS preference, 'none; the saving is an upper bound' AS cost,
    0 AS changes_results
  UNION ALL SELECT 'checkpoint', 2, 'about one more forward pass', 0
  UNION ALL SELECT 'micro_batch', 3, 'step time; an accumulator of the size of the gradients', 0
  UNION ALL SELECT 'fused_attention', 4, 'none, where a fused kernel supports the shapes', 0
  UNION ALL SELECT 'shard', 5, 'network traffic, and the devices', 0
  UNION ALL SELECT 'bf16_gradients', 6, 'precision of the accumulated gradients', 1
  UNION ALL SELECT 'workspace', 7, 'speed of these calls; the saving is an upper bound', 0
  UNION ALL SELECT 'shorter_sequence', 8, 'shorter context', 1
  UNION ALL SELECT 'pool', 0, 'less memory for libraries and other processes on the device', 0
),
sized AS (
  SELECT
    z.capture_id,
    z.device_id,
    z.module_id,
    z.leading_role,
    z.total_bytes,
    z.capacity_bytes,
    z.pool_helps,
    l.lever,
    l.preference,
    l.cost,
    l.changes_results,
    CASE l.lever
      WHEN 'donation' THEN
        'donate the state: jax.jit(step, donate_argnums=...) for the arguments that the step'
          || ' returns updated'
      WHEN 'checkpoint' THEN
        'jax.checkpoint on the block' || COALESCE(' at ' || z.forward_line, '')
          || ': its activations are computed again in the backward pass'
      WHEN 'micro_batch' THEN
        'split the batch into ' || CAST(z.batch_parts AS VARCHAR(20))
          || ' micro-batches and accumulate the gradients'
      WHEN 'fused_attention' THEN
        'fused attention; then check that ' || z.square_shape || ' is gone from the plan'
      WHEN 'shard' THEN
        'shard parameters, gradients and state (FSDP) over ' || CAST(z.state_parts AS VARCHAR(20))
          || ' devices'
      WHEN 'bf16_gradients' THEN
        'keep gradients in bf16: f32 copies of bf16 values of their dimensions are live at the peak'
      WHEN 'workspace' THEN
        'let the library calls use less scratch: another algorithm, or smaller calls'
      WHEN 'shorter_sequence' THEN
        'half the sequence: sequence by sequence buffers fall to a quarter, the others to half'
      ELSE
        'a larger pool (XLA_PYTHON_CLIENT_MEM_FRACTION) if nothing else needs the device''s memory'
    END AS fix,
    CASE l.lever
      WHEN 'donation' THEN z.donation_bytes
      WHEN 'checkpoint' THEN z.checkpoint_bytes
      WHEN 'micro_batch' THEN z.batch_saving
      WHEN 'fused_attention' THEN z.square_bytes
      WHEN 'shard' THEN z.state_saving
      WHEN 'bf16_gradients' THEN CAST((z.f32_copy_bytes - z.f32_copy_bytes % 2) / 2 AS BIGINT)
      WHEN 'workspace' THEN z.workspace_bytes
      WHEN 'shorter_sequence' THEN
        CASE
          WHEN z.square_bytes > 0 THEN
            z.square_bytes - CAST((z.square_bytes - z.square_bytes % 4) / 4 AS BIGINT)
            + CAST((z.batch_bytes - z.square_bytes - (z.batch_bytes - z.square_bytes) % 2) / 2
              AS BIGINT)
        END
    END AS saving_bytes
  FROM split z
  CROSS JOIN levers l
)
SELECT
  s.capture_id,
  s.device_id,
  s.module_id,
  s.lever,
  s.preference,
  s.fix,
  s.saving_bytes,
  s.total_bytes - COALESCE(s.saving_bytes, 0) AS needs_bytes,
  CASE
    WHEN s.lever = 'pool' THEN 1
    WHEN s.total_bytes - s.saving_bytes <= s.capacity_bytes THEN 1
    ELSE 0
  END AS fits,
  s.cost,
  s.changes_results,
  s.leading_role
FROM sized s
WHERE s.saving_bytes > 0 OR (s.lever = 'pool' AND s.pool_helps = 1);
