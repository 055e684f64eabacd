-- id: advice
-- title: What to do about a plan that does not fit, step by step, until it does
-- words step by key:
--   donate: donate the state: jax.jit(step, donate_argnums=...) for what the step returns updated
--   checkpoint: jax.checkpoint on the block that repeats
--   fused_attention: fused attention
--   chunk_logits: compute the loss in {logits_parts:n} chunks, each under jax.checkpoint
--   micro_batch: split the batch into {batch_parts:n} micro-batches and accumulate the gradients
--   shard_parameters: shard parameters, gradients and state (FSDP) over {state_parts:n} devices
--   vmap: work in {vmap_parts:n} chunks instead of one vmap
--   narrower_dtype: compute in bf16
--   shorter_sequence: half the sequence
--   less_workspace: let the library calls use less scratch
--   raise_memory_fraction: let the pool take more of the device
-- columns:
--   capture_id: the capture
--   device_id: the device; NULL without devices
--   module_id: the module
--   position: from 1: do them in this order
--   remedy: all remedies up to this one, joined by +
--   key: the one that this step adds
--   step: what to do
--   needs_bytes: what is needed when all steps up to this one are done (bytes)
--   spare_bytes: what the capacity has beyond that (bytes); negative: still missing
--   fits: 1 when it fits then for sure, 0 when it doesn't, NULL: not known
--   likely: 1 when needs_bytes is within the capacity, 0 when not
-- how to read: The first that is enough for sure, else likely, of: what changes no results before
--   what does, fewer steps before more, less effort first. Each row is the plan replayed with all
--   steps up to it: savings are never added up. No rows where nothing known is likely to be enough.
CREATE VIEW advice AS
WITH steps AS (
  SELECT 'donate+checkpoint' AS plan, 1 AS position, 'donate' AS remedy, 'donate' AS key
  UNION ALL SELECT 'donate+checkpoint', 2, 'donate+checkpoint', 'checkpoint'
  UNION ALL SELECT 'donate+chunk_logits', 1, 'donate', 'donate'
  UNION ALL SELECT 'donate+chunk_logits', 2, 'donate+chunk_logits', 'chunk_logits'
  UNION ALL SELECT 'donate+fused_attention', 1, 'donate', 'donate'
  UNION ALL SELECT 'donate+fused_attention', 2, 'donate+fused_attention', 'fused_attention'
  UNION ALL SELECT 'donate+micro_batch', 1, 'donate', 'donate'
  UNION ALL SELECT 'donate+micro_batch', 2, 'donate+micro_batch', 'micro_batch'
  UNION ALL SELECT 'checkpoint+chunk_logits', 1, 'checkpoint', 'checkpoint'
  UNION ALL SELECT 'checkpoint+chunk_logits', 2, 'checkpoint+chunk_logits', 'chunk_logits'
  UNION ALL SELECT 'checkpoint+micro_batch', 1, 'checkpoint', 'checkpoint'
  UNION ALL SELECT 'checkpoint+micro_batch', 2, 'checkpoint+micro_batch', 'micro_batch'
  UNION ALL SELECT 'checkpoint+shard_parameters', 1, 'checkpoint', 'checkpoint'
  UNION ALL SELECT 'checkpoint+shard_parameters', 2, 'checkpoint+shard_parameters',
    'shard_parameters'
  UNION ALL SELECT 'micro_batch+shard_parameters', 1, 'micro_batch', 'micro_batch'
  UNION ALL SELECT 'micro_batch+shard_parameters', 2, 'micro_batch+shard_parameters',
    'shard_parameters'
  UNION ALL SELECT 'donate+checkpoint+micro_batch', 1, 'donate', 'donate'
  UNION ALL SELECT 'donate+checkpoint+micro_batch', 2, 'donate+checkpoint', 'checkpoint'
  UNION ALL SELECT 'donate+checkpoint+micro_batch', 3, 'donate+checkpoint+micro_batch',
    'micro_batch'
),
ordered AS (
  SELECT
    f.*,
    ROW_NUMBER() OVER (
      PARTITION BY f.capture_id, f.device_id, f.module_id
      ORDER BY f.changes_results, COALESCE(f.fits, 0) DESC,
        CASE WHEN LOWER(f.remedy) LIKE '%shard_parameters' THEN 1 ELSE 0 END, f.preference
    ) AS place
  FROM fit_remedies f
  WHERE f.likely = 1
),
chosen AS (
  SELECT o.* FROM ordered o WHERE o.place = 1
),
-- A remedy alone is its own only step.
taken AS (
  SELECT
    c.*,
    COALESCE(s.position, 1) AS position,
    COALESCE(s.remedy, c.remedy) AS done,
    COALESCE(s.key, c.remedy) AS key,
    CASE WHEN s.plan IS NULL OR s.remedy = s.plan THEN 1 ELSE 0 END AS is_last
  FROM chosen c
  LEFT JOIN steps s ON s.plan = c.remedy
)
SELECT
  t.capture_id,
  t.device_id,
  t.module_id,
  t.position,
  t.done AS remedy,
  t.key,
  CASE WHEN t.is_last = 1 THEN t.needs_bytes ELSE p.needs_bytes + t.others_bytes END AS needs_bytes,
  t.capacity_bytes - CASE
    WHEN t.is_last = 1 THEN t.needs_bytes
    ELSE p.needs_bytes + t.others_bytes
  END AS spare_bytes,
  CASE
    WHEN t.is_last = 1 THEN t.fits
    WHEN p.high_bytes + t.others_bytes <= t.capacity_bytes THEN 1
    WHEN p.low_bytes + t.others_bytes > t.capacity_bytes THEN 0
  END AS fits,
  CASE
    WHEN t.is_last = 1 THEN t.likely
    WHEN p.needs_bytes + t.others_bytes <= t.capacity_bytes THEN 1
    ELSE 0
  END AS likely,
  t.batch_parts,
  t.logits_parts,
  t.state_parts,
  t.vmap_parts
FROM taken t
LEFT JOIN plan_changes p
  ON t.is_last = 0 AND p.module_id = t.module_id AND p.remedy = t.done
  AND (p.micro_batches IS NULL OR p.micro_batches = t.batch_parts);
