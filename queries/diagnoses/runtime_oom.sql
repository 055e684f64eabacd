-- id: runtime_oom
-- title: An allocation failed while the program ran
-- asks: Does a log tell of a device allocation that failed, and what was in the way?
-- needs: the run time's error text; an allocator's dump or a plan of the same run adds who holds
--   the memory
-- empty without: oom_events
-- tags: oom, runtime, log
-- severity: error; warning where the text has the numbers but not the error
-- cause: The request is larger than what is free. The program may be too large, something else may
--   hold the memory, or the free memory is in pieces.
-- columns:
--   capture_id: the log
--   run: its run
--   host: its host
--   device: ordinal of the device; NULL when the text names none
--   device_id: NULL
--   module_id: the module of a dump or capture of the same run, where one matches
--   module_name: its name, by the text or by the match
--   execution_id: NULL: a log knows no executions
--   severity: error or warning
--   evidence: read
--   title: one sentence
--   detail: what was in the way, and on what evidence
--   bytes: the request that failed (bytes)
-- how to read: A request of a few megabytes is a victim: the one who holds the memory is to be
--   found. One of many times the device is a mistake in a shape. A request that is as large as the
--   program's temps means that the program itself is too large. Where enough was free but in
--   pieces, see the rule fragmentation.
-- next: oomdb query --db oom.db "SELECT label, bytes, count FROM finding_items WHERE finding_id
--   LIKE 'runtime_oom%'"
CREATE VIEW runtime_oom AS
SELECT
  f.capture_id,
  f.run,
  f.host,
  f.device,
  f.device_id,
  f.module_id,
  f.module_name,
  CAST(NULL AS BIGINT) AS execution_id,
  CASE WHEN f.fatal = 1 THEN 'error' ELSE 'warning' END AS severity,
  'read' AS evidence,
  CASE
    WHEN f.fatal IS NULL AND f.used_bytes IS NOT NULL THEN
      COALESCE(f.allocator, 'The device') || ' held ' || CAST(f.used_bytes AS VARCHAR(20))
        || ' bytes' || COALESCE(' of ' || CAST(f.capacity_bytes AS VARCHAR(20)) || ' bytes', '')
    WHEN f.requested_bytes IS NULL THEN
      COALESCE(f.module_name, COALESCE(f.allocator, 'The program')) || ' ran out of device memory'
    ELSE
      COALESCE(f.module_name || ': a', 'A') || ' request of '
        || CAST(f.requested_bytes AS VARCHAR(20)) || ' bytes failed'
  END
    || COALESCE(
      CASE WHEN b.branch = 'victim' THEN ': it is the victim, others hold the memory'
        WHEN b.branch = 'absurd' THEN ': a mistake in a shape, not a matter of tuning'
        WHEN b.branch = 'equal_chunks' THEN
          ': ' || CAST(b.chunk_count AS VARCHAR(20)) || ' arrays of one size hold the memory'
      END,
      COALESCE(': ' || CAST(f.free_bytes AS VARCHAR(20)) || ' bytes were free', ''))
    AS title,
  CASE
    WHEN f.used_bytes IS NULL AND f.capacity_bytes IS NULL THEN ''
    WHEN f.used_bytes IS NULL THEN
      'The device may use ' || CAST(f.capacity_bytes AS VARCHAR(20)) || ' bytes (read). '
    ELSE
      'In use ' || CAST(f.used_bytes AS VARCHAR(20)) || ' bytes'
        || COALESCE(' of ' || CAST(f.capacity_bytes AS VARCHAR(20)) || ' bytes', '') || ' (read). '
  END
    || b.because
    || COALESCE(' The plan is that of this run, matched by ' || f.matched_by || '.', '')
    || CASE WHEN f.fatal IS NULL THEN
      ' The text does not say whether it failed.' ELSE '' END
    || COALESCE(' Largest: ' || b.largest_words || '.', '') AS detail,
  f.requested_bytes AS bytes
FROM oom_failures f
JOIN oom_branches b ON b.oom_event_id = f.oom_event_id
WHERE f.stage = 'run' AND b.branch <> 'fragmentation'
  AND (f.fatal = 1 OR f.used_bytes IS NOT NULL OR b.largest_words IS NOT NULL);
