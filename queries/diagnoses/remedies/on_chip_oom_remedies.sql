-- id: on_chip_oom_remedies
-- title: How to need less on-chip memory
-- columns:
--   capture_id: the log
--   device_id: NULL
--   module_id: the matched module
--   position: from 1, the one to try first
--   fix: what to do
--   saving_bytes: NULL: the text does not tell
--   needs_bytes: NULL: the text does not tell
--   fits: NULL: the text does not tell
--   cost: what it costs
--   changes_results: 0 or 1
--   evidence: inferred
CREATE VIEW on_chip_oom_remedies AS
WITH fixes AS (
  SELECT 'spill' AS what, 1 AS position,
    'registers spill: another formulation of the operation, such as 32-bit instead of 64-bit'
      || ' integers in cumsum, sort or isin' AS fix,
    'a change of the program' AS cost
  UNION ALL
  SELECT 'vmem', 1, 'smaller blocks in the kernel''s BlockSpecs, or fewer buffering levels',
    'speed of the kernel'
  UNION ALL
  SELECT 'vmem', 2,
    'a higher limit, up to what the core has: pltpu.CompilerParams(vmem_limit_bytes=...), or'
      || ' xla_tpu_scoped_vmem_limit_kib', 'less room for the compiler''s own use'
  UNION ALL
  SELECT 'smem', 1,
    'smaller scalar-prefetch operands: of paged attention fewer sequences or a shorter maximum'
      || ' length (max_num_seqs, max_model_len), or larger pages', 'fewer or shorter sequences'
  UNION ALL
  SELECT 'gpu_shared', 1, 'fewer num_stages or smaller tiles in the kernel', 'speed of the kernel'
  UNION ALL
  SELECT 'gpu_shared', 2, 'the implementation of XLA instead of the hand-written kernel',
    'speed of this operation'
  UNION ALL
  SELECT 'other', 1, 'smaller tables or blocks in the kernel that the text names',
    'speed of the kernel'
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
    END AS what
  FROM oom_failures f
  LEFT JOIN oom_parts p ON p.oom_event_id = f.oom_event_id AND p.position = 1
  WHERE f.stage = 'chip'
)
SELECT
  f.capture_id,
  f.device_id,
  f.module_id,
  x.position,
  x.fix,
  CAST(NULL AS BIGINT) AS saving_bytes,
  CAST(NULL AS BIGINT) AS needs_bytes,
  CAST(NULL AS BIGINT) AS fits,
  x.cost,
  0 AS changes_results,
  'inferred' AS evidence
FROM failed f
JOIN fixes x ON x.what = f.what;
