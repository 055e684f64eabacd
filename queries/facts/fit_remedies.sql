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
--     {block_line}], and split the batch into {batch_parts:n} micro-batches
--   checkpoint+chunk_logits: jax.checkpoint on (has_block?{block}, called|the block)[ at
--     {block_line}], and compute the loss in {logits_parts:n} chunks of the tokens
--   micro_batch+shard_parameters: split the batch into {batch_parts:n} micro-batches, and shard
--     parameters, gradients and state (FSDP) over {state_parts:n} devices
--   checkpoint+shard_parameters: jax.checkpoint on (has_block?{block}, called|the block)[ at
--     {block_line}], and shard parameters, gradients and state (FSDP) over {state_parts:n} devices
--   donate+checkpoint+micro_batch: donate the state (donate_argnums), jax.checkpoint on
--     (has_block?{block}, called|the block)[ at {block_line}], and split the batch into
--     {batch_parts:n} micro-batches
-- words cost by remedy:
--   raise_memory_fraction: less memory for libraries and other processes on the device
--   donate: none
--   checkpoint: about one more forward pass
--   micro_batch: step time; an accumulator of the size of the gradients
--   fused_attention: none, where a fused kernel supports the shapes
--   chunk_logits: the logits are computed twice
--   vmap: speed, with small chunks
--   shard_parameters: network traffic, and the devices
--   narrower_dtype: precision; the compiler decides what stays in f32
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
--   donate+checkpoint+micro_batch: about one more forward pass, and step time
-- columns:
--   capture_id: the capture
--   device_id: the device; NULL without devices
--   module_id: the module
--   remedy: its key; of several all, joined by +
--   preference: the one to try first has the smallest; several together, which are there where
--     fewer are not enough, come last
--   fix: what to do
--   saving_bytes: what it saves (bytes); NULL when it does not make the step smaller
--   needs_bytes: what the changed plan and other arrays need (bytes)
--   needs_low_bytes: the low end of the range in which the truth lies (bytes); NULL: open
--   needs_high_bytes: its high end (bytes); NULL: open
--   others_bytes: what else was in use, as part of what is needed (bytes)
--   capacity_bytes: what the device may use (bytes)
--   fits: 1 when all of the range is within the capacity, 0 when none of it is, else NULL; never 1
--     where of the device only its target is known
--   likely: 1 when needs_bytes is within the capacity, 0 when not
--   cost: what it costs
--   changes_results: 0 or 1
--   batch_parts: micro-batches; NULL: the batch is not split
--   logits_parts: chunks of the loss; NULL: it is not split
--   state_parts: devices that share the state; NULL: as before
--   vmap_parts: chunks instead of one vmap; NULL: it is none
--   leading_role: the role that dominates the heap peak
-- how to read: The plan is replayed with the remedy (plan_changes), in as few parts as are enough,
--   else in those that save most. Where that can't be, and for the scratch of library calls and a
--   vmap, it is by what is live at the heap peak (peak_offers), and the range is wide.
CREATE VIEW fit_remedies AS
WITH limits AS (
  SELECT
    MAX(CASE WHEN t.name = 'low_capacity_percent' THEN t.setting END) AS low_percent,
    MAX(CASE WHEN t.name = 'raised_capacity_percent' THEN t.setting END) AS raised_percent,
    MAX(CASE WHEN t.name = 'fraction_default_percent' THEN t.setting END) AS default_percent,
    MAX(CASE WHEN t.name = 'fraction_margin_percent' THEN t.setting END) AS spare_percent,
    MAX(CASE WHEN t.name = 'fraction_max_percent' THEN t.setting END) AS max_percent,
    MAX(CASE WHEN t.name = 'micro_batches_max' THEN t.setting END) AS micro_batches,
    MAX(CASE WHEN t.name = 'shards_max' THEN t.setting END) AS shards
  FROM settings t
),
needs AS (
  SELECT
    p.capture_id,
    p.device_id,
    p.module_id,
    p.leading_role,
    p.plan_bytes,
    p.others_bytes,
    p.plan_bytes + p.others_bytes AS total_bytes,
    p.capacity_bytes,
    -- Whether a device has as much as the largest of its target is not known.
    CASE WHEN p.capacity_source = 'largest device' THEN 1 ELSE 0 END AS capacity_is_bound,
    p.block,
    p.block_line,
    p.square_shape,
    p.vocabulary,
    p.f32_copy_bytes,
    g.default_percent,
    g.max_percent,
    g.micro_batches,
    g.shards,
    CASE
      WHEN p.capacity_source = 'pool'
        AND 100 * p.capacity_bytes < g.low_percent * p.memory_bytes
        AND 100 * (p.plan_bytes + p.others_bytes) <= g.raised_percent * p.memory_bytes
        THEN 1
      ELSE 0
    END AS pool_helps,
    -- Of the device's memory, rounded up, and a margin.
    CAST((100 * (p.plan_bytes + p.others_bytes) + p.memory_bytes - 1
      - (100 * (p.plan_bytes + p.others_bytes) + p.memory_bytes - 1) % NULLIF(p.memory_bytes, 0))
      / NULLIF(p.memory_bytes, 0) AS BIGINT) + g.spare_percent AS wanted_percent
  FROM over_capacity_peaks p
  CROSS JOIN limits g
),
candidates AS (
  SELECT c.module_id, c.remedy, c.micro_batches, c.chunks, c.devices,
    CAST(NULL AS BIGINT) AS vmap_parts, c.needs_bytes, c.low_bytes, c.high_bytes
  FROM plan_changes c
  UNION ALL
  SELECT k.module_id, k.remedy, k.micro_batches, k.chunks, k.devices, k.vmap_parts, k.needs_bytes,
    k.low_bytes, k.high_bytes
  FROM peak_offers k
),
-- Everything that can be tried, in all numbers of parts; part 2 is a larger pool.
ways AS (
  SELECT 1 AS way
  UNION ALL SELECT 2
),
offers AS (
  SELECT n.*,
    CASE y.way WHEN 1 THEN c.remedy ELSE 'raise_memory_fraction' END AS remedy,
    c.micro_batches AS batch_parts,
    c.chunks AS logits_parts,
    c.devices AS state_parts,
    c.vmap_parts,
    CASE y.way WHEN 1 THEN c.needs_bytes + n.others_bytes ELSE n.total_bytes END AS needs_bytes,
    CASE y.way WHEN 1 THEN c.low_bytes + n.others_bytes ELSE n.total_bytes END AS needs_low_bytes,
    CASE y.way WHEN 1 THEN c.high_bytes + n.others_bytes ELSE n.total_bytes END AS needs_high_bytes
  FROM needs n
  CROSS JOIN ways y
  LEFT JOIN candidates c
    ON c.module_id = n.module_id AND y.way = 1
    AND (c.micro_batches IS NULL OR c.micro_batches <= n.micro_batches)
    AND (c.vmap_parts IS NULL OR c.vmap_parts <= n.micro_batches)
    AND (c.devices IS NULL OR c.devices <= n.shards)
    -- Two dimensions of one extent are scores only with a softmax or a product behind them.
    AND (n.square_shape IS NOT NULL
      OR (LOWER(c.remedy) NOT LIKE '%fused_attention' AND c.remedy <> 'shorter_sequence'))
    -- And what leaves the last block is logits only with a vocabulary.
    AND (n.vocabulary IS NOT NULL OR LOWER(c.remedy) NOT LIKE '%chunk_logits')
  WHERE c.module_id IS NOT NULL OR (y.way = 2 AND n.pool_helps = 1)
),
graded AS (
  SELECT
    o.*,
    CASE
      WHEN o.remedy = 'raise_memory_fraction' THEN 1
      WHEN o.needs_high_bytes <= o.capacity_bytes
        THEN CASE WHEN o.capacity_is_bound = 0 THEN 1 END
      WHEN o.needs_low_bytes > o.capacity_bytes THEN 0
    END AS fits,
    CASE
      WHEN o.remedy = 'raise_memory_fraction' OR o.needs_bytes <= o.capacity_bytes THEN 1
      ELSE 0
    END AS likely,
    COALESCE(o.batch_parts, 1) * COALESCE(o.logits_parts, 1) * COALESCE(o.state_parts, 1)
      * COALESCE(o.vmap_parts, 1) AS parts
  FROM offers o
),
-- As few parts as are enough for sure, else as are likely to be, else those that need least.
ordered AS (
  SELECT
    d.*,
    ROW_NUMBER() OVER (
      PARTITION BY d.capture_id, d.device_id, d.module_id, d.remedy
      ORDER BY
        CASE WHEN d.fits = 1 THEN 0 WHEN d.likely = 1 THEN 1 ELSE 2 END,
        CASE WHEN d.likely = 1 THEN d.parts ELSE 0 END NULLS LAST,
        d.needs_bytes NULLS LAST, d.parts NULLS LAST
    ) AS place
  FROM graded d
),
-- `members`: how many remedies it consists of.
remedies AS (
  SELECT
    'raise_memory_fraction' AS remedy, 0 AS preference, 0 AS changes_results, 1 AS members
  UNION ALL SELECT 'donate', 1, 0, 1
  UNION ALL SELECT 'checkpoint', 2, 0, 1
  UNION ALL SELECT 'micro_batch', 3, 0, 1
  UNION ALL SELECT 'fused_attention', 4, 0, 1
  UNION ALL SELECT 'chunk_logits', 5, 0, 1
  UNION ALL SELECT 'vmap', 6, 0, 1
  UNION ALL SELECT 'shard_parameters', 7, 0, 1
  UNION ALL SELECT 'less_workspace', 8, 0, 1
  UNION ALL SELECT 'narrower_dtype', 9, 1, 1
  UNION ALL SELECT 'shorter_sequence', 10, 1, 1
  UNION ALL SELECT 'donate+checkpoint', 11, 0, 2
  UNION ALL SELECT 'donate+chunk_logits', 12, 0, 2
  UNION ALL SELECT 'donate+fused_attention', 13, 0, 2
  UNION ALL SELECT 'donate+micro_batch', 14, 0, 2
  UNION ALL SELECT 'checkpoint+chunk_logits', 15, 0, 2
  UNION ALL SELECT 'checkpoint+micro_batch', 16, 0, 2
  UNION ALL SELECT 'checkpoint+shard_parameters', 17, 0, 2
  UNION ALL SELECT 'micro_batch+shard_parameters', 18, 0, 2
  UNION ALL SELECT 'donate+checkpoint+micro_batch', 19, 0, 3
),
-- Which numbers of remedies are enough without more devices, which may not be at hand, and without
-- other results, which may not be wanted.
chosen AS (
  SELECT
    r.*,
    k.preference,
    k.changes_results,
    k.members,
    MIN(CASE
      WHEN r.likely = 1 AND k.changes_results = 0 AND LOWER(r.remedy) NOT LIKE '%shard_parameters'
        THEN k.members
    END) OVER (PARTITION BY r.capture_id, r.device_id, r.module_id) AS members_enough
  FROM ordered r
  JOIN remedies k ON k.remedy = r.remedy
  WHERE r.place = 1
)
SELECT
  c.capture_id,
  c.device_id,
  c.module_id,
  c.leading_role,
  c.remedy,
  c.preference,
  c.changes_results,
  CASE WHEN c.needs_bytes < c.total_bytes THEN c.total_bytes - c.needs_bytes END AS saving_bytes,
  c.needs_bytes,
  c.needs_low_bytes,
  c.needs_high_bytes,
  c.others_bytes,
  c.capacity_bytes,
  c.fits,
  c.likely,
  c.block,
  c.block_line,
  c.square_shape,
  c.vocabulary,
  c.batch_parts,
  c.logits_parts,
  c.state_parts,
  c.vmap_parts,
  CASE WHEN c.block IS NOT NULL THEN 1 ELSE 0 END AS has_block,
  CASE WHEN c.f32_copy_bytes > 0 THEN 1 ELSE 0 END AS gradients_only,
  CASE WHEN c.wanted_percent <= c.default_percent THEN 1 ELSE 0 END AS default_enough,
  CASE
    WHEN c.wanted_percent <= c.default_percent THEN c.default_percent
    WHEN c.wanted_percent > c.max_percent THEN c.max_percent
    ELSE c.wanted_percent
  END AS fraction_percent
FROM chosen c
WHERE c.members = 1 OR (c.likely = 1 AND COALESCE(c.members_enough, 9) >= c.members);
