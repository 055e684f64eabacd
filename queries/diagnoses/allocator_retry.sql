-- id: allocator_retry
-- title: The allocator waited for memory
-- asks: Did an execution wait for memory, and did it get it?
-- needs: allocator events, or events of the waits themselves
-- tags: oom, runtime, wait
-- severity: error when the execution failed, warning from one second on, else info
-- cause: When the pool has no room, the allocator waits up to ten seconds for frees before it gives
--   up.
-- columns:
--   capture_id: the capture
--   run: its run
--   host: its host
--   device: ordinal of the device
--   device_id: the device
--   module_id: the module whose execution waited
--   module_name: its name
--   execution_id: the one that failed, else the one that waited longest
--   severity: error, warning or info
--   evidence: measured when the build records waits, else inferred from a silent stretch
--   title: one sentence
--   detail: how often, how long, and what the request was
--   bytes: the request that failed (bytes); NULL when the wait succeeded
-- how to read: A wait that ends in nothing launched is the moment of the failure, inside this
--   capture. The request is the first output or temp of the plan that the execution had not got and
--   that is larger than the largest free block.
-- next: oomdb query --db oom.db "SELECT sequence, wait_ns, wait_evidence, launched FROM executions
--   WHERE wait_ns > 0"
CREATE VIEW allocator_retry AS
-- A silent stretch means a wait only where the execution then failed; otherwise it may be compiling
-- or loading.
WITH waits AS (
  SELECT
    e.capture_id,
    e.device_id,
    e.module_id,
    e.module_name,
    e.execution_id,
    e.sequence,
    e.start_ns,
    e.wait_ns,
    e.wait_evidence,
    COALESCE(e.retry_count, 1) AS retries,
    c.run,
    c.host,
    CASE WHEN e.failed = 1 AND c.status = 'complete' THEN 1 ELSE 0 END AS failed,
    -- Of an execution in a truncated capture, or one without evidence, nobody knows how it ended.
    COALESCE(e.launched, 0) AS launched
  FROM executions e
  JOIN captures c ON c.capture_id = e.capture_id
  WHERE e.wait_ns > 0
    AND (e.wait_evidence = 'measured'
      OR (e.failed = 1
        AND c.status = 'complete'
        AND e.wait_ns >= (SELECT s.setting FROM settings s WHERE s.name = 'wait_min_ns')))
),
ordered AS (
  SELECT
    w.capture_id,
    w.device_id,
    w.module_id,
    w.module_name,
    w.execution_id,
    w.sequence,
    w.wait_evidence,
    w.run,
    w.host,
    w.failed,
    w.launched,
    ROW_NUMBER() OVER (
      PARTITION BY w.capture_id, w.device_id, w.module_id
      ORDER BY w.failed DESC NULLS LAST, w.wait_ns DESC NULLS LAST, w.start_ns, w.execution_id
    ) AS place,
    CAST(SUM(w.retries) OVER (PARTITION BY w.capture_id, w.device_id,
      w.module_id) AS BIGINT) AS waits,
    MAX(w.wait_ns) OVER (PARTITION BY w.capture_id, w.device_id, w.module_id) AS longest_ns,
    CAST(SUM(w.failed) OVER (PARTITION BY w.capture_id, w.device_id,
      w.module_id) AS BIGINT) AS failures
  FROM waits w
)
SELECT
  o.capture_id,
  o.run,
  o.host,
  d.ordinal AS device,
  o.device_id,
  o.module_id,
  o.module_name,
  o.execution_id,
  CASE
    WHEN o.failed = 1 THEN 'error'
    WHEN o.longest_ns >= (SELECT s.setting FROM settings s WHERE s.name = 'wait_warning_ns')
      THEN 'warning'
    ELSE 'info'
  END AS severity,
  o.wait_evidence AS evidence,
  'The allocator waited ' || CAST(o.longest_ns AS VARCHAR(20)) || ' ns for '
    || COALESCE(o.module_name, 'an execution')
    || CASE WHEN o.failed = 1 THEN ' and gave up; nothing was launched'
      WHEN o.launched = 1 THEN ', which then ran'
      ELSE '; how that ended is not in the capture' END AS title,
  CAST(o.waits AS VARCHAR(20)) || CASE WHEN o.waits = 1 THEN ' wait' ELSE ' waits' END
    || ', the longest '
    || CAST(o.longest_ns AS VARCHAR(20)) || ' ns (' || o.wait_evidence || ').'
    || CASE
      WHEN o.failed = 1 THEN
        ' Execution ' || CAST(o.sequence AS VARCHAR(20)) || ' of ' || COALESCE(o.module_name,
          'the module')
        || ' launched nothing (measured): the out-of-memory failure happened inside this capture.'
        || COALESCE(' It asked for the ' || f.failed_class || ' allocation '
          || CAST(f.failed_allocation_index AS VARCHAR(20)) || ' of its plan, '
          || CAST(f.failed_bytes AS VARCHAR(20)) || ' bytes (inferred)', '')
        || COALESCE('; ' || CAST(f.free_bytes AS VARCHAR(20)) || ' bytes were free', '')
        || COALESCE(', the largest block '
          || CAST(f.largest_free_bytes AS VARCHAR(20)) || ' bytes', '')
        || CASE WHEN f.failed_bytes IS NULL AND f.free_bytes IS NULL THEN '' ELSE '.' END
      WHEN o.launched = 1 THEN ' It got its memory in the end; every wait is lost time.'
      ELSE ' Whether it got its memory is not in the capture.'
    END AS detail,
  f.failed_bytes AS bytes
FROM ordered o
LEFT JOIN devices d ON d.device_id = o.device_id
LEFT JOIN failed_executions f ON f.execution_id = o.execution_id
WHERE o.place = 1;
