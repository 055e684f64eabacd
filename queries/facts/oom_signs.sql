-- id: oom_signs
-- title: What in an error log tells one cause of a failure from another
-- empty without: oom_events
-- columns:
--   oom_event_id: the event, whatever it says
--   outside_pool: 1 when a library or the driver failed, not an allocator's pool, else 0
--   library: of these: nccl, graph, code, kernel, cudnn, cublas, solver, autotuning or driver; NULL
--   async_pool: 1 for a pool of cudaMallocAsync, else 0
--   program_load: 1 when a TPU program found no room to be loaded, else 0
--   serving: 1 when a serving engine holds a key-value cache beside it, by the log or by the
--     program's name, else 0
--   full_chip: 1 when a single TPU chip is named and it is full, else 0
--   eager: 1 when the program is a single operation, run outside of any jit, else 0
--   pool_bytes: what the pool holds, in use or free (bytes)
--   pool_free_bytes: of that free (bytes)
--   same_chunk_bytes: the chunk in use that is as large as the request (bytes); NULL: none
--   counted_bytes: what rematerialization counted for the program of the request, where the request
--     alone contradicts it (bytes)
--   wide_bytes: what its listed buffers of 64-bit numbers take (bytes)
--   device_bytes: the device's memory (bytes)
--   device_free_bytes: free on the device, outside of the pool (bytes)
--   peak_bytes: most that was ever in use (bytes)
--   host_cause: pinned, driver, array, killed, cpu or machine; NULL: not the host's memory
-- how to read: All of it is inferred from names and figures; which one is the cause says
--   oom_branches.
CREATE VIEW oom_signs AS
WITH limits AS (
  SELECT
    MAX(CASE WHEN s.name = 'same_chunk_percent' THEN s.setting END) AS chunk_percent,
    MAX(CASE WHEN s.name = 'full_chip_bytes' THEN s.setting END) AS chip_bytes,
    MAX(CASE WHEN s.name = 'tiny_request_bytes' THEN s.setting END) AS tiny_bytes,
    MAX(CASE WHEN s.name = 'remat_contradicted_percent' THEN s.setting END) AS remat_percent,
    MAX(CASE WHEN s.name = 'compile_limit_percent' THEN s.setting END) AS base_percent
  FROM settings s
),
-- From the events to their chunks, one row for an event without any: joined as it is, not by LEFT
-- JOIN, an engine looks at the capture that is asked for alone.
chunks AS (
  SELECT
    o.capture_id,
    o.oom_event_id,
    MIN(CASE
      WHEN c.in_use = 1 AND c.bytes >= o.requested_bytes
        AND 100 * c.bytes <= (100 + l.chunk_percent) * o.requested_bytes THEN c.bytes
    END) AS same_bytes
  FROM oom_events o
  CROSS JOIN limits l
  LEFT JOIN oom_chunks c ON c.oom_event_id = o.oom_event_id
  GROUP BY o.capture_id, o.oom_event_id
),
-- The chips that a log's failed requests name.
chips AS (
  SELECT o.capture_id, COUNT(DISTINCT o.allocator) AS count
  FROM oom_events o
  WHERE o.kind = 'tpu_buffer_request_failed'
  GROUP BY o.capture_id
),
engines AS (
  SELECT DISTINCT o.capture_id
  FROM oom_events o
  WHERE o.kind = 'serving_memory'
),
-- The compiler's base limit is a fixed share of the device.
bases AS (
  SELECT o.capture_id, MAX(o.capacity_bytes) AS base_bytes
  FROM oom_events o
  WHERE o.kind = 'arguments_above_limit'
  GROUP BY o.capture_id
),
-- A request within what the compiler counted at first, but far above what it says it got down to.
counts AS (
  SELECT
    f.oom_event_id,
    MAX(o.used_bytes) AS counted_bytes,
    MAX(CASE WHEN o.used_bytes >= f.requested_bytes THEN 1 ELSE 0 END) AS explained
  FROM oom_events o
  CROSS JOIN limits l
  JOIN oom_events f ON f.capture_id = o.capture_id
  WHERE o.kind = 'rematerialization_stopped' AND o.used_bytes > 0
    AND (o.used_bytes >= f.requested_bytes
      OR (f.requested_bytes <= o.total_bytes
        AND 100 * f.requested_bytes > l.remat_percent * o.used_bytes))
  GROUP BY f.oom_event_id
),
-- A program of one operation: a single name, right below that of the function, and no temps.
-- As above, one row for an event without any buffers.
parts AS (
  SELECT
    o.capture_id,
    o.oom_event_id,
    COUNT(DISTINCT b.op_name) AS operations,
    MAX(CASE
      WHEN LOWER(b.op_name) LIKE 'jit(%)/jit(main)/%'
        AND LOWER(b.op_name) NOT LIKE 'jit(%)/jit(main)/%/%' THEN 1
      WHEN LOWER(b.op_name) LIKE 'jit(%)/%' AND LOWER(b.op_name) NOT LIKE 'jit(%)/%/%' THEN 1
      ELSE 0
    END) AS shallow,
    CAST(SUM(CASE
      WHEN LOWER(b.plain_shape) LIKE 'f64[%' OR LOWER(b.plain_shape) LIKE 's64[%'
        OR LOWER(b.plain_shape) LIKE 'u64[%' OR LOWER(b.plain_shape) LIKE 'c128[%'
        THEN b.bytes * b.count
      ELSE 0
    END) AS BIGINT) AS wide_bytes
  FROM oom_events o
  LEFT JOIN oom_buffers b ON b.oom_event_id = o.oom_event_id
  GROUP BY o.capture_id, o.oom_event_id
),
said AS (
  SELECT
    o.*,
    LOWER(o.message) AS words,
    LOWER(o.allocator) AS pool,
    LOWER(o.module_name) AS program
  FROM oom_events o
)
SELECT
  f.oom_event_id,
  CASE
    WHEN f.kind IN ('gpu_driver_out_of_memory', 'gpu_autotuning_failed') THEN 1
    ELSE 0
  END AS outside_pool,
  CASE
    WHEN f.kind = 'gpu_autotuning_failed' THEN 'autotuning'
    WHEN f.kind <> 'gpu_driver_out_of_memory' THEN NULL
    WHEN LOWER(f.words) LIKE '%nccl%' OR LOWER(f.words) LIKE '%rccl%' THEN 'nccl'
    WHEN LOWER(f.words) LIKE '%graph%' OR LOWER(f.words) LIKE '%command buffer%' THEN 'graph'
    WHEN LOWER(f.words) LIKE '%cubin%' OR LOWER(f.words) LIKE '%load%module%'
      OR LOWER(f.words) LIKE '%hsaco%'
      OR LOWER(f.words) LIKE '%moduleload%' OR LOWER(f.words) LIKE '%load ptx%' THEN 'code'
    WHEN LOWER(f.words) LIKE '%cudnn%' OR LOWER(f.words) LIKE '%miopen%' THEN 'cudnn'
    WHEN LOWER(f.words) LIKE '%cublas%' OR LOWER(f.words) LIKE '%rocblas%'
      OR LOWER(f.words) LIKE '%hipblas%'
      THEN 'cublas'
    WHEN LOWER(f.words) LIKE '%solver%' OR LOWER(f.words) LIKE '%cufft%'
      OR LOWER(f.words) LIKE '%cusparse%'
      THEN 'solver'
    WHEN LOWER(f.words) LIKE '%launch%' THEN 'kernel'
    ELSE 'driver'
  END AS library,
  CASE
    WHEN f.kind = 'cuda_async_request_failed' OR LOWER(f.pool) LIKE 'gpu_async%' THEN 1
    ELSE 0
  END AS async_pool,
  CASE WHEN f.kind = 'tpu_program_load_failed' THEN 1 ELSE 0 END AS program_load,
  CASE
    WHEN e.capture_id IS NOT NULL THEN 1
    WHEN LOWER(f.program) LIKE '%decode%' OR LOWER(f.program) LIKE '%prefill%'
      OR LOWER(f.program) LIKE '%kv_cache%'
      OR LOWER(f.program) LIKE '%execute_model%' THEN 1
    ELSE 0
  END AS serving,
  CASE
    WHEN f.kind = 'tpu_buffer_request_failed' AND f.allocator IS NOT NULL AND i.count = 1
      AND f.free_bytes <= l.chip_bytes THEN 1
    ELSE 0
  END AS full_chip,
  CASE
    WHEN f.module_name IN (SELECT e.module_name FROM eager_operations e) THEN 1
    WHEN p.operations = 1 AND p.shallow = 1 AND f.temp_bytes = 0 THEN 1
    ELSE 0
  END AS eager,
  f.pool_bytes,
  CASE
    -- A TPU's memory is all there from the beginning.
    WHEN LOWER(f.kind) LIKE 'tpu%' THEN f.free_bytes
    ELSE f.pool_bytes - f.used_bytes
  END AS pool_free_bytes,
  CASE WHEN f.requested_bytes > l.tiny_bytes THEN c.same_bytes END AS same_chunk_bytes,
  CASE WHEN r.explained = 0 THEN r.counted_bytes END AS counted_bytes,
  CASE WHEN p.wide_bytes > 0 THEN p.wide_bytes END AS wide_bytes,
  COALESCE(
    f.device_bytes,
    CAST((100 * b.base_bytes - 100 * b.base_bytes % NULLIF(l.base_percent, 0))
      / NULLIF(l.base_percent, 0) AS BIGINT)
  ) AS device_bytes,
  f.device_free_bytes,
  f.peak_bytes,
  CASE
    WHEN COALESCE(f.memory_space, '') <> 'host' THEN NULL
    WHEN LOWER(f.kind) LIKE 'bfc%' OR LOWER(f.words) LIKE '%out of host memory%'
      OR LOWER(f.pool) LIKE '%bfc%'
      THEN 'pinned'
    WHEN f.kind = 'pinned_host_request_failed' THEN 'driver'
    WHEN f.kind = 'numpy_allocation_failed' THEN 'array'
    WHEN f.kind IN ('host_process_killed', 'process_killed') THEN 'killed'
    WHEN f.requested_bytes > 0 THEN 'cpu'
    ELSE 'machine'
  END AS host_cause
FROM said f
JOIN chunks c ON c.capture_id = f.capture_id AND c.oom_event_id = f.oom_event_id
CROSS JOIN limits l
JOIN parts p ON p.capture_id = f.capture_id AND p.oom_event_id = f.oom_event_id
LEFT JOIN counts r ON r.oom_event_id = f.oom_event_id
LEFT JOIN chips i ON i.capture_id = f.capture_id
LEFT JOIN bases b ON b.capture_id = f.capture_id
LEFT JOIN engines e ON e.capture_id = f.capture_id;
