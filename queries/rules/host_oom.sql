-- id: host_oom
-- title: The host's memory ran out, not the device's
-- rank: 50
-- verdict: host
-- incident: host
-- asks: Was it host or pinned memory that could not be allocated, by the error log?
-- needs: the run time's error log
-- tags: oom, host, log
-- severity: error; warning where the error log does not say that it failed
-- cause: Pinned host memory has a limit of its own (64 GiB where it is not set), a CPU device
--   allocates in the machine's memory, and a job or a container may have a limit below that.
--   None of them says anything about the accelerator.
-- empty without: oom_events
-- how to read: The limit of the pinned pool is a setting of the program, that of a job one of its
--   scheduler; neither is the machine's memory.
-- next: oomdb query --db oom.db "SELECT line, message FROM oom_events WHERE memory_space = 'host'"
-- words what by branch:
--   pinned: The pinned host memory is full, not the device
--   driver: The driver could not pin host memory
--   array: The machine had no memory for an array of NumPy
--   killed: (failed?The process was killed: the host memory of its job or machine ran out|The
--     process was killed, mostly because host memory ran out)
--   absurd: An array that no machine has memory for
--   machine: The machine's own memory ran out
--   cpu: The machine's own memory ran out
-- says: {what}[: a request of {bytes:bytes} failed]
-- words because by branch:
--   pinned: [The pool may hold {capacity_bytes:bytes} (read). ]It takes what is offloaded to the
--     host and what is copied to and from the device.
--   driver: The machine's memory or the limit of what may be locked is used up; the pool's own
--     limit was not reached.
--   array: NumPy allocates in the process, before anything goes to a device: the memory of the
--     machine, or the limit of the job or container, is used up.
--   killed: (failed?|The text does not say who killed it. )The limit is that of the job or the
--     container, or the machine's memory[: {used_bytes:bytes} were in use][ of
--     {capacity_bytes:bytes}]. It counts data loader workers, checkpoints being written and what is
--     offloaded, not the accelerator's memory.
--   absurd: A size that no machine has: a dimension of the shape is wrong.
--   machine: All of the process counts: data, checkpoints, what is offloaded, the compiler itself.
--   cpu: On a CPU device arrays lie in the machine's memory: one this large is mostly a copy per
--     index or per batch element.
-- detail: {because}
-- columns:
--   capture_id: the error log
--   device: ordinal of the device; NULL when the error log names none
--   device_id: always NULL
--   module_id: the module of the same run, where one matches
--   execution_id: NULL: an error log knows nothing of executions
--   bytes: the request that failed (bytes)
--   branch: pinned (the pool is full), driver (it could not pin more), array (NumPy), killed,
--     absurd, cpu (an array of a CPU device) or machine
--   capacity_bytes: what the pinned pool or the machine may hold (bytes)
--   used_bytes: in use (bytes)
--   failed: 1 when the error log says that it failed, else 0
CREATE VIEW host_oom AS
SELECT b.*, b.requested_bytes AS bytes
FROM oom_branches b
WHERE b.stage = 'host' AND b.branch <> 'fragmentation'
  -- A kill without a reason, after a failure: its aftermath.
  AND (b.kind <> 'process_killed'
    OR b.capture_id NOT IN (SELECT o.capture_id FROM oom_events o WHERE o.fatal = 1));

-- title: How to need less host memory, or have more
-- words fix by choice:
--   pinned_host_limit: raise XLA_PJRT_GPU_HOST_MEMORY_LIMIT_GB[ to {limit_gib:n} or more], if the
--     machine has the memory (TensorFlow: TF_GPU_HOST_MEM_LIMIT_IN_MB)
--   less_on_host: offload less to the host
--   lock_limit: allow more locked memory: ulimit -l unlimited, in a container --ulimit memlock=-1
--   raise_job_memory: more host memory for the job: --mem in Slurm, resources.limits.memory in
--     Kubernetes, --memory in Docker
--   less_in_job: fewer data loader workers and a shorter prefetch; save checkpoints in shards
--     instead of a whole copy on one host
--   less_at_once: hold less at once: read in pieces (np.load(..., mmap_mode="r")), or make each
--     shard where it is used (jax.make_array_from_callback)
--   check_shapes: check the shape: a dimension is wrong; no memory suffices
--   vmap: work in chunks instead of all at once: jax.lax.map(f, xs, batch_size=...) instead of
--     vmap; an update x.at[i].set(...) under vmap copies all of x per index
--   narrower_dtype: a smaller dtype, or less data at a time
-- words cost by choice:
--   pinned_host_limit: memory of the machine
--   less_on_host: more device memory
--   lock_limit: memory of the machine that can't be swapped
--   raise_job_memory: memory of the machine
--   less_in_job: time, where loading was the bottleneck
--   less_at_once: a change of how data is loaded
--   check_shapes: a look at the program
--   vmap: a loop over chunks: time
--   narrower_dtype: precision, or time
-- columns:
--   saving_bytes: NULL: the error log does not say
--   needs_bytes: for the pinned pool what it must hold (bytes); else NULL
--   fits: NULL: the error log does not say
CREATE VIEW host_oom_remedies AS
WITH remedies AS (
  SELECT
    'pinned' AS branch, 1 AS position, 'pinned_host_limit' AS choice,
    'pinned_host_limit' AS remedy, 0 AS changes_results
  UNION ALL SELECT 'pinned', 2, 'less_on_host', 'less_on_host', 0
  UNION ALL SELECT 'driver', 1, 'lock_limit', 'lock_limit', 0
  UNION ALL SELECT 'driver', 2, 'raise_job_memory', 'raise_job_memory', 0
  UNION ALL SELECT 'driver', 3, 'less_on_host', 'less_on_host', 0
  UNION ALL SELECT 'array', 1, 'raise_job_memory', 'raise_job_memory', 0
  UNION ALL SELECT 'array', 2, 'less_at_once', 'less_on_host', 0
  UNION ALL SELECT 'array', 3, 'narrower_dtype', 'narrower_dtype', 1
  UNION ALL SELECT 'killed', 1, 'raise_job_memory', 'raise_job_memory', 0
  UNION ALL SELECT 'killed', 2, 'less_in_job', 'less_on_host', 0
  UNION ALL SELECT 'absurd', 1, 'check_shapes', 'check_shapes', 0
  UNION ALL SELECT 'cpu', 1, 'vmap', 'vmap', 0
  UNION ALL SELECT 'cpu', 2, 'narrower_dtype', 'narrower_dtype', 1
  UNION ALL SELECT 'machine', 1, 'raise_job_memory', 'raise_job_memory', 0
  UNION ALL SELECT 'machine', 2, 'less_in_job', 'less_on_host', 0
)
SELECT
  b.capture_id,
  b.device_id,
  b.module_id,
  r.remedy,
  r.choice,
  r.position,
  CAST(NULL AS BIGINT) AS saving_bytes,
  CASE
    WHEN r.remedy = 'pinned_host_limit'
      THEN COALESCE(b.used_bytes, b.capacity_bytes) + b.requested_bytes
  END AS needs_bytes,
  CAST(NULL AS BIGINT) AS fits,
  -- Whole gibibytes, rounded up.
  CASE
    WHEN r.remedy = 'pinned_host_limit' THEN CAST((
      COALESCE(b.used_bytes, b.capacity_bytes) + b.requested_bytes + 1073741823
      - (COALESCE(b.used_bytes, b.capacity_bytes) + b.requested_bytes + 1073741823) % 1073741824
    ) / 1073741824 AS BIGINT)
  END AS limit_gib,
  r.changes_results,
  'inferred' AS evidence
FROM oom_branches b
JOIN remedies r ON r.branch = b.branch
WHERE b.stage = 'host'
  AND (b.kind <> 'process_killed'
    OR b.capture_id NOT IN (SELECT o.capture_id FROM oom_events o WHERE o.fatal = 1));
