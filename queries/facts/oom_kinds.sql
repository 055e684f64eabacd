-- id: oom_kinds
-- title: What the messages of error logs mean: the kinds and forms of oom_events
-- columns:
--   kind: oom_events.kind; forms that mean the same share one
--   form: oom_events.form: the text as one program of one time prints it
--   says: failure (memory ran out), report (what was needed or held; whether it failed is unknown
--     without the line above it), advice (a request failed, the program went on), remark (of the
--     compiler, on the way) or statistics (nothing failed)
--   stage: when: compile, run (an allocation while the program ran), host (the machine's own
--     memory) or chip (never device memory); a memory space in the message wins (oom_failures);
--     NULL for statistics
--   meaning: who says it, and what
CREATE VIEW oom_kinds AS
SELECT
  'tpu_memory_exceeded' AS kind,
  'T1' AS form,
  'failure' AS says,
  'compile' AS stage,
  'the TPU compiler: the program needs more of a memory (memory_space) than there is' AS meaning
UNION ALL SELECT 'tpu_memory_exceeded', 'T8', 'failure', 'compile',
  'the TPU compiler: what is in HBM (it calls all of it temporaries) is more than there is'
UNION ALL SELECT 'tpu_memory_exceeded', 'E1000', 'failure', 'compile',
  'the TPU compiler: error code E1000 (HBM), in unknown words'
UNION ALL SELECT 'tpu_cores_exceeded', 'T5', 'failure', 'compile',
  'the TPU compiler: TensorCores and SparseCores together need more HBM than there is'
UNION ALL SELECT 'tpu_compile_aborted', 'T6', 'failure', 'compile',
  'the TPU compiler gave up early: the program is unlikely to fit'
UNION ALL SELECT 'tpu_allocation_exceeded', 'T7', 'failure', 'compile',
  'the TPU compiler: one allocation is larger than the memory'
UNION ALL SELECT 'tpu_plan_unverified', 'T9', 'failure', 'compile',
  'the TPU compiler could not verify its buffer assignment'
UNION ALL SELECT 'memory_usage_rows', 'D4', 'report', 'compile',
  'rows of the TPU compiler''s memory usage report'
UNION ALL SELECT 'tpu_memory_report', 'T2', 'report', 'compile',
  'the TPU compiler''s report of a program from its totals on, without the line above'
UNION ALL SELECT 'tpu_memory_report', 'T3', 'report', 'compile',
  'the TPU compiler''s report of a program from the program''s parts on'
UNION ALL SELECT 'tpu_memory_report', 'T4', 'report', 'compile',
  'the TPU compiler''s report of a program from the list of its largest allocations on'
UNION ALL SELECT 'tpu_memory_report', 'V1', 'report', 'chip',
  'the TPU compiler''s report of a program''s vmem'
UNION ALL SELECT 'tpu_scoped_vmem_exceeded', 'V2', 'failure', 'chip',
  'the TPU compiler: a kernel''s scoped vmem is above its limit'
UNION ALL SELECT 'tpu_scoped_vmem_exceeded', 'E1001', 'failure', 'chip',
  'the TPU compiler: error code E1001 (scoped vmem), in unknown words'
UNION ALL SELECT 'tpu_sparse_core_exceeded', 'SC1', 'failure', 'chip',
  'the TPU compiler: an allocation in a SparseCore''s memory is above its limit'
UNION ALL SELECT 'tpu_sparse_core_exceeded', 'E3000', 'failure', 'chip',
  'the TPU compiler: error code E3000 (SparseCore), in unknown words'
UNION ALL SELECT 'tpu_buffer_request_failed', 'R1', 'failure', 'run',
  'the TPU runtime: a device buffer that could not be allocated'
UNION ALL SELECT 'tpu_buffer_request_failed', 'E0100', 'failure', 'run',
  'the TPU runtime: error code E0100 (a device buffer), in unknown words'
UNION ALL SELECT 'tpu_program_load_failed', 'R2', 'failure', 'run',
  'the TPU runtime: a program for which there was not enough memory to load it'
UNION ALL SELECT 'tpu_program_load_failed', 'E0101', 'failure', 'run',
  'the TPU runtime: error code E0101 (loading a program), in unknown words'
UNION ALL SELECT 'tpu_driver_request_failed', 'R3', 'failure', 'run',
  'the TPU driver until 2023: a buffer that could not be allocated'
UNION ALL SELECT 'bfc_request_failed', 'A2', 'failure', 'run',
  'a BFC allocator: a request that failed'
UNION ALL SELECT 'bfc_request_advice', 'A1', 'advice', 'run',
  'a BFC allocator: a request that failed, which its caller can do without'
UNION ALL SELECT 'bfc_dump', 'A6', 'report', 'run',
  'the chunks of a BFC allocator, without the request that failed'
UNION ALL SELECT 'bfc_dump', 'A8', 'report', 'run',
  'the statistics of a BFC allocator, without the request that failed'
UNION ALL SELECT 'cuda_async_request_failed', 'A9', 'failure', 'run',
  'CUDA''s asynchronous allocator: a request that failed'
UNION ALL SELECT 'gpu_request_failed', 'G1', 'failure', 'run',
  'XLA on a GPU: an allocation that failed, with its bytes'
UNION ALL SELECT 'gpu_request_failed', 'G1n', 'failure', 'run',
  'XLA on a GPU since 2025: an allocation that failed, with a rounded size'
UNION ALL SELECT 'gpu_request_failed', 'G3', 'failure', 'run',
  'XLA on a GPU since 2026: an allocation that failed, with its allocator and device'
UNION ALL SELECT 'gpu_platform_request_failed', 'G2', 'failure', 'run',
  'XLA on a GPU with the platform''s allocator: a request that failed'
UNION ALL SELECT 'gpu_constant_failed', 'G4', 'failure', 'run',
  'XLA on a GPU: a program''s constant for which there was not enough memory'
UNION ALL SELECT 'buffer_assignment_report', 'B1', 'report', 'run',
  'XLA on a GPU until 2025: the buffer assignment, printed below a request that failed'
UNION ALL SELECT 'buffer_assignment_report', 'B2', 'report', 'run',
  'XLA on a GPU until 2025: the buffer assignment from the list of its buffers on'
UNION ALL SELECT 'gpu_autotuning_failed', 'N1', 'failure', 'run',
  'XLA on a GPU: autotuning that ran out of memory'
UNION ALL SELECT 'cuda_driver_backed_off', 'D1', 'advice', 'run',
  'the CUDA driver refused; smaller requests followed'
UNION ALL SELECT 'rocm_driver_backed_off', 'D2', 'advice', 'run',
  'the ROCm driver refused; smaller requests followed'
UNION ALL SELECT 'gpu_driver_out_of_memory', 'D4x', 'failure', 'run',
  'a call of the CUDA or ROCm driver, outside of any pool, that ran out of memory'
UNION ALL SELECT 'tensorflow_request_failed', 'G5', 'failure', 'run',
  'TensorFlow in the same process: a tensor that could not be allocated'
UNION ALL SELECT 'pytorch_request_failed', 'O1', 'failure', 'run',
  'PyTorch in the same process: an allocation that failed'
UNION ALL SELECT 'serving_memory_short', 'Q1', 'failure', 'run',
  'a serving engine that did not start: too little memory for it, or for its KV cache'
UNION ALL SELECT 'metal_memory_insufficient', 'X1', 'failure', 'run',
  'Metal: a command buffer for which there was not enough memory'
UNION ALL SELECT 'gpu_shared_memory_exceeded', 'S1', 'failure', 'chip',
  'a kernel needs more of a GPU''s shared memory than there is'
UNION ALL SELECT 'pinned_host_request_failed', 'H1', 'failure', 'host',
  'pinned host memory for a GPU: a request that failed'
UNION ALL SELECT 'host_allocation_failed', 'C1', 'failure', 'host',
  'the machine''s memory: an allocation that failed'
UNION ALL SELECT 'host_process_killed', 'C2', 'failure', 'host',
  'the machine''s memory: a process that the kernel, Slurm, Kubernetes or Ray killed'
UNION ALL SELECT 'process_killed', 'C4', 'failure', 'host',
  'a process that was killed with signal 9: by whom, and whether for its memory, isn''t said'
UNION ALL SELECT 'numpy_allocation_failed', 'C3', 'failure', 'host',
  'NumPy: an array that could not be allocated'
UNION ALL SELECT 'rematerialization_stopped', 'M1', 'remark', 'compile',
  'XLA: rematerialization could not bring the program below its limit'
UNION ALL SELECT 'arguments_above_limit', 'M2', 'remark', 'compile',
  'XLA on a GPU: arguments and results alone are above its limit'
UNION ALL SELECT 'compiled_memory_stats', 'K1', 'statistics', NULL,
  'compiled.memory_analysis(): what a compiled program needs'
UNION ALL SELECT 'allocator_stats', 'K3', 'statistics', NULL,
  'device.memory_stats(): what an allocator holds'
UNION ALL SELECT 'allocator_stats', 'K7', 'statistics', NULL,
  'an allocator''s statistics as Julia prints them'
UNION ALL SELECT 'serving_memory', 'K8', 'statistics', NULL,
  'a serving engine: what is in use of a chip''s memory, as it said last'
UNION ALL SELECT 'allocator_stats', 'K9', 'statistics', NULL,
  'MaxText: what is in use of a device''s memory, as it said last'
UNION ALL SELECT 'program_sizes', 'K5', 'statistics', NULL,
  'MaxText: the sizes of a program'
UNION ALL SELECT 'program_sizes', 'K6', 'statistics', NULL,
  'AXLearn and PyTorch/XLA: the sizes of a program';
