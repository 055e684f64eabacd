-- id: host_oom_remedies
-- title: How to need less host memory, or have more
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
CREATE VIEW host_oom_remedies AS
WITH fixes AS (
  SELECT 'pinned' AS branch, 1 AS position,
    'raise XLA_PJRT_GPU_HOST_MEMORY_LIMIT_GB, if the machine has the memory' AS fix,
    'memory of the machine' AS cost
  UNION ALL
  SELECT 'pinned', 2, 'offload less to the host', 'more device memory'
  UNION ALL
  SELECT 'machine', 1,
    'in chunks instead of all at once: jax.lax.map(f, xs, batch_size=...) instead of vmap; an'
      || ' update x.at[i].set(...) under vmap copies all of x per index',
    'a loop over chunks: time'
  UNION ALL
  SELECT 'machine', 2, 'a smaller dtype, or less data at a time', 'precision, or time'
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
FROM oom_failures f
JOIN oom_branches b ON b.oom_event_id = f.oom_event_id
JOIN fixes x ON x.branch = b.branch
WHERE f.stage = 'host';
