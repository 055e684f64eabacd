-- id: other_arrays_take_room
-- title: The step would fit, but other arrays are on the device
-- asks: Did an execution fail whose plan alone would fit, because of what else was in use at its
--   start?
-- needs: allocator events, a plan, and an execution that launched nothing
-- tags: oom, runtime, arrays
-- severity: error
-- cause: A data set, an evaluation copy, prefetched batches or the outputs of another function stay
--   on the device while the step runs.
-- columns:
--   capture_id: the capture
--   run: its run
--   host: its host
--   device: ordinal of the device
--   device_id: the device
--   module_id: the module that failed
--   module_name: its name
--   execution_id: its first execution that launched nothing
--   severity: error
--   evidence: measured
--   title: one sentence
--   detail: the largest groups of what else is live
--   bytes: in use at the start, less the step's own parameters (bytes)
-- how to read: Others are what was in use when the execution started, less the parameters of its
--   plan. Their origin is the call that allocated them; "allocated before the capture began" can
--   only be told by profiling earlier.
-- next: oomdb query --db oom.db "SELECT label, bytes, count FROM finding_items WHERE finding_id
--   LIKE 'other_arrays_take_room%'"
CREATE VIEW other_arrays_take_room AS
WITH words AS (
  SELECT
    g.execution_id,
    MAX(CASE WHEN g.position = 1 THEN g.origin || ' ' || CAST(g.bytes AS VARCHAR(20))
      || ' bytes' END)
      || COALESCE(MAX(CASE WHEN g.position = 2 THEN ', ' || g.origin || ' '
        || CAST(g.bytes AS VARCHAR(20)) || ' bytes' END), '')
      || COALESCE(MAX(CASE WHEN g.position = 3 THEN ', ' || g.origin || ' '
        || CAST(g.bytes AS VARCHAR(20)) || ' bytes' END), '') AS origins
  FROM failed_live_groups g
  GROUP BY g.execution_id
)
SELECT
  d.capture_id,
  d.run,
  d.host,
  d.device,
  d.device_id,
  d.module_id,
  d.module_name,
  f.execution_id,
  'error' AS severity,
  'measured' AS evidence,
  'Other arrays hold ' || CAST(f.others_bytes AS VARCHAR(20)) || ' bytes, so ' || d.label
    || ' finds no room: it would fit alone' AS title,
  'The plan needs ' || CAST(d.plan_bytes AS VARCHAR(20)) || ' bytes (read) of '
    || CAST(d.capacity_bytes AS VARCHAR(20)) || ' bytes (' || d.capacity_evidence
    || '). When the execution started, ' || CAST(f.in_use_at_start_bytes AS VARCHAR(20))
    || ' bytes were in use (measured), '
    || CAST(f.others_bytes AS VARCHAR(20)) || ' bytes more than its own parameters: '
    || CAST(d.plan_bytes + f.others_bytes - d.capacity_bytes AS VARCHAR(20)) || ' bytes too many.'
    || COALESCE(' Largest: ' || w.origins || '.', '') AS detail,
  f.others_bytes AS bytes
FROM failed_executions f
JOIN module_devices d ON d.module_id = f.module_id AND d.device_id = f.device_id
LEFT JOIN words w ON w.execution_id = f.execution_id
WHERE f.place = 1
  AND d.plan_bytes <= d.capacity_bytes
  AND d.plan_bytes + f.others_bytes > d.capacity_bytes
  -- NOT IN: looked up once, not for every failure.
  AND f.execution_id NOT IN (SELECT g.execution_id FROM growth_failures g);
