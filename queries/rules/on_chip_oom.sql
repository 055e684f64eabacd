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
--   kernel_memory: gpu_shared, vmem, smem or other
--   capacity_bytes: what there is (bytes)
--   rounded_bytes: what is missing (bytes), where the error log rounds the other two to one size
--   largest: the three largest groups of buffers; NULL when none is known
--   above: 1 when more is needed than there is, else 0: rounded, both can be the same
CREATE VIEW on_chip_oom AS
SELECT
  b.*,
  b.needed_bytes AS bytes,
  CASE WHEN b.memory_space IN ('vmem', 'smem', 'gpu_shared') THEN b.memory_space ELSE 'other' END
    AS kernel_memory,
  CASE WHEN b.short_bytes > 0 THEN b.short_bytes END AS rounded_bytes,
  CASE WHEN b.needed_bytes > b.capacity_bytes THEN 1 ELSE 0 END AS above
FROM oom_branches b
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
--   xla_kernel: the implementation of XLA instead of the hand-written kernel
--   other: smaller tables or blocks in the kernel that the error log names
-- words cost by choice:
--   spill: a change of the program
--   vmem: speed of the kernel
--   vmem_limit: less room for the compiler's own use
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
  UNION ALL SELECT 'smem', 1, 'smem', 'smaller_page_table'
  UNION ALL SELECT 'gpu_shared', 1, 'gpu_shared', 'smaller_kernel_blocks'
  UNION ALL SELECT 'gpu_shared', 2, 'xla_kernel', 'xla_kernel'
  UNION ALL SELECT 'other', 1, 'other', 'smaller_kernel_blocks'
),
failed AS (
  SELECT
    f.capture_id,
    f.device_id,
    f.module_id,
    CASE
      WHEN LOWER(p.label) LIKE '%spill%' OR LOWER(f.message) LIKE '%spill slots%' THEN 'spill'
      WHEN f.memory_space IN ('vmem', 'smem', 'gpu_shared') THEN f.memory_space
      ELSE 'other'
    END AS kernel_memory
  FROM oom_failures f
  LEFT JOIN oom_parts p ON p.oom_event_id = f.oom_event_id AND p.position = 1
  WHERE f.stage = 'chip'
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
  x.choice
FROM failed f
JOIN choices x ON x.kernel_memory = f.kernel_memory;
