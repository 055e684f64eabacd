-- id: host_oom
-- title: The host's memory ran out, not the device's
-- rank: 50
-- verdict: host
-- incident: host
-- asks: Was it host or pinned memory that could not be allocated, by the error log?
-- needs: the run time's error log
-- tags: oom, host, log
-- severity: error; warning where the error log does not say that it failed
-- cause: Pinned host memory has a limit of its own (64 GiB where it is not set), and a CPU device
--   allocates in the machine's memory. Neither says anything about the accelerator.
-- empty without: oom_events
-- how to read: The limit of the pinned pool is a setting of the program, not of the machine.
-- next: oomdb query --db oom.db "SELECT line, message FROM oom_events WHERE memory_space = 'host'"
-- words what by branch:
--   pinned: The pinned host memory is full, not the device
--   machine: The machine's own memory ran out
-- says: {what}[: a request of {bytes:bytes} failed]
-- words because by branch:
--   pinned: [The pool may hold {capacity_bytes:bytes} (read). ]It takes what is offloaded to the
--     host and what is copied to and from the device.
--   machine: On a CPU device arrays lie in the machine's memory: one this large is mostly a copy
--     per index or per batch element.
-- detail: {because}
-- columns:
--   capture_id: the error log
--   device: ordinal of the device; NULL when the error log names none
--   device_id: always NULL
--   module_id: the module of the same run, where one matches
--   execution_id: NULL: an error log knows nothing of executions
--   bytes: the request that failed (bytes)
--   branch: pinned, or machine
--   capacity_bytes: what the pinned pool may hold (bytes)
CREATE VIEW host_oom AS
SELECT b.*, b.requested_bytes AS bytes
FROM oom_branches b
WHERE b.stage = 'host' AND b.branch <> 'fragmentation';

-- title: How to need less host memory, or have more
-- words fix by remedy:
--   pinned_host_limit: raise XLA_PJRT_GPU_HOST_MEMORY_LIMIT_GB, if the machine has the memory
--   less_on_host: offload less to the host
--   vmap: work in chunks instead of all at once: jax.lax.map(f, xs, batch_size=...) instead of
--     vmap; an update x.at[i].set(...) under vmap copies all of x per index
--   narrower_dtype: a smaller dtype, or less data at a time
-- words cost by remedy:
--   pinned_host_limit: memory of the machine
--   less_on_host: more device memory
--   vmap: a loop over chunks: time
--   narrower_dtype: precision, or time
-- columns:
--   saving_bytes: NULL: the error log does not say
--   needs_bytes: NULL: the error log does not say
--   fits: NULL: the error log does not say
CREATE VIEW host_oom_remedies AS
WITH remedies AS (
  SELECT 'pinned' AS branch, 1 AS position, 'pinned_host_limit' AS remedy
  UNION ALL SELECT 'pinned', 2, 'less_on_host'
  UNION ALL SELECT 'machine', 1, 'vmap'
  UNION ALL SELECT 'machine', 2, 'narrower_dtype'
)
SELECT
  b.capture_id,
  b.device_id,
  b.module_id,
  r.remedy,
  r.position,
  CAST(NULL AS BIGINT) AS saving_bytes,
  CAST(NULL AS BIGINT) AS needs_bytes,
  CAST(NULL AS BIGINT) AS fits,
  0 AS changes_results,
  'inferred' AS evidence
FROM oom_branches b
JOIN remedies r ON r.branch = b.branch
WHERE b.stage = 'host';
