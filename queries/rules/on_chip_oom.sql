-- id: on_chip_oom
-- title: A kernel needs more on-chip memory than there is
-- rank: 40
-- verdict: on-chip
-- incident: chip
-- asks: Does an error log speak of vmem, smem or shared memory, which is not device memory?
-- needs: the compiler's error log
-- tags: oom, compile, kernel
-- severity: error; warning where the error log does not say that it failed
-- cause: One kernel, or one operation of the compiler, asks for more of the small memory beside the
--   cores than there is. How much device memory (HBM) is free plays no part.
-- empty without: oom_events
-- how to read: The status is RESOURCE_EXHAUSTED as of device memory, but batch size, sharding and
--   donation change nothing here: block sizes, stages and the formulation do.
-- next: oomdb query --db oom.db "SELECT line, memory_space, message FROM oom_events"
-- words what by kernel_memory:
--   own: An operation of the compiler's own needs more vector memory (vmem) than it may use
--   gpu_shared: A kernel needs more shared memory than the GPU has
--   vmem: A kernel needs more vector memory (vmem) than the core has
--   smem: A kernel needs more scalar memory (smem) than the core has
--   other: A kernel needs more on-chip memory ({memory_space}) than there is
-- says: {what}(above?: {bytes:bytes} of {capacity_bytes:bytes}|[: short by {rounded_bytes:bytes}])
-- detail: This is memory on the chip, not device memory (HBM): batch size, sharding and free memory
--   change nothing.[ Largest: {largest:list}.]
-- columns:
--   capture_id: the error log
--   device: ordinal of the device; NULL when the error log names none
--   device_id: always NULL
--   module_id: the module of the same run, where one has its name
--   execution_id: NULL: nothing ran
--   bytes: what it needs (bytes); NULL when the error log does not say it in bytes
--   memory_space: as the error log says
--   kernel_memory: gpu_shared, vmem (of a kernel), own (vmem of an operation that the compiler
--     itself made), smem or other
--   capacity_bytes: what there is (bytes)
--   rounded_bytes: what is missing (bytes), where the error log rounds the other two to one size
--   largest: the three largest groups of buffers; NULL when none is known
--   above: 1 when more is needed than there is, else 0: rounded, both can be the same
CREATE VIEW on_chip_oom AS
SELECT
  b.*,
  b.needed_bytes AS bytes,
  k.kernel_memory,
  CASE WHEN b.short_bytes > 0 THEN b.short_bytes END AS rounded_bytes,
  CASE WHEN b.needed_bytes > b.capacity_bytes THEN 1 ELSE 0 END AS above
FROM oom_branches b
JOIN oom_kernels k ON k.oom_event_id = b.oom_event_id
WHERE b.stage = 'chip';

-- title: How to need less on-chip memory
-- words fix by choice:
--   spill: registers spill: another formulation of the operation, such as 32-bit instead of 64-bit
--     integers in cumsum, sort or isin
--   vmem: smaller blocks in the kernel's BlockSpecs, or fewer buffering levels
--   vmem_limit: a higher limit, up to what the core has:
--     pltpu.CompilerParams(vmem_limit_bytes=...), or xla_tpu_scoped_vmem_limit_kib
--   smem: smaller scalar-prefetch operands: of paged attention fewer sequences or a shorter maximum
--     length (max_num_seqs, max_model_len), or larger pages
--   gpu_shared: fewer num_stages or smaller tiles in the kernel
--   own_limit: a higher limit for the compiler's own operations:
--     LIBTPU_INIT_ARGS=--xla_tpu_scoped_vmem_limit_kib=[{limit_kib:n}](unlimited?N)
--   own_report: report it to XLA with this text: the compiler should choose smaller pieces by
--     itself
--   own_spill: write the operation otherwise: along another axis, in another type, or in two steps
--   xla_kernel: the implementation of XLA instead of the hand-written kernel
--   other: smaller tables or blocks in the kernel that the error log names
-- words cost by choice:
--   spill: a change of the program
--   vmem: speed of the kernel
--   vmem_limit: less room for the compiler's own use
--   own_limit: less room for what else the compiler keeps there
--   own_report: none
--   own_spill: a change of the program
--   smem: fewer or shorter sequences
--   gpu_shared: speed of the kernel
--   xla_kernel: speed of this operation
--   other: speed of the kernel
-- columns:
--   saving_bytes: NULL: the error log does not say
--   needs_bytes: NULL: the error log does not say
--   fits: NULL: the error log does not say
CREATE VIEW on_chip_oom_remedies AS
WITH choices AS (
  SELECT 'spill' AS kernel_memory, 1 AS position, 'spill' AS choice, 'reformulate' AS remedy
  UNION ALL SELECT 'vmem', 1, 'vmem', 'smaller_kernel_blocks'
  UNION ALL SELECT 'vmem', 2, 'vmem_limit', 'vmem_limit'
  UNION ALL SELECT 'own', 1, 'own_limit', 'vmem_limit'
  UNION ALL SELECT 'own', 2, 'own_spill', 'reformulate'
  UNION ALL SELECT 'own', 3, 'own_report', 'report_to_xla'
  UNION ALL SELECT 'smem', 1, 'smem', 'smaller_page_table'
  UNION ALL SELECT 'gpu_shared', 1, 'gpu_shared', 'smaller_kernel_blocks'
  UNION ALL SELECT 'gpu_shared', 2, 'xla_kernel', 'xla_kernel'
  UNION ALL SELECT 'other', 1, 'other', 'smaller_kernel_blocks'
)
SELECT
  f.capture_id,
  f.device_id,
  f.module_id,
  x.remedy,
  x.position,
  CAST(NULL AS BIGINT) AS saving_bytes,
  CAST(NULL AS BIGINT) AS needs_bytes,
  CAST(NULL AS BIGINT) AS fits,
  0 AS changes_results,
  'inferred' AS evidence,
  x.choice,
  -- In kibibytes, rounded up.
  CAST((f.needed_bytes + 1023 - (f.needed_bytes + 1023) % 1024) / 1024 AS BIGINT) AS limit_kib,
  CASE WHEN f.needed_bytes IS NULL THEN 1 ELSE 0 END AS unlimited
FROM oom_failures f
JOIN oom_kernels k ON k.oom_event_id = f.oom_event_id
JOIN choices x ON x.kernel_memory = CASE WHEN k.spills = 1 THEN 'spill' ELSE k.kernel_memory END
WHERE f.stage = 'chip';
