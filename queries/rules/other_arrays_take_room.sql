-- id: other_arrays_take_room
-- title: The step would fit, but other arrays are on the device
-- rank: 80
-- verdict: other arrays
-- incident: device
-- asks: Did an execution fail whose plan alone would fit, because of what else was in use at its
--   start?
-- needs: allocator events, a plan, and an execution that failed before launch
-- tags: oom, runtime, arrays
-- severity: error
-- cause: A data set, an evaluation copy, prefetched batches or the outputs of another function stay
--   on the device while the step runs.
-- how to read: Others are what was in use when the execution started, less the parameters of its
--   plan. Their origin is the call that allocated them; "allocated before the capture began" can
--   only be told by profiling earlier.
-- next: oomdb query --db oom.db "SELECT label, bytes, count FROM finding_items WHERE finding_id
--   LIKE 'other_arrays_take_room%'"
-- says: Other arrays hold {bytes:bytes}, so {label} finds no room: it would fit alone
-- detail: The plan needs {plan_bytes:bytes} (read) of {capacity_bytes:bytes} ({capacity_evidence}).
--   When the execution started, {in_use_at_start_bytes:bytes} were in use (measured), {bytes:bytes}
--   more than its own parameters: {short_bytes:bytes} too many.[ Largest: {largest:list}.]
-- columns:
--   module_id: the module that failed
--   execution_id: its first execution that failed before launch
--   severity: error
--   evidence: measured
--   bytes: in use at the start, less the step's own parameters (bytes)
--   label: the module with its program id
--   plan_bytes: what the plan needs (bytes)
--   capacity_bytes: what the device may use (bytes)
--   capacity_evidence: measured, read or inferred
--   in_use_at_start_bytes: in use just before the execution started (bytes)
--   short_bytes: what is missing (bytes)
--   largest: the three largest groups of what else was live
CREATE VIEW other_arrays_take_room AS
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
  f.others_bytes AS bytes,
  d.label,
  d.plan_bytes,
  d.capacity_bytes,
  d.capacity_evidence,
  f.in_use_at_start_bytes,
  d.plan_bytes + f.others_bytes - d.capacity_bytes AS short_bytes,
  l.sizes AS largest
FROM failed_executions f
JOIN module_devices d ON d.module_id = f.module_id AND d.device_id = f.device_id
LEFT JOIN failed_live_list l ON l.execution_id = f.execution_id
WHERE f.place = 1
  AND d.plan_bytes <= d.capacity_bytes
  AND d.plan_bytes + f.others_bytes > d.capacity_bytes
  -- NOT IN: looked up once, not for every failure.
  AND f.execution_id NOT IN (SELECT g.execution_id FROM growth_failures g);

-- title: What else was live when the step found no room
-- columns:
--   module_id: the module that failed
--   kind: live at the start
--   label: where the bytes came from
--   bytes: live bytes of that origin (bytes)
--   count: allocations
CREATE VIEW other_arrays_take_room_items AS
SELECT g.*, 'live at the start' AS kind, g.origin AS label
FROM other_arrays_take_room f
JOIN failed_live_groups g ON g.execution_id = f.execution_id
WHERE g.position <= (SELECT s.setting FROM settings s WHERE s.name = 'items_max');

-- title: How to make room beside a step that fits alone
-- words fix by remedy:
--   profile_earlier: start the profile before these arrays are made, to see where they come from
--   keep_on_host: keep it on the host and stream it in batches: {origin}
--   release: free it before the step, or drop the reference: {origin}
--   narrower_dtype: hold it in a type of half the size: {origin}
-- words cost by remedy:
--   profile_earlier: one more run
--   keep_on_host: a transfer for every batch
--   release: it must be made again when needed
--   narrower_dtype: precision of these arrays
-- columns:
--   module_id: the module that failed
--   saving_bytes: what it saves (bytes); NULL when it only tells more
--   needs_bytes: plan and other arrays, less the saving (bytes)
--   fits: 1 when that is within the capacity, 0 when not, NULL when it only tells more
--   evidence: inferred
CREATE VIEW other_arrays_take_room_remedies AS
WITH sized AS (
  SELECT
    f.capture_id,
    f.device_id,
    f.module_id,
    f.plan_bytes + f.bytes AS total_bytes,
    f.capacity_bytes,
    g.origin,
    g.bytes,
    CASE WHEN LOWER(g.origin) LIKE 'allocated before the capture began%' THEN 1 ELSE 0 END
      AS unseen,
    CASE WHEN LOWER(g.origin) LIKE 'bufferfromhostbuffer%' THEN 1 ELSE 0 END AS from_host
  FROM other_arrays_take_room f
  JOIN failed_live_groups g ON g.execution_id = f.execution_id AND g.position = 1
),
remedies AS (
  SELECT 'profile_earlier' AS remedy, 1 AS preference, 0 AS changes_results
  UNION ALL SELECT 'keep_on_host', 2, 0
  UNION ALL SELECT 'release', 3, 0
  UNION ALL SELECT 'narrower_dtype', 4, 1
),
proposed AS (
  SELECT
    z.*,
    r.remedy,
    r.preference,
    r.changes_results,
    CASE r.remedy
      WHEN 'profile_earlier' THEN NULL
      WHEN 'narrower_dtype' THEN CAST((z.bytes - z.bytes % 2) / 2 AS BIGINT)
      ELSE z.bytes
    END AS saving_bytes
  FROM sized z
  CROSS JOIN remedies r
  WHERE (r.preference = 1 AND z.unseen = 1)
    OR (r.preference = 2 AND z.from_host = 1)
    OR r.preference > 2
)
SELECT
  p.*,
  ROW_NUMBER() OVER (PARTITION BY p.device_id, p.module_id ORDER BY p.preference) AS position,
  p.total_bytes - p.saving_bytes AS needs_bytes,
  CASE
    WHEN p.saving_bytes IS NULL THEN NULL
    WHEN p.total_bytes - p.saving_bytes <= p.capacity_bytes THEN 1
    ELSE 0
  END AS fits,
  'inferred' AS evidence
FROM proposed p;
