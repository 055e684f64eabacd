-- id: oom_log_remedies
-- title: What could make the program of an error log fit, as far as the evidence supports it
-- empty without: oom_events
-- words fix by remedy:
--   check_shapes: check the shapes of the arguments and the mesh: a product of dimensions is wrong,
--     or a sharding is missing; no option helps
--   release: free earlier results before the next step: del, donate the input, or let the host
--     language collect its garbage (gc)
--   find_holder: look for who holds the memory: jax.live_arrays(), device.memory_stats(), other
--     processes on the device; hide it from a second framework
--   serialize_tables: handle the tables one after another:
--     xla_sc_num_serialized_tables_to_optimize_hbm
--   split_tables: check that tables are mod-sharded over all chips and features are 8 floats or
--     wider; lower max_unique_nz_per_row and maximum_parallel_iterations
--   change_layout: make a large axis the minor-most one, or fill the tile (128 in the last
--     dimension, 8 in the one before): {first_shape} is mostly padding
--   donate: donate what the program returns updated: jax.jit(f, donate_argnums=...)
--   partition_random: partition the random numbers: jax_threefry_partitionable=True, or
--     jax_default_prng_impl="rbg"; initialize layer by layer
--   fused_attention: fused (flash, splash) attention; then check that {square_shape} is gone
--   checkpoint: jax.checkpoint on the block: its activations are computed again in the backward
--     pass
--   narrower_dtype: compute in bf16 where f32 copies are made (convert_element_type), or tile
--   cast_on_load: cast the weights once, when they are loaded: bf16 copies of f32 arguments are
--     made inside
--   vmap: work in chunks instead of all at once: jax.lax.map(f, xs, batch_size=...) instead of vmap
--   return_less: return less: sums instead of histories, fewer copies per vmap, no buffers that
--     nobody reads
--   pass_as_argument: pass large arrays as arguments: those that a jitted function captures become
--     constants of every executable
--   shard_parameters: shard the arguments over the mesh (FSDP), or hold them in bf16; 2 devices
--     save half
--   annotate_sharding: annotate the sharding of {first_shape}[ ({made_by})]: 2 devices save half; a
--     left-over jax.debug.print makes it whole
--   micro_batch: split the batch into micro-batches and accumulate the gradients; 2 save half of
--     these
--   smaller_batch: a smaller batch or a shorter sequence per device, or the work over more devices
--   dump_plan: compile once more with XLA_FLAGS=--xla_dump_to=DIR and give DIR the same --run: the
--     plan says which buffers and lines
--   compiler_flags: xla_tpu_rematerialization_algo=PEAK_PRIORITY,
--     xla_latency_hiding_scheduler_rerun=5, xla_memory_scheduler=kBrkga
--   unified_memory: let the GPU use the host's memory: TF_FORCE_UNIFIED_MEMORY=1 and
--     XLA_PYTHON_CLIENT_MEM_FRACTION above 1
-- words cost by remedy:
--   check_shapes: a look at the program
--   release: none
--   find_holder: none
--   serialize_tables: tables one after another: less parallel
--   split_tables: a change of the tables
--   change_layout: a transpose, or another order of axes
--   donate: none; the saving is an upper bound
--   partition_random: other random numbers for the same key
--   fused_attention: none, where a fused kernel supports the shapes
--   checkpoint: about one more forward pass
--   narrower_dtype: precision of these values
--   cast_on_load: none
--   vmap: a loop over chunks: time
--   return_less: what is not returned must be computed later
--   pass_as_argument: none
--   shard_parameters: network traffic, and the devices
--   annotate_sharding: network traffic, and the devices
--   micro_batch: step time
--   smaller_batch: a smaller batch is another training
--   dump_plan: one more failing compile
--   compiler_flags: compile time or speed; a last resort
--   unified_memory: very slow transfers; a last resort
-- columns:
--   oom_event_id: the event
--   capture_id: the error log
--   stage: compile or run
--   remedy: its short name
--   preference: the one to try first has the smallest
--   fix: what to do
--   saving_bytes: what it saves at most (bytes); NULL when that can't be told
--   needs_bytes: what is needed then (bytes); NULL when that can't be told
--   fits: 1 when that is within the capacity, 0 when not; NULL when it can't be told
--   cost: what it costs
--   changes_results: 0 or 1
CREATE VIEW oom_log_remedies AS
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
    MAX(k.each_bytes) AS largest_bytes,
    MAX(CASE WHEN k.position = 1 THEN COALESCE(k.shape, 'it') END) AS first_shape,
    MAX(CASE WHEN k.position = 1 THEN k.count END) AS first_count,
    MAX(CASE WHEN k.position = 1 THEN k.bytes END) AS first_bytes,
    MAX(CASE WHEN k.position = 1 THEN k.each_bytes END) AS first_each_bytes,
    MAX(CASE WHEN k.position = 1 THEN k.made_by END) AS made_by
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
    b.oom_event_id, b.capture_id, b.stage, b.kind, b.memory_space, b.branch, b.capacity_bytes,
    b.arguments_bytes, p.padding_bytes, p.square_bytes, q.shape AS square_shape, p.forward_count,
    p.forward_bytes - p.forward_each_bytes AS checkpoint_bytes, p.gradient_bytes, p.upcast_bytes,
    p.downcast_bytes, p.random_bytes, p.batched_bytes, p.largest_bytes, p.first_shape,
    p.first_count, p.first_bytes, p.first_each_bytes, p.made_by,
    b.chunk_bytes - b.chunk_each_bytes AS repeated_bytes,
    CASE
      WHEN EXISTS (SELECT 1 FROM fit_remedies x WHERE x.module_id = b.module_id) THEN 1
      ELSE 0
    END AS has_plan,
    -- Where a request failed, the program as a whole must fit, if the error log says its size.
    -- Beside a single allocation the rest of the program is not known.
    CASE WHEN b.kind = 'tpu_allocation_exceeded' THEN NULL
      WHEN b.stage = 'compile' THEN b.needed_bytes
      ELSE b.total_bytes END AS total_bytes,
    CASE
      WHEN b.output_bytes - COALESCE(b.alias_bytes, 0) < b.arguments_bytes
        THEN b.output_bytes - COALESCE(b.alias_bytes, 0)
      ELSE b.arguments_bytes
    END AS donation_bytes
  FROM oom_branches b
  LEFT JOIN parts p ON p.oom_event_id = b.oom_event_id
  LEFT JOIN squares q ON q.oom_event_id = b.oom_event_id AND q.place = 1
  WHERE b.stage IN ('compile', 'run')
),
-- `branch`: where it applies whatever the sizes are; `planned`: fit_remedies knows a plan better.
remedies AS (
  SELECT
    'check_shapes' AS remedy, 1 AS preference, 0 AS changes_results, 'absurd' AS branch,
    0 AS planned
  UNION ALL SELECT 'release', 2, 0, 'equal_chunks', 0
  UNION ALL SELECT 'find_holder', 3, 0, NULL, 0
  UNION ALL SELECT 'serialize_tables', 4, 0, 'sparse_core', 0
  UNION ALL SELECT 'split_tables', 5, 0, 'sparse_core', 0
  UNION ALL SELECT 'change_layout', 6, 0, NULL, 0
  UNION ALL SELECT 'donate', 7, 0, NULL, 1
  UNION ALL SELECT 'partition_random', 8, 1, NULL, 0
  UNION ALL SELECT 'fused_attention', 9, 0, NULL, 1
  UNION ALL SELECT 'checkpoint', 10, 0, NULL, 1
  UNION ALL SELECT 'narrower_dtype', 11, 1, NULL, 0
  UNION ALL SELECT 'cast_on_load', 12, 0, NULL, 0
  UNION ALL SELECT 'vmap', 13, 0, NULL, 0
  UNION ALL SELECT 'return_less', 14, 0, 'outputs', 0
  UNION ALL SELECT 'pass_as_argument', 15, 0, NULL, 0
  UNION ALL SELECT 'shard_parameters', 16, 0, 'arguments', 1
  UNION ALL SELECT 'annotate_sharding', 17, 0, 'one_allocation', 0
  UNION ALL SELECT 'micro_batch', 18, 0, NULL, 1
  UNION ALL SELECT 'smaller_batch', 19, 1, NULL, 1
  UNION ALL SELECT 'dump_plan', 20, 0, NULL, 0
  UNION ALL SELECT 'compiler_flags', 21, 0, NULL, 0
  UNION ALL SELECT 'unified_memory', 22, 0, NULL, 0
),
sized AS (
  SELECT
    k.*,
    r.remedy,
    r.preference,
    r.changes_results,
    r.branch AS own_branch,
    CASE r.remedy
      WHEN 'release' THEN k.repeated_bytes
      WHEN 'change_layout' THEN k.padding_bytes
      WHEN 'donate' THEN k.donation_bytes
      WHEN 'fused_attention' THEN k.square_bytes
      WHEN 'partition_random' THEN k.random_bytes
      WHEN 'checkpoint' THEN
        CASE WHEN k.forward_count > 1 THEN k.checkpoint_bytes
          ELSE k.first_bytes - k.first_each_bytes END
      WHEN 'narrower_dtype' THEN CAST((k.upcast_bytes - k.upcast_bytes % 2) / 2 AS BIGINT)
      WHEN 'cast_on_load' THEN k.downcast_bytes
      WHEN 'shard_parameters' THEN CAST((k.arguments_bytes - k.arguments_bytes % 2) / 2 AS BIGINT)
      WHEN 'annotate_sharding' THEN CAST((k.largest_bytes - k.largest_bytes % 2) / 2 AS BIGINT)
      WHEN 'micro_batch' THEN CAST((k.gradient_bytes - k.gradient_bytes % 2) / 2 AS BIGINT)
    END AS saving_bytes
  FROM known k
  JOIN remedies r ON k.has_plan = 0 OR r.planned = 0
)
SELECT
  z.oom_event_id,
  z.capture_id,
  z.stage,
  z.remedy,
  z.preference,
  CASE WHEN z.saving_bytes > 0 THEN z.saving_bytes END AS saving_bytes,
  CASE WHEN z.saving_bytes > 0 THEN z.total_bytes - z.saving_bytes END AS needs_bytes,
  CASE
    WHEN z.saving_bytes > 0 AND z.total_bytes - z.saving_bytes <= z.capacity_bytes THEN 1
    WHEN z.saving_bytes > 0 AND z.total_bytes - z.saving_bytes > z.capacity_bytes THEN 0
  END AS fits,
  z.changes_results,
  z.first_shape,
  z.square_shape,
  z.made_by
FROM sized z
-- A size that can't be meant leaves nothing to tune.
WHERE (z.branch <> 'absurd' OR z.remedy = 'check_shapes') AND (z.own_branch = z.branch
  OR (z.saving_bytes > 0
    AND z.remedy IN ('partition_random', 'fused_attention', 'narrower_dtype', 'micro_batch'))
  OR (z.remedy = 'change_layout' AND z.saving_bytes
    >= (SELECT s.setting FROM settings s WHERE s.name = 'padding_min_bytes'))
  OR (z.remedy = 'donate' AND z.saving_bytes
    >= (SELECT s.setting FROM settings s WHERE s.name = 'donation_min_bytes'))
  OR (z.remedy = 'cast_on_load' AND z.saving_bytes > 0 AND z.arguments_bytes > 0)
  OR (z.remedy = 'checkpoint' AND z.forward_count > 1)
  -- Many of one size without a name: most likely a layer's, once per layer.
  OR (z.remedy = 'checkpoint' AND z.branch = 'accumulated' AND z.first_count > 1
    AND z.made_by IS NULL)
  OR (z.remedy = 'vmap' AND z.batched_bytes > 0)
  OR (z.remedy = 'pass_as_argument' AND z.kind = 'gpu_constant_failed')
  OR (z.remedy = 'find_holder' AND z.branch IN ('victim', 'shortage'))
  OR (z.remedy = 'find_holder' AND z.stage = 'run' AND z.branch IN ('unlisted', 'equal_chunks'))
  OR (z.remedy = 'smaller_batch' AND z.branch IN ('accumulated', 'one_allocation', 'temps'))
  OR (z.remedy IN ('smaller_batch', 'dump_plan') AND z.stage = 'compile' AND z.branch = 'unlisted')
  OR (z.remedy = 'compiler_flags' AND z.stage = 'compile' AND z.branch = 'accumulated'
    AND z.memory_space = 'hbm')
  OR (z.remedy = 'unified_memory' AND z.stage = 'run' AND z.branch = 'temps'
    AND z.memory_space = 'gpu'));
