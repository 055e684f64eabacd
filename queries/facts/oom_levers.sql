-- id: oom_levers
-- title: What could make the program of an error text fit, as far as the evidence supports it
-- empty without: oom_events
-- columns:
--   oom_event_id: the event
--   capture_id: the log
--   stage: compile or run
--   lever: its short name
--   preference: the one to try first has the smallest
--   fix: what to do
--   saving_bytes: what it saves at most (bytes); NULL when that can't be told
--   needs_bytes: what is needed then (bytes); NULL when that can't be told
--   fits: 1 when that is within the capacity, 0 when not; NULL when it can't be told
--   cost: what it costs
--   changes_results: 0 or 1
CREATE VIEW oom_levers AS
WITH parts AS (
  SELECT
    k.oom_event_id,
    CAST(SUM(k.padding_bytes) AS BIGINT) AS padding_bytes,
    CAST(SUM(CASE WHEN k.square = 1 THEN k.bytes ELSE 0 END) AS BIGINT) AS square_bytes,
    CAST(SUM(CASE WHEN k.forward = 1 THEN k.bytes ELSE 0 END) AS BIGINT) AS forward_bytes,
    MAX(CASE WHEN k.forward = 1 THEN k.each_bytes ELSE 0 END) AS forward_each_bytes,
    CAST(SUM(CASE WHEN k.forward = 1 THEN k.count ELSE 0 END) AS BIGINT) AS forward_count,
    CAST(SUM(CASE WHEN k.forward + k.backward > 0 THEN k.bytes ELSE 0 END) AS BIGINT)
      AS gradient_bytes,
    CAST(SUM(CASE WHEN k.upcast = 1 THEN k.bytes ELSE 0 END) AS BIGINT) AS upcast_bytes,
    CAST(SUM(CASE WHEN k.downcast = 1 THEN k.bytes ELSE 0 END) AS BIGINT) AS downcast_bytes,
    CAST(SUM(CASE WHEN k.random = 1 THEN k.bytes ELSE 0 END) AS BIGINT) AS random_bytes,
    CAST(SUM(CASE WHEN k.batched = 1 THEN k.bytes ELSE 0 END) AS BIGINT) AS batched_bytes,
    CAST(SUM(CASE WHEN k.gathered = 1 THEN k.bytes ELSE 0 END) AS BIGINT) AS gathered_bytes,
    MAX(k.each_bytes) AS largest_bytes,
    MAX(CASE WHEN k.position = 1 THEN COALESCE(k.shape, 'it') END) AS first_shape,
    MAX(CASE WHEN k.position = 1 THEN k.count END) AS first_count,
    MAX(CASE WHEN k.position = 1 THEN k.bytes END) AS first_bytes,
    MAX(CASE WHEN k.position = 1 THEN k.each_bytes END) AS first_each_bytes,
    MAX(CASE WHEN k.position = 1 THEN k.place_words END) AS first_place
  FROM oom_part_kinds k
  GROUP BY k.oom_event_id
),
squares AS (
  SELECT
    k.oom_event_id,
    k.shape,
    ROW_NUMBER() OVER (PARTITION BY k.oom_event_id ORDER BY k.position) AS place
  FROM oom_part_kinds k
  WHERE k.square = 1
),
known AS (
  SELECT
    f.oom_event_id,
    f.capture_id,
    f.stage,
    f.kind,
    f.memory_space,
    -- A matched plan says exactly what these levers save: fit_levers.
    CASE
      WHEN EXISTS (SELECT 1 FROM fit_levers x WHERE x.module_id = f.module_id) THEN 1
      ELSE 0
    END AS has_plan,
    b.branch,
    -- Of a failed request the program as a whole is what must fit, where the text says it.
    -- Of a single allocation (T7) the rest of the program is not known.
    CASE WHEN f.kind = 'T7' THEN NULL WHEN f.stage = 'compile' THEN f.needed_bytes
      ELSE f.total_bytes END AS total_bytes,
    f.capacity_bytes,
    f.arguments_bytes,
    CASE
      WHEN f.output_bytes - COALESCE(f.alias_bytes, 0) < f.arguments_bytes
        THEN f.output_bytes - COALESCE(f.alias_bytes, 0)
      ELSE f.arguments_bytes
    END AS donation_bytes,
    p.padding_bytes,
    p.square_bytes,
    q.shape AS square_shape,
    p.forward_bytes - p.forward_each_bytes AS checkpoint_bytes,
    p.forward_count,
    p.gradient_bytes,
    p.upcast_bytes,
    p.downcast_bytes,
    p.random_bytes,
    p.batched_bytes,
    p.gathered_bytes,
    p.largest_bytes,
    p.first_shape,
    p.first_count,
    p.first_bytes,
    p.first_each_bytes,
    p.first_place,
    b.chunk_bytes - b.chunk_each_bytes AS repeated_bytes
  FROM oom_failures f
  JOIN oom_branches b ON b.oom_event_id = f.oom_event_id
  LEFT JOIN parts p ON p.oom_event_id = f.oom_event_id
  LEFT JOIN squares q ON q.oom_event_id = f.oom_event_id AND q.place = 1
  WHERE f.stage IN ('compile', 'run')
),
levers AS (
  SELECT 'shape' AS lever, 1 AS preference, 'a look at the program' AS cost, 0 AS changes_results
  UNION ALL SELECT 'release', 2, 'none', 0
  UNION ALL SELECT 'holder', 3, 'none', 0
  UNION ALL SELECT 'sparse_serial', 4, 'tables one after another: less parallel', 0
  UNION ALL SELECT 'sparse_tables', 5, 'a change of the tables', 0
  UNION ALL SELECT 'padding', 6, 'a transpose, or another order of axes', 0
  UNION ALL SELECT 'donation', 7, 'none; the saving is an upper bound', 0
  UNION ALL SELECT 'random', 8, 'other random numbers for the same key', 1
  UNION ALL SELECT 'fused_attention', 9, 'none, where a fused kernel supports the shapes', 0
  UNION ALL SELECT 'checkpoint', 10, 'about one more forward pass', 0
  UNION ALL SELECT 'upcast', 11, 'precision of these values', 1
  UNION ALL SELECT 'downcast', 12, 'none', 0
  UNION ALL SELECT 'batched', 13, 'a loop over chunks: time', 0
  UNION ALL SELECT 'outputs', 14, 'what is not returned must be computed later', 0
  UNION ALL SELECT 'constants', 15, 'none', 0
  UNION ALL SELECT 'shard_arguments', 16, 'network traffic, and the devices', 0
  UNION ALL SELECT 'shard_largest', 17, 'network traffic, and the devices', 0
  UNION ALL SELECT 'micro_batch', 18, 'step time', 0
  UNION ALL SELECT 'smaller', 19, 'a smaller batch is another training', 1
  UNION ALL SELECT 'dump', 20, 'one more failing compile', 0
  UNION ALL SELECT 'flags', 21, 'compile time or speed; a last resort', 0
  UNION ALL SELECT 'unified', 22, 'very slow transfers; a last resort', 0
),
sized AS (
  SELECT
    k.oom_event_id,
    k.capture_id,
    k.stage,
    k.branch,
    k.has_plan,
    k.total_bytes,
    k.capacity_bytes,
    l.lever,
    l.preference,
    l.cost,
    l.changes_results,
    CASE l.lever
      WHEN 'shape' THEN
        'check the shapes of the arguments and the mesh: a product of dimensions is wrong, or a'
          || ' sharding is missing; no option helps'
      WHEN 'release' THEN
        'free earlier results before the next step: del, donate the input, or let the host'
          || ' language collect its garbage (gc)'
      WHEN 'holder' THEN
        'look for who holds the memory: jax.live_arrays(), device.memory_stats(), other'
          || ' processes on the device; hide it from a second framework'
      WHEN 'sparse_serial' THEN
        'handle the tables one after another: xla_sc_num_serialized_tables_to_optimize_hbm'
      WHEN 'sparse_tables' THEN
        'check that tables are mod-sharded over all chips and features are 8 floats or wider;'
          || ' lower max_unique_nz_per_row and maximum_parallel_iterations'
      WHEN 'padding' THEN
        'make a large axis the minor-most one, or fill the tile (128 in the last dimension, 8 in'
          || ' the one before): ' || k.first_shape || ' is mostly padding'
      WHEN 'donation' THEN
        'donate what the program returns updated: jax.jit(f, donate_argnums=...)'
      WHEN 'random' THEN
        'partition the random numbers: jax_threefry_partitionable=True, or'
          || ' jax_default_prng_impl="rbg"; initialize layer by layer'
      WHEN 'fused_attention' THEN
        'fused (flash, splash) attention; then check that ' || k.square_shape || ' is gone'
      WHEN 'checkpoint' THEN
        'jax.checkpoint on the block: its activations are computed again in the backward pass'
      WHEN 'upcast' THEN 'compute in bf16 where f32 copies are made (convert_element_type), or tile'
      WHEN 'downcast' THEN
        'cast the weights once, when they are loaded: bf16 copies of f32 arguments are made inside'
      WHEN 'batched' THEN
        'in chunks instead of all at once: jax.lax.map(f, xs, batch_size=...) instead of vmap'
      WHEN 'outputs' THEN
        'return less: sums instead of histories, fewer copies per vmap, no buffers that nobody'
          || ' reads'
      WHEN 'shard_arguments' THEN
        'shard the arguments over the mesh (FSDP), or hold them in bf16; 2 devices save half'
      WHEN 'shard_largest' THEN
        'annotate the sharding of ' || k.first_shape || COALESCE(' (' || k.first_place || ')', '')
          || ': 2 devices save half; a left-over jax.debug.print makes it whole'
      WHEN 'micro_batch' THEN
        'split the batch into micro-batches and accumulate the gradients; 2 save half of these'
      WHEN 'constants' THEN
        'pass large arrays as arguments: those that a jitted function captures become constants of'
          || ' every executable'
      WHEN 'smaller' THEN
        'a smaller batch or a shorter sequence per device, or the work over more devices'
      WHEN 'unified' THEN
        'let the GPU use the host''s memory: TF_FORCE_UNIFIED_MEMORY=1 and'
          || ' XLA_PYTHON_CLIENT_MEM_FRACTION above 1'
      WHEN 'dump' THEN
        'compile once more with XLA_FLAGS=--xla_dump_to=DIR and give DIR the same --run: the plan'
          || ' says which buffers and lines'
      ELSE
        'xla_tpu_rematerialization_algo=PEAK_PRIORITY, xla_latency_hiding_scheduler_rerun=5,'
          || ' xla_memory_scheduler=kBrkga'
    END AS fix,
    CASE l.lever
      WHEN 'release' THEN k.repeated_bytes
      WHEN 'padding' THEN k.padding_bytes
      WHEN 'donation' THEN k.donation_bytes
      WHEN 'fused_attention' THEN k.square_bytes
      WHEN 'random' THEN k.random_bytes
      WHEN 'checkpoint' THEN
        CASE WHEN k.forward_count > 1 THEN k.checkpoint_bytes
          ELSE k.first_bytes - k.first_each_bytes END
      WHEN 'upcast' THEN CAST((k.upcast_bytes - k.upcast_bytes % 2) / 2 AS BIGINT)
      WHEN 'downcast' THEN k.downcast_bytes
      WHEN 'shard_arguments' THEN CAST((k.arguments_bytes - k.arguments_bytes % 2) / 2 AS BIGINT)
      WHEN 'shard_largest' THEN CAST((k.largest_bytes - k.largest_bytes % 2) / 2 AS BIGINT)
      WHEN 'micro_batch' THEN CAST((k.gradient_bytes - k.gradient_bytes % 2) / 2 AS BIGINT)
    END AS saving_bytes,
    CASE l.lever
      WHEN 'shape' THEN CASE WHEN k.branch = 'absurd' THEN 1 ELSE 0 END
      WHEN 'release' THEN CASE WHEN k.branch = 'equal_chunks' THEN 1 ELSE 0 END
      WHEN 'holder' THEN
        CASE WHEN k.branch IN ('victim', 'shortage') THEN 1
          WHEN k.stage = 'run' AND k.branch IN ('unlisted', 'equal_chunks') THEN 1 ELSE 0 END
      WHEN 'sparse_serial' THEN CASE WHEN k.branch = 'sparse_core' THEN 1 ELSE 0 END
      WHEN 'sparse_tables' THEN CASE WHEN k.branch = 'sparse_core' THEN 1 ELSE 0 END
      WHEN 'padding' THEN
        CASE WHEN k.padding_bytes >= (SELECT s.setting FROM settings s
          WHERE s.name = 'padding_min_bytes') THEN 1 ELSE 0 END
      WHEN 'donation' THEN
        CASE WHEN k.donation_bytes >= (SELECT s.setting FROM settings s
          WHERE s.name = 'donation_min_bytes') THEN 1 ELSE 0 END
      WHEN 'random' THEN CASE WHEN k.random_bytes > 0 THEN 1 ELSE 0 END
      WHEN 'fused_attention' THEN CASE WHEN k.square_bytes > 0 THEN 1 ELSE 0 END
      WHEN 'checkpoint' THEN
        CASE WHEN k.forward_count > 1 THEN 1
          -- Many of one size without a name: most likely a layer's, once per layer.
          WHEN k.branch = 'accumulated' AND k.first_count > 1 AND k.first_place IS NULL THEN 1
          ELSE 0 END
      WHEN 'upcast' THEN CASE WHEN k.upcast_bytes > 0 THEN 1 ELSE 0 END
      WHEN 'downcast' THEN
        CASE WHEN k.downcast_bytes > 0 AND k.arguments_bytes > 0 THEN 1 ELSE 0 END
      WHEN 'batched' THEN CASE WHEN k.batched_bytes > 0 THEN 1 ELSE 0 END
      WHEN 'outputs' THEN CASE WHEN k.branch = 'outputs' THEN 1 ELSE 0 END
      WHEN 'shard_arguments' THEN CASE WHEN k.branch = 'arguments' THEN 1 ELSE 0 END
      WHEN 'shard_largest' THEN CASE WHEN k.branch = 'one_allocation' THEN 1 ELSE 0 END
      WHEN 'micro_batch' THEN CASE WHEN k.gradient_bytes > 0 THEN 1 ELSE 0 END
      WHEN 'constants' THEN CASE WHEN LOWER(k.kind) LIKE 'g4%' THEN 1 ELSE 0 END
      WHEN 'smaller' THEN
        CASE WHEN k.branch IN ('accumulated', 'one_allocation', 'temps') THEN 1
          WHEN k.stage = 'compile' AND k.branch = 'unlisted' THEN 1 ELSE 0 END
      WHEN 'unified' THEN
        CASE WHEN k.stage = 'run' AND k.branch = 'temps' AND k.memory_space = 'gpu' THEN 1 ELSE 0
        END
      WHEN 'dump' THEN CASE WHEN k.branch = 'unlisted' AND k.stage = 'compile' THEN 1 ELSE 0 END
      ELSE
        CASE WHEN k.stage = 'compile' AND k.branch = 'accumulated' AND k.memory_space = 'hbm' THEN 1
          ELSE 0 END
    END AS applies
  FROM known k
  CROSS JOIN levers l
)
SELECT
  z.oom_event_id,
  z.capture_id,
  z.stage,
  z.lever,
  z.preference,
  z.fix,
  CASE WHEN z.saving_bytes > 0 THEN z.saving_bytes END AS saving_bytes,
  CASE WHEN z.saving_bytes > 0 THEN z.total_bytes - z.saving_bytes END AS needs_bytes,
  CASE
    WHEN z.saving_bytes > 0 AND z.total_bytes - z.saving_bytes <= z.capacity_bytes THEN 1
    WHEN z.saving_bytes > 0 AND z.total_bytes - z.saving_bytes > z.capacity_bytes THEN 0
  END AS fits,
  z.cost,
  z.changes_results
FROM sized z
-- Of a size that can't be meant nothing is to be tuned.
WHERE z.applies = 1 AND (z.branch <> 'absurd' OR z.lever = 'shape')
  AND NOT (z.has_plan = 1
    AND z.lever IN ('donation', 'fused_attention', 'checkpoint', 'shard_arguments', 'micro_batch',
      'smaller'));
