-- id: oom_log_remedies
-- title: What could make the program of an error log fit, as far as the evidence supports it
-- empty without: oom_events
-- words fix by choice:
--   lower_memory_fraction: leave more of the device outside the pool: set
--     XLA_PYTHON_CLIENT_MEM_FRACTION below what it is now ([{lower_percent:x} is enough for what
--     the pool ever needed](unmeasured?where it is not set, three quarters of the device))
--   disable_command_buffers: run without CUDA graphs, which take memory outside the pool:
--     XLA_FLAGS=--xla_gpu_enable_command_buffer=
--   serving_utilization: lower the serving engine's memory utilization (gpu_memory_utilization)[ by
--     at least {lower_percent:n} per cent], so that its key-value cache leaves room for the
--     programs[: {missing_bytes:bytes} are missing]
--   serving_start: free the device of other processes, or lower the serving engine's memory
--     utilization (gpu_memory_utilization)[ by at least {lower_percent:n} per cent]
--   serving_cache: shorter sequences (max_model_len), or a higher memory utilization of the serving
--     engine (gpu_memory_utilization, mem-fraction-static), if the device has room beside it
--   raise_memory_fraction: XLA_PYTHON_CLIENT_MEM_FRACTION={raised_percent:x}: the device has
--     {device_bytes:bytes}
--   raise_memory_fraction_unset: remove XLA_PYTHON_CLIENT_MEM_FRACTION: three quarters of the
--     device's {device_bytes:bytes}, the default, are enough; free it of other processes
--   shard_on_load: place each array on all chips as it is loaded or made: jax.device_put(x,
--     sharding), jax.jit(init, out_shardings=...), or restore the checkpoint with shardings
--   inside_jit: put this operation inside the jitted function (or jit the code around it): there it
--     is fused, and its argument or result need not exist whole
--   report_to_xla: report it to XLA with both lines, once the newest jaxlib does it too
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
--   donate_copy: donate the argument of {same_chunk_bytes:bytes}, if the program returns it
--     updated: jax.jit(f, donate_argnums=...); else drop the first one before the second is made
--   partition_random: partition the random numbers: jax_threefry_partitionable=True, or
--     jax_default_prng_impl="rbg"; initialize layer by layer
--   fused_attention: fused (flash, splash) attention; then check that {square_shape} is gone
--   checkpoint: jax.checkpoint on the block: its activations are computed again in the backward
--     pass
--   narrower_dtype: compute in bf16 where f32 copies are made (convert_element_type), or tile
--   narrower_dtype_wide: compute in 32 instead of 64 bits: without jax_enable_x64, or with dtypes
--     that are given
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
--   find_holder_device: look for what else has memory on the device (nvidia-smi, rocm-smi): other
--     processes, a second framework in this one
-- words cost by choice:
--   lower_memory_fraction: less memory for arrays
--   disable_command_buffers: a little time for every launch
--   serving_utilization: a smaller key-value cache: fewer tokens at once
--   serving_start: a smaller key-value cache: fewer tokens at once
--   serving_cache: a shorter context
--   raise_memory_fraction: less memory for libraries and other processes on the device
--   raise_memory_fraction_unset: less memory for libraries and other processes on the device
--   shard_on_load: a sharding for every array
--   inside_jit: a change of the program
--   report_to_xla: none
--   donate_copy: none
--   narrower_dtype_wide: precision of these values
--   find_holder_device: none
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
--   dump_plan: one more run that fails
--   compiler_flags: compile time or speed; a last resort
--   unified_memory: very slow transfers; a last resort
-- columns:
--   oom_event_id: the event
--   capture_id: the error log
--   stage: compile or run
--   branch: the cause (oom_branches)
--   remedy: its short name
--   leads: 1 for what the cause asks for, whatever the sizes are, else 0
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
    CAST(SUM(CASE WHEN k.wide = 1 THEN k.bytes ELSE 0 END) AS BIGINT) AS wide_bytes,
    MAX(k.each_bytes) AS largest_bytes,
    MAX(CASE WHEN k.position = 1 THEN COALESCE(k.shape, k.made_by, 'it') END) AS
      first_shape,
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
limits AS (
  SELECT
    MAX(CASE WHEN s.name = 'tiny_request_bytes' THEN s.setting END) AS tiny_bytes,
    MAX(CASE WHEN s.name = 'fraction_margin_percent' THEN s.setting END) AS margin_percent,
    MAX(CASE WHEN s.name = 'fraction_default_percent' THEN s.setting END) AS default_percent,
    MAX(CASE WHEN s.name = 'fraction_max_percent' THEN s.setting END) AS max_percent
  FROM settings s
),
known AS (
  SELECT
    b.oom_event_id, b.capture_id, b.stage, b.kind, b.memory_space, b.branch, b.capacity_bytes,
    b.arguments_bytes, p.padding_bytes, p.square_bytes, q.shape AS square_shape, p.forward_count,
    p.forward_bytes - p.forward_each_bytes AS checkpoint_bytes, p.gradient_bytes, p.upcast_bytes,
    p.downcast_bytes, p.random_bytes, p.batched_bytes, p.largest_bytes, p.first_shape,
    p.first_count, p.first_bytes, p.first_each_bytes, p.made_by, p.wide_bytes, b.temp_padding_bytes,
    b.serving, b.eager, b.requested_bytes, b.same_chunk_bytes, b.device_bytes,
    b.fixed_bytes,
    CASE WHEN b.requested_bytes > b.free_bytes THEN b.requested_bytes - b.free_bytes END
      AS missing_bytes,
    b.used_bytes + b.requested_bytes AS wanted_bytes,
    b.peak_bytes,
    b.chunk_bytes - b.chunk_each_bytes AS repeated_bytes,
    CASE WHEN b.requested_bytes > l.tiny_bytes THEN 1 ELSE 0 END AS is_large_request,
    CASE WHEN 2 * b.requested_bytes > b.capacity_bytes OR b.capacity_bytes IS NULL THEN 1 ELSE 0 END
      AS half_of_it,
    l.margin_percent,
    l.default_percent,
    l.max_percent,
    CASE
      WHEN EXISTS (SELECT 1 FROM over_capacity x WHERE x.module_id = b.module_id) THEN 1
      ELSE 0
    END AS has_plan,
    -- Where a request failed, the program as a whole must fit, if the error log says its size.
    -- Beside a single allocation the rest of the program is not known.
    CASE WHEN b.kind = 'tpu_allocation_exceeded' THEN NULL
      WHEN b.stage = 'compile' THEN b.needed_bytes
      -- What was in use and what was asked for must fit together, whatever the program is.
      WHEN b.used_bytes + b.requested_bytes > COALESCE(b.total_bytes, 0)
        THEN b.used_bytes + b.requested_bytes
      ELSE b.total_bytes END AS total_bytes,
    CASE
      WHEN b.output_bytes - COALESCE(b.alias_bytes, 0) < b.arguments_bytes
        THEN b.output_bytes - COALESCE(b.alias_bytes, 0)
      ELSE b.arguments_bytes
    END AS donation_bytes
  FROM oom_branches b
  CROSS JOIN limits l
  LEFT JOIN parts p ON p.oom_event_id = b.oom_event_id
  LEFT JOIN squares q ON q.oom_event_id = b.oom_event_id AND q.place = 1
  WHERE b.stage IN ('compile', 'run')
),
-- Whole per cents of the device, rounded up.
shares AS (
  SELECT
    k.*,
    CAST((100 * k.wanted_bytes + k.device_bytes - 1
      - (100 * k.wanted_bytes + k.device_bytes - 1) % NULLIF(k.device_bytes, 0))
      / NULLIF(k.device_bytes, 0) AS BIGINT) + k.margin_percent AS wanted_percent,
    CAST((100 * k.peak_bytes + k.device_bytes - 1
      - (100 * k.peak_bytes + k.device_bytes - 1) % NULLIF(k.device_bytes, 0))
      / NULLIF(k.device_bytes, 0) AS BIGINT) + k.margin_percent AS peak_percent,
    CAST((100 * k.missing_bytes + k.capacity_bytes - 1
      - (100 * k.missing_bytes + k.capacity_bytes - 1) % NULLIF(k.capacity_bytes, 0))
      / NULLIF(k.capacity_bytes, 0) AS BIGINT) AS missing_percent
  FROM known k
),
-- `planned`: fit_remedies knows a plan better.
remedies AS (
  SELECT 'check_shapes' AS remedy, 1 AS preference, 0 AS changes_results, 0 AS planned
  UNION ALL SELECT 'lower_memory_fraction', 2, 0, 0
  UNION ALL SELECT 'disable_command_buffers', 3, 0, 0
  UNION ALL SELECT 'serving_utilization', 4, 0, 0
  UNION ALL SELECT 'raise_memory_fraction', 5, 0, 0
  UNION ALL SELECT 'shard_on_load', 6, 0, 0
  UNION ALL SELECT 'inside_jit', 7, 0, 0
  UNION ALL SELECT 'serialize_tables', 8, 0, 0
  UNION ALL SELECT 'split_tables', 9, 0, 0
  UNION ALL SELECT 'change_layout', 10, 0, 0
  UNION ALL SELECT 'donate', 11, 0, 1
  UNION ALL SELECT 'release', 12, 0, 0
  UNION ALL SELECT 'partition_random', 13, 1, 0
  UNION ALL SELECT 'fused_attention', 14, 0, 1
  UNION ALL SELECT 'checkpoint', 15, 0, 1
  UNION ALL SELECT 'narrower_dtype', 16, 1, 0
  UNION ALL SELECT 'cast_on_load', 17, 0, 0
  UNION ALL SELECT 'vmap', 18, 0, 0
  UNION ALL SELECT 'return_less', 19, 0, 0
  UNION ALL SELECT 'pass_as_argument', 20, 0, 0
  UNION ALL SELECT 'shard_parameters', 21, 0, 1
  UNION ALL SELECT 'annotate_sharding', 22, 0, 0
  UNION ALL SELECT 'micro_batch', 23, 0, 1
  UNION ALL SELECT 'smaller_batch', 24, 1, 1
  UNION ALL SELECT 'report_to_xla', 25, 0, 0
  UNION ALL SELECT 'dump_plan', 26, 0, 0
  UNION ALL SELECT 'find_holder', 27, 0, 0
  UNION ALL SELECT 'compiler_flags', 28, 0, 0
  UNION ALL SELECT 'unified_memory', 29, 0, 0
),
-- What a cause asks for, whatever the sizes are.
leading AS (
  SELECT 'absurd' AS branch, 'check_shapes' AS remedy
  UNION ALL SELECT 'outside_pool', 'lower_memory_fraction'
  UNION ALL SELECT 'outside_pool', 'disable_command_buffers'
  UNION ALL SELECT 'engine_start', 'serving_utilization'
  UNION ALL SELECT 'engine_cache', 'serving_utilization'
  UNION ALL SELECT 'ungrown', 'find_holder'
  UNION ALL SELECT 'remat_contradicted', 'report_to_xla'
  UNION ALL SELECT 'equal_chunks', 'release'
  UNION ALL SELECT 'shortage', 'release'
  UNION ALL SELECT 'eager', 'inside_jit'
  UNION ALL SELECT 'full_chip', 'shard_on_load'
  UNION ALL SELECT 'second_copy', 'donate'
  UNION ALL SELECT 'sparse_core', 'serialize_tables'
  UNION ALL SELECT 'sparse_core', 'split_tables'
  UNION ALL SELECT 'padding', 'change_layout'
  UNION ALL SELECT 'outputs', 'return_less'
  UNION ALL SELECT 'arguments', 'shard_parameters'
  UNION ALL SELECT 'one_allocation', 'annotate_sharding'
),
sized AS (
  SELECT
    k.*,
    r.remedy,
    r.preference,
    r.changes_results,
    CASE
      WHEN w.remedy IS NOT NULL THEN 1
      WHEN r.remedy = 'serving_utilization' AND k.serving = 1 AND k.branch = 'program_load' THEN 1
      -- Nothing is known of the program yet.
      WHEN r.remedy = 'dump_plan' AND k.branch = 'unlisted'
        AND (k.stage = 'compile' OR (k.is_large_request = 1 AND k.eager = 0)) THEN 1
      ELSE 0
    END AS leads,
    CASE
      WHEN k.branch = 'engine_start' AND r.remedy = 'serving_utilization' THEN 'serving_start'
      WHEN k.branch = 'engine_cache' AND r.remedy = 'serving_utilization' THEN 'serving_cache'
      WHEN r.remedy = 'donate' AND k.branch = 'second_copy' THEN 'donate_copy'
      WHEN r.remedy = 'narrower_dtype' AND k.wide_bytes > 0 THEN 'narrower_dtype_wide'
      WHEN r.remedy = 'raise_memory_fraction' AND k.wanted_percent <= k.default_percent
        THEN 'raise_memory_fraction_unset'
      WHEN r.remedy = 'find_holder' AND k.branch IN ('outside_pool', 'ungrown', 'engine_start')
        THEN 'find_holder_device'
      ELSE r.remedy
    END AS choice,
    CASE r.remedy
      WHEN 'release' THEN k.repeated_bytes
      WHEN 'change_layout' THEN COALESCE(k.padding_bytes, k.temp_padding_bytes)
      WHEN 'donate' THEN
        -- Of arguments and results together at most half are results.
        CASE WHEN k.branch = 'second_copy' THEN k.requested_bytes
          ELSE COALESCE(k.donation_bytes, CAST((k.fixed_bytes - k.fixed_bytes % 2) / 2 AS BIGINT))
        END
      WHEN 'serving_utilization' THEN k.missing_bytes
      WHEN 'fused_attention' THEN k.square_bytes
      WHEN 'partition_random' THEN k.random_bytes
      WHEN 'checkpoint' THEN
        CASE WHEN k.forward_count > 1 THEN k.checkpoint_bytes
          ELSE k.first_bytes - k.first_each_bytes END
      WHEN 'narrower_dtype' THEN
        CASE WHEN k.wide_bytes > 0 THEN CAST((k.wide_bytes - k.wide_bytes % 2) / 2 AS BIGINT)
          ELSE CAST((k.upcast_bytes - k.upcast_bytes % 2) / 2 AS BIGINT) END
      WHEN 'cast_on_load' THEN k.downcast_bytes
      WHEN 'shard_parameters' THEN CAST((k.arguments_bytes - k.arguments_bytes % 2) / 2 AS BIGINT)
      WHEN 'annotate_sharding' THEN CAST((k.largest_bytes - k.largest_bytes % 2) / 2 AS BIGINT)
      WHEN 'micro_batch' THEN CAST((k.gradient_bytes - k.gradient_bytes % 2) / 2 AS BIGINT)
    END AS saving_bytes,
    CASE r.remedy
      WHEN 'serving_utilization' THEN k.missing_percent
      WHEN 'lower_memory_fraction' THEN k.peak_percent
    END AS lower_percent
  FROM shares k
  JOIN remedies r ON k.has_plan = 0 OR r.planned = 0
  LEFT JOIN leading w ON w.branch = k.branch AND w.remedy = r.remedy
)
SELECT
  z.oom_event_id,
  z.capture_id,
  z.stage,
  z.branch,
  z.remedy,
  z.choice,
  z.preference,
  z.leads,
  CASE WHEN z.saving_bytes > 0 THEN z.saving_bytes END AS saving_bytes,
  CASE
    WHEN z.remedy = 'raise_memory_fraction' THEN z.wanted_bytes
    -- What a program's load needs in one piece is not what it needs in all.
    WHEN z.saving_bytes > 0 AND z.remedy <> 'serving_utilization'
      THEN z.total_bytes - z.saving_bytes
  END AS needs_bytes,
  CASE
    WHEN z.remedy = 'raise_memory_fraction' THEN 1
    WHEN z.remedy = 'serving_utilization' THEN NULL
    WHEN z.saving_bytes > 0 AND z.total_bytes - z.saving_bytes <= z.capacity_bytes THEN 1
    WHEN z.saving_bytes > 0 AND z.total_bytes - z.saving_bytes > z.capacity_bytes THEN 0
  END AS fits,
  z.changes_results,
  z.first_shape,
  z.square_shape,
  z.made_by,
  z.same_chunk_bytes,
  z.device_bytes,
  z.lower_percent,
  CASE WHEN z.missing_bytes > 0 THEN z.missing_bytes END AS missing_bytes,
  z.wanted_percent AS raised_percent,
  CASE WHEN z.lower_percent IS NULL THEN 1 ELSE 0 END AS unmeasured
FROM sized z
-- A size that can't be meant leaves nothing to tune.
WHERE (z.branch <> 'absurd' OR z.remedy = 'check_shapes') AND (z.leads = 1
  OR (z.saving_bytes > 0
    AND z.remedy IN ('partition_random', 'fused_attention', 'narrower_dtype', 'micro_batch'))
  OR (z.remedy = 'change_layout' AND z.saving_bytes
    >= (SELECT s.setting FROM settings s WHERE s.name = 'padding_min_bytes'))
  -- A single operation's argument is the caller's.
  OR (z.remedy = 'donate' AND z.eager = 0 AND z.saving_bytes
    >= (SELECT s.setting FROM settings s WHERE s.name = 'donation_min_bytes'))
  OR (z.remedy = 'cast_on_load' AND z.saving_bytes > 0 AND z.arguments_bytes > 0)
  OR (z.remedy = 'checkpoint' AND z.forward_count > 1)
  -- Many of one size without a name: most likely a layer's, once per layer.
  OR (z.remedy = 'checkpoint' AND z.branch = 'accumulated' AND z.first_count > 1
    AND z.made_by IS NULL)
  OR (z.remedy = 'vmap' AND z.batched_bytes > 0)
  OR (z.remedy = 'pass_as_argument' AND z.kind = 'gpu_constant_failed')
  -- Only where the device has what the pool may not hold.
  OR (z.remedy = 'raise_memory_fraction' AND z.stage = 'run' AND z.memory_space = 'gpu'
    AND z.branch NOT IN ('outside_pool', 'ungrown', 'fragmentation')
    AND z.wanted_bytes > z.capacity_bytes
    AND z.wanted_percent <= z.max_percent)
  -- Another array on a TPU: it is on one chip, or beside those of an earlier run.
  OR (z.remedy = 'shard_on_load' AND z.kind = 'tpu_buffer_request_failed'
    AND z.branch IN ('shortage', 'victim'))
  OR (z.remedy = 'serving_utilization' AND z.serving = 1
    AND z.branch IN ('full_chip', 'shortage', 'victim') AND z.memory_space = 'hbm')
  OR (z.remedy = 'inside_jit' AND z.eager = 1 AND z.is_large_request = 1)
  OR (z.remedy = 'release' AND z.branch IN ('second_copy', 'eager', 'program_load'))
  OR (z.remedy = 'find_holder' AND z.stage = 'run' AND z.branch IN (
    'engine_start', 'victim', 'shortage', 'unlisted', 'equal_chunks', 'second_copy', 'eager',
    'full_chip', 'program_load', 'outside_pool'))
  OR (z.remedy = 'smaller_batch' AND z.branch IN (
    'accumulated', 'activation', 'one_allocation', 'temps'))
  OR (z.remedy = 'smaller_batch' AND z.stage = 'compile' AND z.branch = 'unlisted')
  -- One request that takes most of the memory is a program's temps.
  OR (z.remedy IN ('smaller_batch', 'dump_plan') AND z.stage = 'run' AND z.eager = 0
    AND z.is_large_request = 1 AND z.half_of_it = 1 AND z.serving = 0
    AND z.branch IN ('shortage', 'unlisted', 'program_load', 'remat_contradicted')
    AND COALESCE(z.kind, '') <> 'tpu_buffer_request_failed')
  OR (z.remedy = 'compiler_flags' AND z.stage = 'compile' AND z.branch = 'accumulated'
    AND z.memory_space = 'hbm')
  OR (z.remedy = 'unified_memory' AND z.stage = 'run' AND z.branch = 'temps'
    AND z.memory_space = 'gpu'));
