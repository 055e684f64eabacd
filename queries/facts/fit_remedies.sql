-- id: fit_remedies
-- title: What could make a plan fit, how much each remedy saves, and what is needed then
-- words fix by remedy:
--   raise_memory_fraction: a larger pool, if nothing else needs the device's memory:
--     (default_enough?remove XLA_PYTHON_CLIENT_MEM_FRACTION, the default of {fraction_percent:x} is
--     enough|XLA_PYTHON_CLIENT_MEM_FRACTION={fraction_percent:x})
--   donate: donate the state: jax.jit(step, donate_argnums=...) for the arguments that the step
--     returns updated
--   checkpoint: jax.checkpoint on (has_block?{block}, called|the block)[ at {block_line}]: its
--     activations are computed again in the backward pass
--   micro_batch: split the batch into {batch_parts:n} micro-batches and accumulate the gradients
--   fused_attention: fused attention; then check that {square_shape} is gone from the plan
--   chunk_logits: compute the loss in {logits_parts:n} chunks of the tokens, each under
--     jax.checkpoint, so that never all logits (a vocabulary of {vocabulary:n}) are there at once
--   vmap: work in {vmap_parts:n} chunks instead of one vmap: jax.lax.map with batch_size
--   shard_parameters: shard parameters, gradients and state (FSDP) over {state_parts:n} devices
--   narrower_dtype: (gradients_only?keep gradients in bf16: f32 copies of bf16 values of their
--     dimensions are live at the peak|compute in bf16, with parameters in f32: the activations in
--     f32 fall to half)
--   less_workspace: let the library calls use less scratch: another algorithm, or smaller calls
--   shorter_sequence: half the sequence: sequence by sequence buffers fall to a quarter, the others
--     to half
--   donate+checkpoint: donate the state (donate_argnums), and jax.checkpoint on (has_block?{block},
--     called|the block)[ at {block_line}]
--   donate+micro_batch: donate the state (donate_argnums), and split the batch into {batch_parts:n}
--     micro-batches
--   donate+fused_attention: donate the state (donate_argnums), and fused attention for
--     {square_shape}
--   donate+chunk_logits: donate the state (donate_argnums), and compute the loss in
--     {logits_parts:n} chunks of the tokens
--   checkpoint+micro_batch: jax.checkpoint on (has_block?{block}, called|the block)[ at
--     {block_line}], and split the batch into {rest_parts:n} micro-batches
--   checkpoint+chunk_logits: jax.checkpoint on (has_block?{block}, called|the block)[ at
--     {block_line}], and compute the loss in {logits_parts:n} chunks of the tokens
--   micro_batch+shard_parameters: split the batch into {batch_parts:n} micro-batches, and shard
--     parameters, gradients and state (FSDP) over {state_parts:n} devices
--   checkpoint+shard_parameters: jax.checkpoint on (has_block?{block}, called|the block)[ at
--     {block_line}], and shard parameters, gradients and state (FSDP) over {state_parts:n} devices
-- words cost by remedy:
--   raise_memory_fraction: less memory for libraries and other processes on the device
--   donate: none; the saving is an upper bound
--   checkpoint: about one more forward pass
--   micro_batch: step time; an accumulator of the size of the gradients
--   fused_attention: none, where a fused kernel supports the shapes
--   chunk_logits: the logits are computed twice
--   vmap: speed, with small chunks
--   shard_parameters: network traffic, and the devices
--   narrower_dtype: precision; the saving is an upper bound
--   less_workspace: speed of these calls; the saving is an upper bound
--   shorter_sequence: shorter context
--   donate+checkpoint: about one more forward pass
--   donate+micro_batch: step time
--   donate+fused_attention: none, where a fused kernel supports the shapes
--   donate+chunk_logits: the logits are computed twice
--   checkpoint+micro_batch: about one more forward pass, and step time
--   checkpoint+chunk_logits: about one more forward pass
--   micro_batch+shard_parameters: step time, network traffic, and the devices
--   checkpoint+shard_parameters: about one more forward pass, network traffic, and the devices
-- columns:
--   capture_id: the capture
--   device_id: the device; NULL without devices
--   module_id: the module
--   remedy: its key; of a pair both, joined by +
--   preference: the one to try first has the smallest; pairs, which are there where nothing alone
--     is enough, come last
--   fix: what to do
--   saving_bytes: what it saves (bytes); NULL when it does not make the step smaller
--   needs_bytes: plan and other arrays, less the saving (bytes)
--   fits: 1 when that is within the capacity, 0 when not, NULL: too near to tell, the saving is an
--     upper bound that would have to be reached, or of the device only its target is known
--   likely: 1 when needs_bytes is within the capacity, 0 when not
--   cost: what it costs
--   changes_results: 0 or 1
--   leading_role: the role that dominates the heap peak
CREATE VIEW fit_remedies AS
WITH powers AS (
  SELECT 2 AS parts UNION ALL SELECT 4 UNION ALL SELECT 8 UNION ALL SELECT 16 UNION ALL SELECT 32
  UNION ALL SELECT 64 UNION ALL SELECT 128 UNION ALL SELECT 256
),
margins AS (
  SELECT
    MAX(CASE WHEN t.name = 'fit_margin_percent' THEN t.setting END) AS same_percent,
    MAX(CASE WHEN t.name = 'fit_margin_schedule_percent' THEN t.setting END) AS schedule_percent,
    MAX(CASE WHEN t.name = 'fit_margin_bound_percent' THEN t.setting END) AS bound_percent,
    MAX(CASE WHEN t.name = 'logits_chunks' THEN t.setting END) AS logits_parts,
    MAX(CASE WHEN t.name = 'fraction_default_percent' THEN t.setting END) AS default_percent,
    MAX(CASE WHEN t.name = 'fraction_margin_percent' THEN t.setting END) AS spare_percent,
    MAX(CASE WHEN t.name = 'fraction_max_percent' THEN t.setting END) AS max_percent
  FROM settings t
),
-- What is there to save. State is what sharding splits: parameters, results, and gradients of their
-- shapes.
needs AS (
  SELECT
    p.capture_id,
    p.device_id,
    p.module_id,
    p.leading_role,
    p.plan_bytes,
    p.plan_bytes + p.others_bytes AS total_bytes,
    p.capacity_bytes,
    -- Whether a device has as much as the largest of its target is not known.
    CASE WHEN p.capacity_source = 'largest device' THEN 1 ELSE 0 END AS capacity_is_bound,
    p.memory_bytes,
    p.stack_bytes + p.block_bytes AS checkpoint_bytes,
    p.block_bytes,
    p.forward_bytes,
    p.platform,
    p.block,
    p.block_line,
    p.batch_bytes,
    p.accumulator_bytes,
    p.square_bytes,
    p.square_shape,
    p.logits_bytes,
    p.vocabulary,
    p.logits_bytes - CAST((p.logits_bytes - p.logits_bytes % NULLIF(g.logits_parts, 0))
      / NULLIF(g.logits_parts, 0) AS BIGINT)
      -- Chunks of the loss accumulate the gradient of the weights that make the logits.
      - COALESCE((SELECT MAX(a.bytes)
        FROM plan_allocations a
        WHERE a.module_id = p.module_id AND a.class = 'parameter' AND a.forward_read = 1
          AND (LOWER(a.shape) LIKE '%[' || CAST(p.vocabulary AS VARCHAR(20)) || ',%'
            OR LOWER(a.shape) LIKE '%,' || CAST(p.vocabulary AS VARCHAR(20)) || ']')), 0)
      AS logits_saving,
    g.logits_parts,
    p.vmap_bytes,
    p.parameter_bytes + p.output_bytes + COALESCE(p.gradient_bytes, 0) AS state_bytes,
    p.f32_bytes,
    p.f32_copy_bytes,
    p.workspace_bytes,
    s.bytes AS donation_bytes,
    s.likely_bytes AS donation_likely_bytes,
    s.sure_bytes AS donation_sure_bytes,
    g.same_percent,
    g.schedule_percent,
    g.bound_percent,
    g.default_percent,
    g.spare_percent,
    g.max_percent,
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
  CROSS JOIN margins g
  LEFT JOIN donation_savings s ON s.module_id = p.module_id
),
-- Into how many parts: the fewest that make it fit for sure, else as many as are tried.
tried AS (
  SELECT
    n.*,
    w.parts,
    CASE WHEN w.parts <= (SELECT t.setting FROM settings t WHERE t.name = 'micro_batches_max') THEN
      n.batch_bytes - CAST((n.batch_bytes - n.batch_bytes % NULLIF(w.parts, 0))
        / NULLIF(w.parts, 0) AS BIGINT)
        - n.accumulator_bytes
    END AS batch_saving,
    CASE WHEN w.parts <= (SELECT t.setting FROM settings t WHERE t.name = 'micro_batches_max') THEN
      n.batch_bytes - CAST((n.batch_bytes - n.checkpoint_bytes
        - (n.batch_bytes - n.checkpoint_bytes) % NULLIF(w.parts, 0)) / NULLIF(w.parts, 0) AS BIGINT)
        - n.accumulator_bytes
    END AS rest_saving,
    CASE WHEN w.parts <= (SELECT t.setting FROM settings t WHERE t.name = 'micro_batches_max') THEN
      n.vmap_bytes - CAST((n.vmap_bytes - n.vmap_bytes % NULLIF(w.parts, 0))
        / NULLIF(w.parts, 0) AS BIGINT)
    END AS vmap_saving,
    CASE WHEN w.parts <= (SELECT t.setting FROM settings t WHERE t.name = 'shards_max') THEN
      n.state_bytes - CAST((n.state_bytes - n.state_bytes % NULLIF(w.parts, 0))
        / NULLIF(w.parts, 0) AS BIGINT)
    END AS state_saving
  FROM needs n
  CROSS JOIN powers w
),
enough AS (
  SELECT
    t.*,
    CAST((100 * t.capacity_bytes
        - 100 * t.capacity_bytes % NULLIF(100 + t.schedule_percent, 0))
      / NULLIF(100 + t.schedule_percent, 0) AS BIGINT) AS sure_bytes
  FROM tried t
),
split AS (
  SELECT
    e.*,
    COALESCE(
      MIN(CASE WHEN e.total_bytes - e.batch_saving <= e.sure_bytes THEN e.parts END) OVER (
        PARTITION BY e.module_id, e.device_id),
      MAX(CASE WHEN e.batch_saving IS NOT NULL THEN e.parts END) OVER (
        PARTITION BY e.module_id, e.device_id)
    ) AS batch_parts,
    COALESCE(
      MIN(CASE WHEN e.total_bytes - e.rest_saving <= e.sure_bytes THEN e.parts END) OVER (
        PARTITION BY e.module_id, e.device_id),
      MAX(CASE WHEN e.rest_saving IS NOT NULL THEN e.parts END) OVER (
        PARTITION BY e.module_id, e.device_id)
    ) AS rest_parts,
    COALESCE(
      MIN(CASE WHEN e.total_bytes - e.vmap_saving <= e.sure_bytes THEN e.parts END) OVER (
        PARTITION BY e.module_id, e.device_id),
      MAX(CASE WHEN e.vmap_saving IS NOT NULL THEN e.parts END) OVER (
        PARTITION BY e.module_id, e.device_id)
    ) AS vmap_parts,
    COALESCE(
      MIN(CASE WHEN e.total_bytes - e.state_saving <= e.sure_bytes THEN e.parts END) OVER (
        PARTITION BY e.module_id, e.device_id),
      MAX(CASE WHEN e.state_saving IS NOT NULL THEN e.parts END) OVER (
        PARTITION BY e.module_id, e.device_id)
    ) AS state_parts
  FROM enough e
),
chosen AS (
  SELECT
    s.*,
    MAX(CASE WHEN s.parts = s.batch_parts THEN s.batch_saving END) OVER (
      PARTITION BY s.module_id, s.device_id) AS chosen_batch_saving,
    MAX(CASE WHEN s.parts = s.rest_parts THEN s.rest_saving END) OVER (
      PARTITION BY s.module_id, s.device_id) AS chosen_rest_saving,
    MAX(CASE WHEN s.parts = s.vmap_parts THEN s.vmap_saving END) OVER (
      PARTITION BY s.module_id, s.device_id) AS chosen_vmap_saving,
    MAX(CASE WHEN s.parts = s.state_parts THEN s.state_saving END) OVER (
      PARTITION BY s.module_id, s.device_id) AS chosen_state_saving
  FROM split s
),
-- `single`: 0 for pairs. `margin`: how the prediction may be off: 0 it keeps the schedule, 1 the
-- compiler schedules anew, 2 the compiler also decides what it keeps.
remedies AS (
  SELECT
    'raise_memory_fraction' AS remedy, 0 AS preference, 0 AS changes_results, 1 AS single,
    0 AS margin
  UNION ALL SELECT 'donate', 1, 0, 1, 0
  UNION ALL SELECT 'checkpoint', 2, 0, 1, 2
  UNION ALL SELECT 'micro_batch', 3, 0, 1, 1
  UNION ALL SELECT 'fused_attention', 4, 0, 1, 2
  UNION ALL SELECT 'chunk_logits', 5, 0, 1, 1
  UNION ALL SELECT 'vmap', 6, 0, 1, 1
  UNION ALL SELECT 'shard_parameters', 7, 0, 1, 1
  UNION ALL SELECT 'less_workspace', 8, 0, 1, 2
  UNION ALL SELECT 'narrower_dtype', 9, 1, 1, 2
  UNION ALL SELECT 'shorter_sequence', 10, 1, 1, 2
  UNION ALL SELECT 'donate+checkpoint', 11, 0, 0, 2
  UNION ALL SELECT 'donate+chunk_logits', 12, 0, 0, 1
  UNION ALL SELECT 'donate+fused_attention', 13, 0, 0, 2
  UNION ALL SELECT 'donate+micro_batch', 14, 0, 0, 1
  UNION ALL SELECT 'checkpoint+chunk_logits', 15, 0, 0, 2
  UNION ALL SELECT 'checkpoint+micro_batch', 16, 0, 0, 2
  UNION ALL SELECT 'checkpoint+shard_parameters', 17, 0, 0, 2
  UNION ALL SELECT 'micro_batch+shard_parameters', 18, 0, 0, 1
),
sized AS (
  SELECT
    z.*,
    r.remedy,
    r.preference,
    r.changes_results,
    r.single,
    CASE r.margin WHEN 0 THEN z.same_percent WHEN 1 THEN z.schedule_percent ELSE z.bound_percent
    END AS margin_percent,
    CASE r.remedy
      WHEN 'donate' THEN z.donation_bytes
      WHEN 'checkpoint' THEN z.checkpoint_bytes
      WHEN 'micro_batch' THEN z.chosen_batch_saving
      WHEN 'fused_attention' THEN z.square_bytes
      WHEN 'chunk_logits' THEN z.logits_saving
      WHEN 'vmap' THEN
        CASE
          WHEN 100 * z.vmap_bytes
            >= (SELECT t.setting FROM settings t WHERE t.name = 'role_min_percent') * z.plan_bytes
            THEN z.chosen_vmap_saving
        END
      WHEN 'shard_parameters' THEN z.chosen_state_saving
      WHEN 'narrower_dtype' THEN
        CASE
          WHEN z.f32_copy_bytes > 0
            THEN CAST((z.f32_copy_bytes - z.f32_copy_bytes % 2) / 2 AS BIGINT)
          ELSE CAST((z.f32_bytes - z.f32_bytes % 2) / 2 AS BIGINT)
        END
      WHEN 'less_workspace' THEN z.workspace_bytes
      WHEN 'shorter_sequence' THEN
        CASE
          WHEN z.square_bytes > 0 THEN
            z.square_bytes - CAST((z.square_bytes - z.square_bytes % 4) / 4 AS BIGINT)
            + CAST((z.batch_bytes - z.square_bytes - (z.batch_bytes - z.square_bytes) % 2) / 2
              AS BIGINT)
        END
      WHEN 'donate+checkpoint' THEN z.donation_bytes + z.checkpoint_bytes
      WHEN 'donate+chunk_logits' THEN z.donation_bytes + z.logits_saving
      WHEN 'donate+fused_attention' THEN z.donation_bytes + z.square_bytes
      WHEN 'donate+micro_batch' THEN z.donation_bytes + z.chosen_batch_saving
      WHEN 'checkpoint+chunk_logits' THEN z.checkpoint_bytes + z.logits_saving
      WHEN 'checkpoint+micro_batch' THEN z.chosen_rest_saving
      WHEN 'checkpoint+shard_parameters' THEN z.checkpoint_bytes + z.chosen_state_saving
      WHEN 'micro_batch+shard_parameters' THEN z.chosen_batch_saving + z.chosen_state_saving
    END AS saving_bytes,
    -- What of the saving is not sure: of donation what lives in the results' memory; of blocks all,
    -- where the compiler is not known and may be one that undoes it; of types all, since the
    -- compiler chooses where it converts; and a kernel of a TPU keeps statistics as long as a tile.
    CASE
      WHEN LOWER(r.remedy) LIKE 'donate%' THEN z.donation_bytes - z.donation_sure_bytes
      ELSE 0
    END
      + CASE
        WHEN LOWER(r.remedy) LIKE '%checkpoint%' AND z.platform IS NULL THEN z.block_bytes
        ELSE 0
      END
      + CASE
        WHEN LOWER(r.remedy) LIKE '%fused_attention' AND COALESCE(z.platform, 'tpu') = 'tpu'
          THEN z.square_bytes
        ELSE 0
      END
      + CASE r.remedy
        WHEN 'less_workspace' THEN z.workspace_bytes
        WHEN 'narrower_dtype' THEN z.f32_bytes + z.f32_copy_bytes
        ELSE 0
      END AS unsure_bytes,
    -- What may be saved beyond it: recomputing may free other values of the forward pass too.
    CASE
      WHEN LOWER(r.remedy) LIKE '%checkpoint%' AND z.forward_bytes > z.checkpoint_bytes
        THEN z.forward_bytes - z.checkpoint_bytes
      ELSE 0
    END AS more_bytes,
    CASE
      WHEN LOWER(r.remedy) LIKE 'donate%' THEN z.donation_bytes - z.donation_likely_bytes
      ELSE 0
    END AS unlikely_bytes
  FROM chosen z
  CROSS JOIN remedies r
  WHERE z.parts = 2
),
alone AS (
  SELECT
    s.*,
    s.total_bytes - COALESCE(s.saving_bytes, 0) AS needs_bytes,
    CASE
      WHEN s.remedy = 'raise_memory_fraction' THEN 1
      WHEN (100 + s.margin_percent) * (s.total_bytes - s.saving_bytes + s.unsure_bytes)
        <= 100 * s.capacity_bytes THEN CASE WHEN s.capacity_is_bound = 0 THEN 1 END
      WHEN (100 - s.margin_percent) * (s.total_bytes - s.saving_bytes - s.more_bytes)
        > 100 * s.capacity_bytes
        THEN 0
    END AS fits,
    CASE
      WHEN s.remedy = 'raise_memory_fraction' THEN 1
      WHEN s.total_bytes - s.saving_bytes + s.unlikely_bytes <= s.capacity_bytes THEN 1
      ELSE 0
    END AS likely,
    -- Of the device's memory, rounded up, and a margin.
    CAST((100 * s.total_bytes + s.memory_bytes - 1
      - (100 * s.total_bytes + s.memory_bytes - 1) % NULLIF(s.memory_bytes, 0))
      / NULLIF(s.memory_bytes, 0) AS BIGINT) + s.spare_percent AS wanted_percent
  FROM sized s
  WHERE s.saving_bytes > 0 OR (s.remedy = 'raise_memory_fraction' AND s.pool_helps = 1)
),
-- Both halves of a pair must save something, and no single one be enough: more devices may not be
-- at hand, and other results not be wanted.
paired AS (
  SELECT
    a.*,
    MAX(CASE
      WHEN a.remedy = 'shard_parameters' OR a.changes_results = 1 THEN 0
      ELSE a.single * a.likely
    END) OVER (PARTITION BY a.module_id, a.device_id) AS any_enough,
    MAX(CASE WHEN a.remedy = 'donate' THEN 1 ELSE 0 END) OVER (
      PARTITION BY a.module_id, a.device_id) AS has_donate,
    MAX(CASE WHEN a.remedy = 'checkpoint' THEN 1 ELSE 0 END) OVER (
      PARTITION BY a.module_id, a.device_id) AS has_checkpoint,
    MAX(CASE WHEN a.remedy = 'micro_batch' THEN 1 ELSE 0 END) OVER (
      PARTITION BY a.module_id, a.device_id) AS has_micro_batch,
    MAX(CASE WHEN a.remedy = 'fused_attention' THEN 1 ELSE 0 END) OVER (
      PARTITION BY a.module_id, a.device_id) AS has_fused_attention,
    MAX(CASE WHEN a.remedy = 'chunk_logits' THEN 1 ELSE 0 END) OVER (
      PARTITION BY a.module_id, a.device_id) AS has_chunk_logits
  FROM alone a
)
SELECT
  p.*,
  CASE WHEN p.block IS NOT NULL THEN 1 ELSE 0 END AS has_block,
  CASE WHEN p.f32_copy_bytes > 0 THEN 1 ELSE 0 END AS gradients_only,
  CASE WHEN p.wanted_percent <= p.default_percent THEN 1 ELSE 0 END AS default_enough,
  CASE
    WHEN p.wanted_percent <= p.default_percent THEN p.default_percent
    WHEN p.wanted_percent > p.max_percent THEN p.max_percent
    ELSE p.wanted_percent
  END AS fraction_percent
FROM paired p
WHERE p.single = 1
  OR (p.any_enough = 0 AND p.likely = 1
    AND CASE p.remedy
      WHEN 'donate+checkpoint' THEN p.has_donate * p.has_checkpoint
      WHEN 'donate+chunk_logits' THEN p.has_donate * p.has_chunk_logits
      WHEN 'donate+fused_attention' THEN p.has_donate * p.has_fused_attention
      WHEN 'donate+micro_batch' THEN p.has_donate * p.has_micro_batch
      WHEN 'checkpoint+chunk_logits' THEN p.has_checkpoint * p.has_chunk_logits
      WHEN 'checkpoint+micro_batch' THEN p.has_checkpoint * p.has_micro_batch
      WHEN 'checkpoint+shard_parameters' THEN p.has_checkpoint
      ELSE p.has_micro_batch
    END = 1);
