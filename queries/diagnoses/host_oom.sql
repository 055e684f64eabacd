-- id: host_oom
-- title: The host's memory ran out, not the device's
-- asks: Does a log tell of host or pinned memory that could not be allocated?
-- needs: the run time's error text
-- tags: oom, host, log
-- severity: error; warning where the text does not say that it failed
-- cause: Pinned host memory has a limit of its own (64 GiB where it is not set), and a CPU device
--   allocates in the machine's memory. Neither says anything about the accelerator.
-- empty without: oom_events
-- columns:
--   capture_id: the log
--   run: its run
--   host: its host
--   device: ordinal of the device; NULL when the text names none
--   device_id: NULL
--   module_id: the module of the same run, where one matches
--   module_name: its name
--   execution_id: NULL: a log knows no executions
--   severity: error or warning
--   evidence: read
--   title: one sentence
--   detail: which memory, and its limit
--   bytes: the request that failed (bytes)
-- how to read: The limit of the pinned pool is a setting of the program, not of the machine.
-- next: oomdb query --db oom.db "SELECT line, message FROM oom_events WHERE memory_space = 'host'"
CREATE VIEW host_oom AS
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
  CASE b.branch
    WHEN 'pinned' THEN 'The pinned host memory is full, not the device'
    ELSE 'The machine''s own memory ran out'
  END
    || COALESCE(': a request of ' || CAST(f.requested_bytes AS VARCHAR(20)) || ' bytes failed', '')
    AS title,
  CASE b.branch
    WHEN 'pinned' THEN
      COALESCE('The pool may hold ' || CAST(f.capacity_bytes AS VARCHAR(20)) || ' bytes (read). ',
        '') || 'It takes what is offloaded to the host and what is copied to and from the device.'
    ELSE
      'On a CPU device arrays lie in the machine''s memory: one this large is mostly a copy per'
        || ' index or per batch element.'
  END AS detail,
  f.requested_bytes AS bytes
FROM oom_failures f
JOIN oom_branches b ON b.oom_event_id = f.oom_event_id
WHERE f.stage = 'host' AND b.branch <> 'fragmentation';
