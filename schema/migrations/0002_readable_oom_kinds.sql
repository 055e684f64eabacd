-- oom_events.kind becomes a readable name (oom_kinds says what each means); the code of the form
-- that stood there goes to the new column `form`.
ALTER TABLE oom_events ADD COLUMN form TEXT;
UPDATE oom_events SET form = kind;
UPDATE oom_events SET kind = CASE form
  WHEN 'T1' THEN 'tpu_memory_exceeded'
  WHEN 'T8' THEN 'tpu_memory_exceeded'
  WHEN 'E1000' THEN 'tpu_memory_exceeded'
  WHEN 'T5' THEN 'tpu_cores_exceeded'
  WHEN 'T6' THEN 'tpu_compile_aborted'
  WHEN 'T7' THEN 'tpu_allocation_exceeded'
  WHEN 'T9' THEN 'tpu_plan_unverified'
  WHEN 'D4' THEN 'memory_usage_rows'
  WHEN 'T2' THEN 'tpu_memory_report'
  WHEN 'T3' THEN 'tpu_memory_report'
  WHEN 'T4' THEN 'tpu_memory_report'
  WHEN 'V1' THEN 'tpu_memory_report'
  WHEN 'V2' THEN 'tpu_scoped_vmem_exceeded'
  WHEN 'E1001' THEN 'tpu_scoped_vmem_exceeded'
  WHEN 'SC1' THEN 'tpu_sparse_core_exceeded'
  WHEN 'E3000' THEN 'tpu_sparse_core_exceeded'
  WHEN 'R1' THEN 'tpu_buffer_request_failed'
  WHEN 'E0100' THEN 'tpu_buffer_request_failed'
  WHEN 'R2' THEN 'tpu_program_load_failed'
  WHEN 'E0101' THEN 'tpu_program_load_failed'
  WHEN 'R3' THEN 'tpu_driver_request_failed'
  WHEN 'A2' THEN 'bfc_request_failed'
  WHEN 'A1' THEN 'bfc_request_advice'
  WHEN 'A6' THEN 'bfc_dump'
  WHEN 'A8' THEN 'bfc_dump'
  WHEN 'A9' THEN 'cuda_async_request_failed'
  WHEN 'G1' THEN 'gpu_request_failed'
  WHEN 'G1n' THEN 'gpu_request_failed'
  WHEN 'G3' THEN 'gpu_request_failed'
  WHEN 'G2' THEN 'gpu_platform_request_failed'
  WHEN 'G4' THEN 'gpu_constant_failed'
  WHEN 'B1' THEN 'buffer_assignment_report'
  WHEN 'B2' THEN 'buffer_assignment_report'
  WHEN 'N1' THEN 'gpu_autotuning_failed'
  WHEN 'D1' THEN 'cuda_driver_backed_off'
  WHEN 'D2' THEN 'rocm_driver_backed_off'
  WHEN 'D4x' THEN 'gpu_driver_out_of_memory'
  WHEN 'G5' THEN 'tensorflow_request_failed'
  WHEN 'O1' THEN 'pytorch_request_failed'
  WHEN 'X1' THEN 'metal_memory_insufficient'
  WHEN 'S1' THEN 'gpu_shared_memory_exceeded'
  WHEN 'H1' THEN 'pinned_host_request_failed'
  WHEN 'C1' THEN 'host_allocation_failed'
  WHEN 'C2' THEN 'host_process_killed'
  WHEN 'C3' THEN 'numpy_allocation_failed'
  WHEN 'M1' THEN 'rematerialization_stopped'
  WHEN 'M2' THEN 'arguments_above_limit'
  WHEN 'K1' THEN 'compiled_memory_stats'
  WHEN 'K3' THEN 'allocator_stats'
  WHEN 'K7' THEN 'allocator_stats'
  WHEN 'K5' THEN 'program_sizes'
  WHEN 'K6' THEN 'program_sizes'
  ELSE form
END;

-- What a module was compiled for says how much memory its device has at most.
ALTER TABLE stored_modules ADD COLUMN target TEXT;

-- What the pool has free and what the device has free are two figures, and the allocator's own
-- records of its past are kept.
ALTER TABLE oom_events ADD COLUMN device_free_bytes INTEGER;
ALTER TABLE oom_events ADD COLUMN device_bytes INTEGER;
ALTER TABLE oom_events ADD COLUMN pool_bytes INTEGER;
ALTER TABLE oom_events ADD COLUMN peak_bytes INTEGER;
ALTER TABLE oom_events ADD COLUMN largest_request_bytes INTEGER;
ALTER TABLE oom_events ADD COLUMN temp_unpadded_bytes INTEGER;
