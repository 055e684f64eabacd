-- id: fit_levers
-- title: What could make a plan fit, how much each lever saves, and what is needed then
-- columns:
--   capture_id: the capture
--   device_id: the device; NULL without devices
--   module_id: the module
--   lever: checkpoint, micro_batch, fused_attention, shorter_sequence, shard, bf16_gradients, workspace, donation or pool
--   preference: 1 for the one to try first
--   fix: what to do
--   saving_bytes: what it saves (bytes); NULL when it does not make the step smaller
--   needs_bytes: plan and other arrays, less the saving (bytes)
--   fits: 1 when that is within the capacity, 0 when not
--   cost: what it costs
--   changes_results: 0 or 1
CREATE VIEW fit_levers AS
WITH powers AS (
  SELECT 2 AS parts UNION ALL SELECT 4 UNION ALL SELECT 8 UNION ALL SELECT 16 UNION ALL SELECT 32
  UNION ALL SELECT 64 UNION ALL SELECT 128 UNION ALL SELECT 256
),
-- The smallest split that fits, else the largest that is tried.
batch_splits AS (
  SELECT
    p.module_id,
    p.device_id,
    COALESCE(
      MIN(CASE
        WHEN p.plan_bytes + p.others_bytes - p.batch_bytes
          + CAST((p.batch_bytes - p.batch_bytes % w.parts) / w.parts AS BIGINT) <= p.capacity_bytes
          THEN w.parts
      END),
      MAX(w.parts)
    ) AS parts
  FROM misfit_peaks p
  CROSS JOIN powers w
  WHERE w.parts <= (SELECT s.setting FROM settings s WHERE s.name = 'micro_batches_max')
  GROUP BY p.module_id, p.device_id
),
state AS (
  SELECT p.module_id, p.device_id, f.parameter_bytes + f.output_bytes + p.gradient_bytes AS state_bytes
  FROM misfit_peaks p
  JOIN misfits f ON f.module_id = p.module_id AND f.device_id IS NOT DISTINCT FROM p.device_id
),
state_splits AS (
  SELECT
    p.module_id,
    p.device_id,
    t.state_bytes,
    COALESCE(
      MIN(CASE
        WHEN p.plan_bytes + p.others_bytes - t.state_bytes
          + CAST((t.state_bytes - t.state_bytes % w.parts) / w.parts AS BIGINT) <= p.capacity_bytes
          THEN w.parts
      END),
      MAX(w.parts)
    ) AS parts
  FROM misfit_peaks p
  JOIN state t ON t.module_id = p.module_id AND t.device_id IS NOT DISTINCT FROM p.device_id
  CROSS JOIN powers w
  WHERE w.parts <= (SELECT s.setting FROM settings s WHERE s.name = 'shards_max')
  GROUP BY p.module_id, p.device_id, t.state_bytes
),
levers AS (
  SELECT
    p.module_id,
    p.device_id,
    'checkpoint' AS lever,
    2 AS preference,
    'jax.checkpoint on the block, so that its activations are computed again in the backward pass' AS fix,
    p.forward_bytes - p.forward_block_bytes AS saving_bytes,
    'about one more forward pass' AS cost,
    0 AS changes_results
  FROM misfit_peaks p
  UNION ALL
  SELECT
    p.module_id,
    p.device_id,
    'micro_batch',
    3,
    'split the batch into ' || CAST(b.parts AS VARCHAR(20)) || ' micro-batches and accumulate the gradients',
    p.batch_bytes - CAST((p.batch_bytes - p.batch_bytes % b.parts) / b.parts AS BIGINT),
    'step time; an accumulator of the size of the gradients',
    0
  FROM misfit_peaks p
  JOIN batch_splits b ON b.module_id = p.module_id AND b.device_id IS NOT DISTINCT FROM p.device_id
  UNION ALL
  SELECT
    p.module_id,
    p.device_id,
    'fused_attention',
    4,
    'fused attention; then check that ' || p.square_shape || ' is gone from the plan',
    p.square_bytes,
    'none, where a fused kernel supports the shapes',
    0
  FROM misfit_peaks p
  WHERE p.square_shape IS NOT NULL
  UNION ALL
  SELECT
    p.module_id,
    p.device_id,
    'shorter_sequence',
    8,
    'half the sequence: sequence by sequence buffers fall to a quarter, the others to half',
    p.square_bytes - CAST((p.square_bytes - p.square_bytes % 4) / 4 AS BIGINT)
      + CAST((p.batch_bytes - p.square_bytes - (p.batch_bytes - p.square_bytes) % 2) / 2 AS BIGINT),
    'shorter context',
    1
  FROM misfit_peaks p
  WHERE p.square_bytes > 0
  UNION ALL
  SELECT
    t.module_id,
    t.device_id,
    'shard',
    5,
    'shard parameters, gradients and state (FSDP) over ' || CAST(t.parts AS VARCHAR(20)) || ' devices',
    t.state_bytes - CAST((t.state_bytes - t.state_bytes % t.parts) / t.parts AS BIGINT),
    'network traffic, and the devices',
    0
  FROM state_splits t
  UNION ALL
  SELECT
    p.module_id,
    p.device_id,
    'bf16_gradients',
    6,
    'keep gradients in bf16: f32 copies of bf16 values of the same dimensions are live at the peak',
    CAST((p.f32_copy_bytes - p.f32_copy_bytes % 2) / 2 AS BIGINT),
    'precision of the accumulated gradients',
    1
  FROM misfit_peaks p
  UNION ALL
  SELECT
    p.module_id,
    p.device_id,
    'workspace',
    7,
    'let the library calls use less scratch: another algorithm, or smaller calls',
    p.workspace_bytes,
    'speed of these calls; the saving is an upper bound',
    0
  FROM misfit_peaks p
  UNION ALL
  SELECT
    f.module_id,
    f.device_id,
    'donation',
    1,
    'donate the state: jax.jit(step, donate_argnums=...) for the arguments that the step returns updated',
    s.bytes,
    'none; the saving is an upper bound',
    0
  FROM misfits f
  JOIN donation_savings s ON s.module_id = f.module_id
)
SELECT
  f.capture_id,
  f.device_id,
  f.module_id,
  l.lever,
  l.preference,
  l.fix,
  l.saving_bytes,
  f.plan_bytes + f.others_bytes - l.saving_bytes AS needs_bytes,
  CASE
    WHEN f.plan_bytes + f.others_bytes - l.saving_bytes <= f.capacity_bytes THEN 1
    ELSE 0
  END AS fits,
  l.cost,
  l.changes_results
FROM levers l
JOIN misfits f ON f.module_id = l.module_id AND f.device_id IS NOT DISTINCT FROM l.device_id
WHERE l.saving_bytes > 0
UNION ALL
SELECT
  f.capture_id,
  f.device_id,
  f.module_id,
  'pool',
  9,
  'a larger pool: XLA_PYTHON_CLIENT_MEM_FRACTION, when nothing else needs the device''s memory',
  NULL,
  f.plan_bytes + f.others_bytes,
  1,
  'less memory for libraries and other processes on the device',
  0
FROM misfits f
WHERE f.capacity_source = 'pool'
  AND 100 * f.capacity_bytes
    < (SELECT s.setting FROM settings s WHERE s.name = 'low_capacity_percent') * f.memory_bytes
  AND 100 * (f.plan_bytes + f.others_bytes)
    <= (SELECT s.setting FROM settings s WHERE s.name = 'raised_capacity_percent') * f.memory_bytes;
