-- id: remedy_kinds
-- title: What remedies there are: what each does, and what it assumes
-- columns:
--   remedy: its key, as in the views of remedies
--   what: what it does
--   assumes: what must hold for it to help
--   changes_results: 1 when the program's numbers change, else 0
-- how to read: The view `remedies` says which of them apply to a finding, and what they save.
CREATE VIEW remedy_kinds AS
SELECT
  'donate' AS remedy, 'donate arguments that the program returns updated' AS what,
  'the caller does not use them afterwards' AS assumes,
  0 AS changes_results
UNION ALL SELECT 'checkpoint', 'recompute activations in the backward pass: jax.checkpoint',
  'there is time for another forward pass', 0
UNION ALL SELECT 'micro_batch', 'split the batch and accumulate gradients',
  'the loss is a mean or a sum over examples', 0
UNION ALL SELECT 'smaller_batch', 'a smaller batch or a shorter sequence per device',
  'the training allows it', 1
UNION ALL SELECT 'fused_attention', 'flash or splash attention, which never holds the scores',
  'the scores are what is large', 0
UNION ALL SELECT 'shorter_sequence', 'shorter sequences', 'the task allows it', 1
UNION ALL SELECT 'chunk_logits', 'compute the loss in chunks of the vocabulary or the sequence',
  'the logits are what is large', 0
UNION ALL SELECT 'shard_parameters', 'shard parameters and optimizer state over the mesh (FSDP)',
  'there is more than one device', 0
UNION ALL SELECT 'annotate_sharding',
  'annotate the sharding of a buffer that is whole on every device',
  'there is more than one device', 0
UNION ALL SELECT 'shard_on_load', 'place arrays on all devices as they are loaded',
  'there is more than one device', 0
UNION ALL SELECT 'offload', 'keep activations or optimizer state in host memory',
  'the host has room, and the link is fast enough', 0
UNION ALL SELECT 'narrower_dtype', 'hold arrays in a narrower type', 'the numerics allow it', 1
UNION ALL SELECT 'cast_on_load', 'cast weights once when they are loaded, not inside the step',
  'the step casts them', 0
UNION ALL SELECT 'change_layout', 'let a large axis be the innermost one',
  'padding is what is large', 0
UNION ALL SELECT 'fill_tiles', 'choose dimensions that fill the tile', 'the model may change', 1
UNION ALL SELECT 'check_shapes',
  'check shapes and mesh: a dimension is wrong or a sharding is missing',
  'no program of this size is meant', 0
UNION ALL SELECT 'drop_reference', 'drop references to arrays that nothing needs any more',
  'the program holds them', 0
UNION ALL SELECT 'find_holder', 'look for who holds the memory: live arrays, other processes',
  'nothing measured says who', 0
UNION ALL SELECT 'release', 'free results before the next step: del, or donate',
  'nothing reads them later', 0
UNION ALL SELECT 'return_less', 'return less: sums instead of histories',
  'the caller does not need all of it', 0
UNION ALL SELECT 'fetch_to_host', 'fetch what is kept to the host: jax.device_get',
  'what is kept is read on the host', 0
UNION ALL SELECT 'keep_on_host', 'keep data on the host and transfer a batch at a time',
  'the data fits in host memory', 0
UNION ALL SELECT 'pass_as_argument', 'pass large arrays as arguments instead of capturing them',
  'they are constants of the program', 0
UNION ALL SELECT 'profile_earlier', 'start the profile before these arrays are made',
  'they were made before the capture began', 0
UNION ALL SELECT 'less_workspace', 'another algorithm for library calls, or smaller calls',
  'scratch memory is what is large', 0
UNION ALL SELECT 'vmap', 'work in chunks instead of all at once: jax.lax.map with batch_size',
  'a vmap is what is large', 0
UNION ALL SELECT 'inside_jit', 'move eager operations inside jit', 'an eager operation failed', 0
UNION ALL SELECT 'partition_random', 'partition random numbers over the mesh',
  'random numbers are what is large', 1
UNION ALL SELECT 'reorder_allocations', 'allocate what lives long first',
  'the free memory is in pieces', 0
UNION ALL SELECT 'smaller_temp_block', 'make the temporary block smaller: it must be one piece',
  'the free memory is in pieces', 0
UNION ALL SELECT 'async_allocator', 'the platform''s asynchronous allocator, which joins pieces',
  'the device supports it', 0
UNION ALL SELECT 'raise_memory_fraction',
  'let the pool take more of the device: XLA_PYTHON_CLIENT_MEM_FRACTION',
  'no other process needs that memory', 0
UNION ALL SELECT 'lower_memory_fraction', 'leave more of the device to libraries outside the pool',
  'the program needs less than the pool has', 0
UNION ALL SELECT 'disable_command_buffers', 'run without CUDA graphs',
  'their instances are what is large', 0
UNION ALL SELECT 'serving_utilization', 'lower the serving engine''s memory utilization',
  'a key-value cache shares the device', 0
UNION ALL SELECT 'unified_memory', 'let the GPU use host memory', 'the program may be much slower',
  0
UNION ALL SELECT 'compiler_flags', 'flags of the TPU scheduler and of rematerialization',
  'nothing else is left', 0
UNION ALL SELECT 'serialize_tables', 'handle SparseCore embedding tables one after another',
  'there are several tables', 0
UNION ALL SELECT 'split_tables', 'shard SparseCore embedding tables over all chips',
  'there is more than one chip', 0
UNION ALL SELECT 'smaller_kernel_blocks', 'smaller blocks in the kernel',
  'the kernel has a block size to choose', 0
UNION ALL SELECT 'smaller_page_table', 'shorter scalar-prefetch operands of paged attention',
  'the page table is what is large', 0
UNION ALL SELECT 'vmem_limit', 'a higher limit of on-chip memory for the kernel',
  'the core has more', 0
UNION ALL SELECT 'reformulate', 'another formulation of the operation that spills registers',
  'the program can be written so', 0
UNION ALL SELECT 'xla_kernel', 'XLA''s implementation instead of the hand-written kernel',
  'it may be slower', 0
UNION ALL SELECT 'pinned_host_limit', 'a higher limit of pinned host memory',
  'the host has the memory', 0
UNION ALL SELECT 'lock_limit', 'a higher limit of locked memory (ulimit -l)',
  'the host has the memory', 0
UNION ALL SELECT 'less_on_host', 'offload less to the host', 'the device has room', 0
UNION ALL SELECT 'raise_job_memory', 'more host memory for the job', 'the machine has it', 0
UNION ALL SELECT 'dump_plan', 'compile again with a dump, for the evidence',
  'the program can be compiled again', 0
UNION ALL SELECT 'find_waiting_request', 'see which request waited', 'the trace has its events', 0
UNION ALL SELECT 'report_to_xla', 'report it to XLA: the compiler contradicts itself',
  'the newest version does it too', 0;
