-- id: other_arrays_take_room_remedies
-- title: How to make room beside a step that fits alone
-- columns:
--   capture_id: the capture
--   device_id: the device
--   module_id: the module that failed
--   position: from 1, the one to try first
--   fix: what to do
--   saving_bytes: what it saves (bytes); NULL when it only tells more
--   needs_bytes: plan and other arrays, less the saving (bytes)
--   fits: 1 when that is within the capacity, 0 when not, NULL when it only tells more
--   cost: what it costs
--   changes_results: 0 or 1
--   evidence: inferred
CREATE VIEW other_arrays_take_room_remedies AS
WITH sized AS (
  SELECT
    f.capture_id,
    f.device_id,
    f.module_id,
    d.plan_bytes + f.bytes AS total_bytes,
    d.capacity_bytes,
    f.bytes AS others_bytes,
    g.origin,
    g.bytes,
    CASE WHEN g.origin = 'allocated before the capture began' THEN 1 ELSE 0 END AS unseen,
    CASE WHEN LOWER(g.origin) LIKE 'bufferfromhostbuffer%' THEN 1 ELSE 0 END AS from_host
  FROM other_arrays_take_room f
  JOIN module_devices d ON d.module_id = f.module_id AND d.device_id = f.device_id
  JOIN failed_live_groups g ON g.execution_id = f.execution_id AND g.position = 1
),
fixes AS (
  SELECT 1 AS place, 'one more run' AS cost, 0 AS changes_results
  UNION ALL SELECT 2, 'a transfer for every batch', 0
  UNION ALL SELECT 3, 'it must be made again when needed', 0
  UNION ALL SELECT 4, 'precision of these arrays', 1
),
proposed AS (
  SELECT
    z.capture_id,
    z.device_id,
    z.module_id,
    z.total_bytes,
    z.capacity_bytes,
    f.place,
    f.cost,
    f.changes_results,
    CASE f.place
      WHEN 1 THEN 'start the profile before these arrays are made, to see where they come from'
      WHEN 2 THEN 'keep it on the host and stream it in batches: ' || z.origin
      WHEN 3 THEN 'free it before the step, or drop the reference: ' || z.origin
      ELSE 'hold it in a type of half the size: ' || z.origin
    END AS fix,
    CASE f.place
      WHEN 2 THEN z.bytes
      WHEN 3 THEN z.bytes
      WHEN 4 THEN CAST((z.bytes - z.bytes % 2) / 2 AS BIGINT)
    END AS saving_bytes
  FROM sized z
  CROSS JOIN fixes f
  WHERE (f.place = 1 AND z.unseen = 1) OR (f.place = 2 AND z.from_host = 1) OR f.place > 2
)
SELECT
  p.capture_id,
  p.device_id,
  p.module_id,
  ROW_NUMBER() OVER (PARTITION BY p.device_id, p.module_id ORDER BY p.place) AS position,
  p.fix,
  p.saving_bytes,
  p.total_bytes - p.saving_bytes AS needs_bytes,
  CASE
    WHEN p.saving_bytes IS NULL THEN NULL
    WHEN p.total_bytes - p.saving_bytes <= p.capacity_bytes THEN 1
    ELSE 0
  END AS fits,
  p.cost,
  p.changes_results,
  'inferred' AS evidence
FROM proposed p;
