-- id: module_memory
-- title: A module's plan by memory space
-- columns:
--   module_id: the module
--   memory_space: 0 device memory, 1 vmem, 2 smem, 5 host
--   space_name: its name
--   parameter_bytes: parameters (bytes)
--   output_bytes: outputs not aliased to a parameter (bytes)
--   constant_bytes: constants (bytes)
--   temp_bytes: temporaries (bytes)
--   heap_peak_bytes: the most temporary bytes live at once; NULL: temps without a trace (bytes)
--   thread_local_bytes: thread-local allocations (bytes)
CREATE VIEW module_memory AS
SELECT m.module_id, s.memory_space, s.space_name, s.parameter_bytes, s.output_bytes,
  s.constant_bytes, s.temp_bytes, s.heap_peak_bytes, s.thread_local_bytes
FROM stored_modules m
JOIN stored_module_memory s ON s.plan_id = m.plan_id;
