-- id: fragmentation
-- title: Enough is free, but not in one piece
-- asks: Did a request fail although all that the execution still needed was free?
-- needs: allocator events and an execution that launched nothing, or an allocator's dump in a log
-- tags: oom, runtime, fragmentation
-- severity: error
-- cause: Long-lived allocations lie between the free blocks, so that no block is large enough for
--   the step's temps.
-- columns:
--   capture_id: the capture
--   run: its run
--   host: its host
--   device: ordinal of the device
--   device_id: the device
--   module_id: the module that failed; of a log the one that matches, else NULL
--   module_name: its name
--   execution_id: its first execution that launched nothing
--   severity: error; warning where a log does not say that it failed
--   evidence: measured, or read for a log
--   title: one sentence
--   detail: free bytes, largest block, and what lies between
--   bytes: the request that failed (bytes)
-- how to read: The largest free block is computed from the allocator's own fragmentation figure,
--   exact to about a millionth of the free bytes when the pool was allocated in advance, else an
--   upper bound. May fire together with growth: both can be true.
-- next: oomdb query --db oom.db "SELECT label, bytes, count FROM finding_items WHERE finding_id
--   LIKE 'fragmentation%'"
CREATE VIEW fragmentation AS
WITH words AS (
  SELECT
    g.execution_id,
    MAX(CASE WHEN g.position = 1 THEN g.origin || ' (' || CAST(g.count AS VARCHAR(20)) || ' live, '
      || CAST(g.bytes AS VARCHAR(20)) || ' bytes)' END)
      || COALESCE(MAX(CASE WHEN g.position = 2 THEN ', ' || g.origin || ' ('
        || CAST(g.count AS VARCHAR(20))
        || ' live, ' || CAST(g.bytes AS VARCHAR(20)) || ' bytes)' END), '') AS origins
  FROM failed_live_groups g
  GROUP BY g.execution_id
),
-- Of a log the failure that counts.
logged AS (
  SELECT
    f.capture_id,
    f.run,
    f.host,
    f.device,
    f.device_id,
    f.module_id,
    f.module_name,
    f.fatal,
    f.allocator,
    f.requested_bytes,
    f.free_bytes,
    f.largest_free_bytes
  FROM oom_failures f
  JOIN oom_branches b ON b.oom_event_id = f.oom_event_id
  WHERE b.branch = 'fragmentation'
)
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
  m.name || ' failed although ' || CAST(f.free_bytes AS VARCHAR(20))
    || ' bytes were free: the largest block was ' || CAST(f.largest_free_bytes AS VARCHAR(20))
    || ' bytes' AS title,
  'It still needed ' || CAST(f.still_needed_bytes AS VARCHAR(20)) || ' bytes (read), of these '
    || CAST(f.failed_bytes AS VARCHAR(20)) || ' bytes in one piece (inferred). '
    || CAST(f.free_bytes AS VARCHAR(20)) || ' bytes were free ' || f.free_source
    || ' (measured), the largest block ' || CAST(f.largest_free_bytes AS VARCHAR(20))
    || ' bytes: from the allocator''s fragmentation, an upper bound if the pool grows on demand.'
    || COALESCE(' Between the holes: ' || w.origins || '.', '') AS detail,
  f.failed_bytes AS bytes
FROM failed_executions f
JOIN captures c ON c.capture_id = f.capture_id
JOIN modules m ON m.module_id = f.module_id
LEFT JOIN devices d ON d.device_id = f.device_id
LEFT JOIN words w ON w.execution_id = f.execution_id
WHERE f.place = 1
  AND f.still_needed_bytes <= f.free_bytes
  AND f.failed_bytes > f.largest_free_bytes
UNION ALL
SELECT
  l.capture_id,
  l.run,
  l.host,
  l.device,
  l.device_id,
  l.module_id,
  l.module_name,
  NULL,
  CASE WHEN l.fatal = 1 THEN 'error' ELSE 'warning' END,
  'read',
  COALESCE(l.module_name || ': a', 'A') || ' request of '
    || CAST(l.requested_bytes AS VARCHAR(20)) || ' bytes failed although '
    || CAST(l.free_bytes AS VARCHAR(20)) || ' bytes were free: the largest block was '
    || CAST(l.largest_free_bytes AS VARCHAR(20)) || ' bytes',
  'The log of ' || COALESCE(l.allocator, 'the allocator') || ' says (read): '
    || CAST(l.free_bytes AS VARCHAR(20)) || ' bytes free, the largest block '
    || CAST(l.largest_free_bytes AS VARCHAR(20)) || ' bytes, '
    || CAST(l.requested_bytes AS VARCHAR(20)) || ' bytes asked for.',
  l.requested_bytes
FROM logged l;
