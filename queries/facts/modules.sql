-- id: modules
-- title: The compiled modules of a capture, with the totals of their plans
-- columns:
--   module_id: local id
--   capture_id: the capture
--   program_id: the stat program_id, else the number in name(N), else the metadata id
--   name: without the (N); two modules of one name are two rows
--   fingerprint: hash of the HLO proto: equal plans have equal fingerprints
--   platform: gpu, tpu, cpu; NULL: unknown
--   instruction_count: all instructions of all computations
--   remat_instruction_count: instructions whose name has a .remat part
--   parameter_count: parameter allocations, all memory spaces
--   parameter_bytes: parameters in the default memory space (bytes)
--   donated_parameter_count: distinct (parameter, index) in the input-output alias table
--   donated_bytes: the allocations of those parameters (bytes)
--   output_bytes: outputs not aliased to a parameter (bytes)
--   constant_bytes: constants (bytes)
--   temp_bytes: temporaries (bytes)
--   thread_local_bytes: thread-local allocations (bytes)
--   plan_bytes: parameter + output + constant + temp: what must fit beside everything else (bytes)
--   heap_peak_bytes: the most temporary bytes live at once in the replayed heap traces; NULL: temps
--     without a trace (bytes)
--   peak_bytes: parameter + output + constant + heap peak (bytes)
--   execution_count: executions in the capture
--   plan_id: the stored plan, which modules of equal content share; NULL: only executions are known
--   remat_compute_count: rematerialized instructions without bitcasts and get-tuple-elements
--   shape_signature: hash of the shapes of parameters and result, in order: equal for the same
--     function on arguments of the same shapes
--   num_partitions: partitions of the SPMD program; 1: not partitioned
--   replica_count: replicas of it
--   block_function: the function that makes, again and again, what the backward pass keeps
--   block_file: the Python file that calls it; without a function, of the largest such values
--   block_line: its line
--   block_caller: the function there
--   target: what it was compiled for, as in sm_9.0, gfx942 or tpu_v5e; NULL: unknown
--   replayed: 1 when its plan was replayed with every remedy (plan_changes), else 0
CREATE VIEW modules AS
SELECT m.module_id, m.capture_id, m.program_id, m.name, m.fingerprint, m.platform,
  p.instruction_count, p.remat_instruction_count, p.parameter_count, p.parameter_bytes,
  p.donated_parameter_count, p.donated_bytes, p.output_bytes, p.constant_bytes, p.temp_bytes,
  p.thread_local_bytes, p.plan_bytes, p.heap_peak_bytes, p.peak_bytes, m.execution_count, m.plan_id,
  p.remat_compute_count, p.shape_signature, p.num_partitions, p.replica_count,
  bf.content AS block_function, bs.content AS block_file, p.block_line,
  bc.content AS block_caller, m.target,
  COALESCE(p.replayed, 0) AS replayed
FROM stored_modules m
LEFT JOIN stored_plans p ON p.plan_id = m.plan_id
LEFT JOIN strings bf ON bf.string_id = p.block_function_id
LEFT JOIN strings bs ON bs.string_id = p.block_file_id
LEFT JOIN strings bc ON bc.string_id = p.block_caller_id;
