-- id: failed_live_groups
-- title: What else was live when a failed execution started, by origin, without its own parameters
-- columns:
--   capture_id: the capture
--   device_id: the device
--   module_id: the module that failed
--   execution_id: its first execution that failed before launch
--   position: from 1, most bytes first
--   origin: where the bytes came from; of what is older than the capture, that its own parameters
--     are not among it
--   bytes: live bytes of that origin (bytes)
--   count: allocations; 1 for what was never seen in an event
CREATE VIEW failed_live_groups AS
-- Which of the live allocations are the module's own parameters is inferred as the capture is
-- stored (schema/failed_starts.cc). From the failures to what was live: SQLite keeps to the order
-- of a CROSS JOIN.
SELECT
  e.capture_id,
  e.device_id,
  e.module_id,
  g.execution_id,
  ROW_NUMBER() OVER (
    PARTITION BY e.capture_id, g.execution_id
    ORDER BY g.bytes DESC NULLS LAST, o.content NULLS FIRST
  ) AS position,
  CASE o.content
    WHEN 'allocated before the capture began'
      THEN 'allocated before the capture began, besides its parameters'
    ELSE o.content
  END AS origin,
  g.bytes,
  g.count
FROM stored_executions e
CROSS JOIN stored_failed_live g
JOIN strings o ON o.string_id = g.origin_id
WHERE e.failed = 1 AND g.execution_id = e.execution_id;
