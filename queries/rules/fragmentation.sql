-- id: fragmentation
-- title: Enough is free, but not in one piece
-- rank: 90
-- asks: Did a request fail although all that the execution still needed was free?
-- needs: allocator events and an execution that failed before launch, or an allocator's dump in an
--   error log
-- tags: oom, runtime, fragmentation
-- severity: error
-- cause: Long-lived allocations lie between the free blocks, so that no block is large enough for
--   the step's temps.
-- how to read: The largest free block is computed from the allocator's own fragmentation figure,
--   exact to about a millionth of the free bytes when the pool was allocated in advance, else an
--   upper bound. May fire together with growth: both can be true.
-- next: oomdb query --db oom.db "SELECT label, bytes, count FROM finding_items WHERE finding_id
--   LIKE 'fragmentation%'"
-- says: (from_log?[{module_name}: a](nameless?A) request of {bytes:bytes}|{module_name}) failed
--   although {free_bytes:bytes} were free[: the largest block was
--   {largest_free_bytes:bytes}](unsized? in the pool, but not in one piece)
-- detail: (from_log?The log of {allocator} says (read): {free_bytes:bytes} free[ of
--   {pool_bytes:bytes} that the pool holds][, the largest block {largest_free_bytes:bytes}],
--   {bytes:bytes} asked for.[ On the device, outside of the pool, {device_free_bytes:bytes} were
--   free.]|It still needed {still_needed_bytes:bytes}
--   (read), of these {bytes:bytes} in one piece (inferred). {free_bytes:bytes} were free
--   {free_source} (measured), the largest block {largest_free_bytes:bytes}: from the allocator's
--   fragmentation, an upper bound if the pool grows on demand.[ Between the holes:
--   {largest:list}.])
-- quiet: no fragmentation
-- columns:
--   module_id: the module that failed; of a log the one that matches, else NULL
--   execution_id: its first execution that failed before launch
--   severity: error; warning where a log does not say that it failed
--   evidence: measured, or read for a log
--   bytes: the request that failed (bytes)
--   free_bytes: free then (bytes)
--   largest_free_bytes: the largest free block (bytes); NULL where a log does not say it
--   pool_bytes: what the pool of a log holds, in use or free (bytes)
--   device_free_bytes: free on the device, outside of that pool (bytes)
--   free_source: when that was: after its last allocation, at the allocator's last event, or at its
--     start; NULL for a log
--   still_needed_bytes: outputs and temps that the execution had not got yet (bytes); NULL for a
--     log
--   largest: the two largest groups of what lies between; NULL for a log
--   allocator: the allocator that a log names
--   from_log: 1 when a log says it, else 0
--   unsized: 1 when the largest free block is not known, else 0
--   async_pool: 1 for a pool of cudaMallocAsync, by a log, else 0
--   nameless: 1 when the module is unknown, else 0
CREATE VIEW fragmentation AS
SELECT
  c.capture_id,
  c.run,
  c.host,
  d.ordinal AS device,
  f.device_id,
  f.module_id,
  m.name AS module_name,
  f.execution_id,
  'error' AS severity,
  'measured' AS evidence,
  f.failed_bytes AS bytes,
  f.free_bytes,
  f.largest_free_bytes,
  CAST(NULL AS BIGINT) AS pool_bytes,
  CAST(NULL AS BIGINT) AS device_free_bytes,
  f.free_source,
  f.still_needed_bytes,
  l.origins AS largest,
  CAST(NULL AS VARCHAR(100)) AS allocator,
  0 AS from_log,
  0 AS unsized,
  0 AS async_pool,
  0 AS nameless
FROM failed_executions f
JOIN captures c ON c.capture_id = f.capture_id
JOIN modules m ON m.module_id = f.module_id
LEFT JOIN devices d ON d.device_id = f.device_id
LEFT JOIN failed_live_list l ON l.execution_id = f.execution_id
WHERE f.place = 1
  AND f.still_needed_bytes <= f.free_bytes
  AND f.failed_bytes > f.largest_free_bytes
UNION ALL
-- From a log: the failure that counts.
SELECT
  f.capture_id,
  f.run,
  f.host,
  f.device,
  f.device_id,
  f.module_id,
  f.module_name,
  NULL,
  CASE WHEN f.fatal = 1 THEN 'error' ELSE 'warning' END,
  'read',
  f.requested_bytes,
  f.free_bytes,
  f.largest_free_bytes,
  b.pool_bytes,
  b.device_free_bytes,
  NULL,
  NULL,
  NULL,
  COALESCE(f.allocator, 'the allocator'),
  1,
  CASE WHEN f.largest_free_bytes IS NULL THEN 1 ELSE 0 END,
  b.async_pool,
  CASE WHEN f.module_name IS NULL THEN 1 ELSE 0 END
FROM oom_failures f
JOIN oom_branches b ON b.oom_event_id = f.oom_event_id
WHERE b.branch = 'fragmentation';

-- title: What lies between the free blocks
-- words label: [{name}][between two holes: [{op_name}, ]{each_bytes:bytes} each]
-- columns:
--   module_id: the module that failed
--   position: from 1
--   kind: free, largest free block, live at the start, or between two holes
--   label: what it is
--   bytes: its bytes (bytes)
--   count: allocations; NULL for free memory
CREATE VIEW fragmentation_items AS
-- Of an allocator's dump: what is in use with free chunks on both sides, in one region. Freed, it
-- would make one block of three. From the events to their chunks: SQLite keeps to the order of a
-- CROSS JOIN.
WITH enclosed AS (
  SELECT
    c.oom_event_id,
    c.op_name,
    c.bytes AS each_bytes,
    COUNT(*) AS count,
    CAST(SUM(c.bytes) AS BIGINT) AS bytes
  FROM oom_events o
  CROSS JOIN oom_chunks c
  CROSS JOIN oom_chunks l
  CROSS JOIN oom_chunks r
  WHERE c.oom_event_id = o.oom_event_id AND c.in_use = 1
    AND l.oom_event_id = c.oom_event_id AND l.position = c.position - 1 AND l.region = c.region
    AND l.in_use = 0
    AND r.oom_event_id = c.oom_event_id AND r.position = c.position + 1 AND r.region = c.region
    AND r.in_use = 0
  GROUP BY c.oom_event_id, c.op_name, c.bytes
),
ordered_enclosed AS (
  SELECT
    b.*,
    ROW_NUMBER() OVER (
      PARTITION BY b.oom_event_id
      ORDER BY b.count DESC NULLS LAST, b.bytes DESC NULLS LAST, b.op_name NULLS LAST
    ) AS position
  FROM enclosed b
),
listed AS (
  SELECT f.capture_id, f.device_id, f.module_id, k.part, 1 AS position, k.kind, k.name,
    CASE WHEN k.part = 1 THEN f.free_bytes ELSE f.largest_free_bytes END AS bytes,
    CAST(NULL AS BIGINT) AS count, CAST(NULL AS VARCHAR(100)) AS op_name,
    CAST(NULL AS BIGINT) AS each_bytes
  FROM fragmentation f
  CROSS JOIN (
    SELECT 1 AS part, 'free' AS kind, 'all free blocks together' AS name
    UNION ALL
    SELECT 2, 'largest free block', 'the largest free block'
  ) k
  WHERE k.part = 1 OR f.unsized = 0
  UNION ALL
  SELECT f.capture_id, f.device_id, f.module_id, 3, g.position, 'live at the start', g.origin,
    g.bytes, g.count, NULL, NULL
  FROM fragmentation f
  JOIN failed_live_groups g ON g.execution_id = f.execution_id
  WHERE g.position <= (SELECT s.setting FROM settings s WHERE s.name = 'items_max')
  UNION ALL
  SELECT f.capture_id, f.device_id, f.module_id, 3, o.position, 'between two holes', NULL, o.bytes,
    o.count, o.op_name, o.each_bytes
  FROM oom_failures f
  JOIN oom_branches b ON b.oom_event_id = f.oom_event_id AND b.branch = 'fragmentation'
  JOIN ordered_enclosed o ON o.oom_event_id = f.oom_event_id
  WHERE o.position <= (SELECT s.setting FROM settings s WHERE s.name = 'items_max')
)
SELECT
  l.capture_id,
  l.device_id,
  l.module_id,
  ROW_NUMBER() OVER (
    PARTITION BY l.capture_id, l.device_id, l.module_id ORDER BY l.part, l.position
  ) AS position,
  l.kind,
  l.name,
  l.bytes,
  l.count,
  l.op_name,
  l.each_bytes
FROM listed l;

-- title: How to get the free memory in one piece
-- words fix by remedy:
--   reorder_allocations: allocate what lives long before what is large and short-lived, or free it
--     before the step
--   async_allocator: let the driver move the pieces: XLA_PYTHON_CLIENT_ALLOCATOR=cuda_async
--     (NVIDIA)
--   smaller_temp_block: make the request smaller, it must be one piece: checkpoint or micro-batches
--     make the program's temps smaller
-- words cost by remedy:
--   reorder_allocations: a change of order in the program
--   async_allocator: another allocator: no allocation events in the next capture
--   smaller_temp_block: about one more forward pass, or step time
-- columns:
--   device_id: the device; NULL for a log
--   module_id: the module that failed; NULL for a log
--   saving_bytes: always NULL: as much is free as before, in larger pieces
--   needs_bytes: what the execution still needed (bytes); the request for a log; NULL where the
--     request itself becomes smaller
--   fits: 1, since that much is free; NULL where it depends on how much smaller the request becomes
--   changes_results: 0
--   evidence: inferred
CREATE VIEW fragmentation_remedies AS
WITH remedies AS (
  SELECT 1 AS preference, 'async_allocator' AS remedy
  UNION ALL SELECT 2, 'reorder_allocations'
  UNION ALL SELECT 3, 'smaller_temp_block'
)
SELECT
  f.capture_id,
  f.device_id,
  f.module_id,
  ROW_NUMBER() OVER (
    PARTITION BY f.capture_id, f.device_id, f.module_id ORDER BY r.preference
  ) AS position,
  r.remedy,
  CAST(NULL AS BIGINT) AS saving_bytes,
  CASE WHEN r.remedy <> 'smaller_temp_block' THEN COALESCE(f.still_needed_bytes, f.bytes) END
    AS needs_bytes,
  CASE WHEN r.remedy <> 'smaller_temp_block' THEN 1 END AS fits,
  0 AS changes_results,
  'inferred' AS evidence
FROM fragmentation f
JOIN remedies r
  -- Only NVIDIA's driver can, and not for the host's memory or a TPU's; a pool that is the driver's
  -- own has it already.
  ON (r.remedy = 'async_allocator' AND f.async_pool = 0 AND (f.evidence = 'measured'
    OR EXISTS (
      SELECT 1 FROM oom_events o WHERE o.capture_id = f.capture_id AND o.memory_space = 'gpu'
    )))
  OR (r.remedy = 'reorder_allocations' AND f.async_pool = 0)
  OR r.remedy = 'smaller_temp_block';

-- title: Failed executions whose largest free block is known
CREATE VIEW fragmentation_quiet AS
SELECT f.capture_id, f.device_id, f.module_id
FROM failed_executions f
WHERE f.place = 1 AND f.largest_free_bytes IS NOT NULL;
