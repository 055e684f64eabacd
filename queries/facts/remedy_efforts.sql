-- id: remedy_efforts
-- title: What remedies ask for, from a setting to other results: the order in which to try them
-- columns:
--   remedy: its key (remedy_kinds)
--   effort: 1 a setting, 2 a change of the program, 3 it computes more, 4 it takes longer, 5
--     results change, 6 it only tells more, 7 a search, 8 a last resort
CREATE VIEW remedy_efforts AS
SELECT 'async_allocator' AS remedy, 1 AS effort
UNION ALL SELECT 'raise_memory_fraction', 1 UNION ALL SELECT 'lower_memory_fraction', 1
UNION ALL SELECT 'disable_command_buffers', 1 UNION ALL SELECT 'serving_utilization', 1
UNION ALL SELECT 'pinned_host_limit', 1 UNION ALL SELECT 'lock_limit', 1
UNION ALL SELECT 'raise_job_memory', 1 UNION ALL SELECT 'vmem_limit', 1 UNION ALL SELECT 'donate', 2
UNION ALL SELECT 'fused_attention', 2 UNION ALL SELECT 'chunk_logits', 2
UNION ALL SELECT 'shard_parameters', 2 UNION ALL SELECT 'annotate_sharding', 2
UNION ALL SELECT 'shard_on_load', 2 UNION ALL SELECT 'cast_on_load', 2
UNION ALL SELECT 'change_layout', 2 UNION ALL SELECT 'check_shapes', 2
UNION ALL SELECT 'drop_reference', 2 UNION ALL SELECT 'release', 2 UNION ALL SELECT 'return_less', 2
UNION ALL SELECT 'fetch_to_host', 2 UNION ALL SELECT 'keep_on_host', 2
UNION ALL SELECT 'pass_as_argument', 2 UNION ALL SELECT 'inside_jit', 2
UNION ALL SELECT 'reorder_allocations', 2 UNION ALL SELECT 'split_tables', 2
UNION ALL SELECT 'smaller_page_table', 2 UNION ALL SELECT 'less_on_host', 2
UNION ALL SELECT 'checkpoint', 3 UNION ALL SELECT 'smaller_temp_block', 3
UNION ALL SELECT 'smaller_kernel_blocks', 3 UNION ALL SELECT 'reformulate', 3
UNION ALL SELECT 'xla_kernel', 3 UNION ALL SELECT 'less_workspace', 3
UNION ALL SELECT 'micro_batch', 4 UNION ALL SELECT 'vmap', 4 UNION ALL SELECT 'offload', 4
UNION ALL SELECT 'serialize_tables', 1 UNION ALL SELECT 'smaller_batch', 5
UNION ALL SELECT 'shorter_sequence', 5 UNION ALL SELECT 'narrower_dtype', 5
UNION ALL SELECT 'fill_tiles', 5 UNION ALL SELECT 'partition_random', 5
UNION ALL SELECT 'report_to_xla', 6 UNION ALL SELECT 'dump_plan', 6
UNION ALL SELECT 'profile_earlier', 6 UNION ALL SELECT 'find_waiting_request', 6
UNION ALL SELECT 'find_holder', 7 UNION ALL SELECT 'compiler_flags', 8
UNION ALL SELECT 'unified_memory', 8;
