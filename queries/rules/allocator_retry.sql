-- id: allocator_retry
-- title: The allocator waited for memory
-- rank: 170
-- verdict: pool full
-- incident: device
-- explained by: step_does_not_fit, grows_per_execution, other_arrays_take_room, fragmentation,
--   no_donation, runtime_oom
-- symptom: yes
-- asks: Did an execution wait for memory, and did it get it?
-- needs: allocator events, or events of the waits themselves
-- tags: oom, runtime, wait
-- severity: error when the execution failed, warning from one second on, else info
-- cause: When the pool has no room, the allocator waits up to ten seconds for frees before it gives
--   up.
-- how to read: A wait that ends in nothing launched is the moment of the failure, inside this
--   capture. The request is the first output or temp of the plan that the execution had not got and
--   that is larger than the largest free block.
-- next: oomdb query --db oom.db "SELECT sequence, wait_ns, wait_evidence, launched FROM executions
--   WHERE wait_ns > 0"
-- says: The allocator waited {longest_ns:ns} for [{module_name}](nameless?an execution)(failed? and
--   gave up; it failed before launch|(launched?, which then ran|; how that ended is not in the
--   capture))
-- detail: {waits:n} (one_wait?wait|waits), the longest {longest_ns:ns} ({evidence}).(failed?
--   Execution {sequence:n} of [{module_name}](nameless?the module) failed before launch (measured):
--   the out-of-memory failure happened inside this capture.[ It asked for the {failed_class}
--   allocation {failed_allocation_index:n} of its plan, {bytes:bytes} (inferred)][;
--   {free_bytes:bytes} were free][, the largest block
--   {largest_free_bytes:bytes}](sized?.)|(launched? It got its memory in the end; every wait is
--   lost time.| Whether it got its memory is not in the capture.))
-- quiet: no waits for memory
-- columns:
--   module_id: the module whose execution waited
--   execution_id: the one that failed, else the one that waited longest
--   evidence: measured when the build records waits, else inferred from a silent stretch
--   bytes: the request that failed (bytes); NULL when the wait succeeded
--   waits: how often it waited
--   longest_ns: the longest wait (ns)
--   sequence: which execution of the module it is
--   failed_class: output or temp: what the request was for
--   failed_allocation_index: the allocation of its plan
--   free_bytes: free then (bytes)
--   largest_free_bytes: the largest free block then (bytes)
--   failed: 1 when it failed, else 0
--   launched: 1 when it launched, else 0
--   one_wait: 1 when it waited once, else 0
--   nameless: 1 when the module is unknown, else 0
--   sized: 1 when the request or what was free is known, else 0
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
    e.wait_evidence AS evidence,
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
    w.*,
    ROW_NUMBER() OVER (
      PARTITION BY w.capture_id, w.device_id, w.module_id
      ORDER BY w.failed DESC NULLS LAST, w.wait_ns DESC NULLS LAST, w.start_ns, w.execution_id
    ) AS position,
    CAST(SUM(w.retries) OVER (PARTITION BY w.capture_id, w.device_id,
      w.module_id) AS BIGINT) AS waits,
    MAX(w.wait_ns) OVER (PARTITION BY w.capture_id, w.device_id, w.module_id) AS longest_ns
  FROM waits w
)
SELECT
  o.*,
  d.ordinal AS device,
  CASE
    WHEN o.failed = 1 THEN 'error'
    WHEN o.longest_ns >= (SELECT s.setting FROM settings s WHERE s.name = 'wait_warning_ns')
      THEN 'warning'
    ELSE 'info'
  END AS severity,
  f.failed_bytes AS bytes,
  f.failed_class,
  f.failed_allocation_index,
  f.free_bytes,
  f.largest_free_bytes,
  CASE WHEN o.waits = 1 THEN 1 ELSE 0 END AS one_wait,
  CASE WHEN o.module_name IS NULL THEN 1 ELSE 0 END AS nameless,
  CASE WHEN f.failed_bytes IS NULL AND f.free_bytes IS NULL THEN 0 ELSE 1 END AS sized
FROM ordered o
LEFT JOIN devices d ON d.device_id = o.device_id
LEFT JOIN failed_executions f ON f.execution_id = o.execution_id
WHERE o.position = 1;

-- title: The executions that waited for memory, longest wait first
-- words label: execution {sequence:n} waited {wait_ns:ns}(failed? and failed before launch)
-- columns:
--   module_id: the module whose executions waited
--   position: from 1, longest wait first
--   kind: wait
--   label: the execution, how long it waited and what came of it
--   bytes: the request that failed (bytes); NULL when the wait succeeded
--   count: waits of that execution
CREATE VIEW allocator_retry_items AS
WITH waits AS (
  SELECT
    f.capture_id,
    f.device_id,
    f.module_id,
    ROW_NUMBER() OVER (
      PARTITION BY f.capture_id, f.device_id, f.module_id
      ORDER BY e.wait_ns DESC NULLS LAST, e.start_ns, e.execution_id
    ) AS position,
    'wait' AS kind,
    e.sequence,
    e.wait_ns,
    CASE WHEN x.execution_id IS NULL THEN 0 ELSE 1 END AS failed,
    x.failed_bytes AS bytes,
    COALESCE(e.retry_count, 1) AS count
  FROM allocator_retry f
  JOIN executions e
    ON e.capture_id = f.capture_id
    AND (e.device_id = f.device_id OR (e.device_id IS NULL AND f.device_id IS NULL))
    AND (e.module_id = f.module_id OR (e.module_id IS NULL AND f.module_id IS NULL))
  LEFT JOIN failed_executions x ON x.execution_id = e.execution_id
  WHERE e.wait_ns > 0
)
SELECT w.*
FROM waits w
WHERE w.position <= (SELECT s.setting FROM settings s WHERE s.name = 'items_max');

-- title: Modules that ran beside recorded allocators and never waited
CREATE VIEW allocator_retry_quiet AS
WITH ran AS (
  SELECT
    e.capture_id,
    e.device_id,
    e.module_id,
    MAX(e.wait_ns) OVER (PARTITION BY e.capture_id, e.device_id, e.module_id) AS longest_ns,
    ROW_NUMBER() OVER (
      PARTITION BY e.capture_id, e.device_id, e.module_id ORDER BY e.start_ns, e.execution_id
    ) AS position
  FROM executions e
)
SELECT r.capture_id, r.device_id, r.module_id
FROM ran r
WHERE r.position = 1
  AND COALESCE(r.longest_ns, 0) = 0
  AND EXISTS (
    SELECT 1 FROM allocators a WHERE a.capture_id = r.capture_id AND a.device_id IS NOT NULL
  );
