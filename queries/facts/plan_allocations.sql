-- id: plan_allocations
-- title: The buffer allocations of a module's plan
-- columns:
--   module_id: the module
--   allocation_index: BufferAllocation.index
--   memory_space: 0 device memory, 1 vmem, 2 smem, 5 host
--   class: parameter, constant, thread_local, output, temp: the first that holds
--   bytes: its size (bytes)
--   parameter_number: for parameters
--   parameter_shape_index: for parameters, as {0,1}; {} is the whole
--   aliased_output: 1 when a parameter is donated to an output, 0 when not, NULL for other classes
--   is_tuple: 1 for a tuple's pointer table
--   shape: for parameters: the shape, without layout
--   sharding: for parameters: over the partitions, as XLA prints it; NULL: not recorded
--   shard_count: for parameters: the parts it is split into; 1: every partition holds the whole
--   forward_read: for parameters: 1 when the forward pass reads it, 0 when not
CREATE VIEW plan_allocations AS
SELECT m.module_id, a.allocation_index, a.memory_space, a.class, a.bytes, a.parameter_number,
  a.parameter_shape_index, a.aliased_output, a.is_tuple, s.content AS shape, h.content AS sharding,
  a.shard_count, a.forward_read
FROM stored_modules m
JOIN stored_plan_allocations a ON a.plan_id = m.plan_id
LEFT JOIN strings s ON s.string_id = a.shape_id
LEFT JOIN strings h ON h.string_id = a.sharding_id;
