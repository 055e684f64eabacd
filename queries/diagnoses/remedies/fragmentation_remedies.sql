-- id: fragmentation_remedies
-- title: How to get the free memory in one piece
-- columns:
--   capture_id: the capture
--   device_id: the device; NULL for a log
--   module_id: the module that failed; NULL for a log
--   position: from 1, the one to try first
--   fix: what to do
--   saving_bytes: always NULL: as much is free as before, in larger pieces
--   needs_bytes: what the execution still needed (bytes); the request for a log
--   fits: 1, since that much is free
--   cost: what it costs
--   changes_results: 0 or 1
--   evidence: inferred
CREATE VIEW fragmentation_remedies AS
WITH fixes AS (
  SELECT 1 AS position,
    'allocate what lives long before what is large and short-lived, or free it before the step'
    AS fix,
    'a change of order in the program' AS cost
  UNION ALL
  SELECT 2, 'let the driver move the pieces: XLA_PYTHON_CLIENT_ALLOCATOR=cuda_async (NVIDIA)',
    'another allocator: no allocation events in the next capture'
)
SELECT
  f.capture_id,
  f.device_id,
  f.module_id,
  x.position,
  x.fix,
  CAST(NULL AS BIGINT) AS saving_bytes,
  COALESCE(e.still_needed_bytes, f.bytes) AS needs_bytes,
  1 AS fits,
  x.cost,
  0 AS changes_results,
  'inferred' AS evidence
FROM fragmentation f
JOIN fixes x
  ON x.position = 1
  -- Only NVIDIA's driver can, and not for the host's memory or a TPU's.
  OR f.evidence = 'measured'
  OR EXISTS (
    SELECT 1 FROM oom_events o WHERE o.capture_id = f.capture_id AND o.memory_space = 'gpu'
  )
LEFT JOIN failed_executions e ON e.execution_id = f.execution_id;
