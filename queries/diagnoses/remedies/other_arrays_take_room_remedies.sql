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
    CASE WHEN g.origin LIKE 'BufferFromHostBuffer%' THEN 1 ELSE 0 END AS from_host
  FROM other_arrays_take_room f
  JOIN module_devices d ON d.module_id = f.module_id AND d.device_id = f.device_id
  JOIN failed_live_groups g ON g.execution_id = f.execution_id AND g.position = 1
),
fixes AS (
  SELECT
    z.device_id,
    z.module_id,
    1 AS place,
    'keep it on the host and stream it in batches: ' || z.origin AS fix,
    z.bytes AS saving_bytes,
    'a transfer for every batch' AS cost,
    0 AS changes_results
  FROM sized z
  WHERE z.from_host = 1
  UNION ALL
  SELECT z.device_id, z.module_id, 2,
    'free it before the step, or drop the reference: ' || z.origin, z.bytes, 'it must be made again when needed', 0
  FROM sized z
  UNION ALL
  SELECT z.device_id, z.module_id, 3,
    'hold it in a type of half the size: ' || z.origin,
    CAST((z.bytes - z.bytes % 2) / 2 AS BIGINT), 'precision of these arrays', 1
  FROM sized z
  UNION ALL
  SELECT z.device_id, z.module_id, 4,
    'start the profile before they are made, to see where they come from', NULL, 'one more run', 0
  FROM sized z
  WHERE z.unseen = 1
)
SELECT
  z.capture_id,
  z.device_id,
  z.module_id,
  ROW_NUMBER() OVER (PARTITION BY z.device_id, z.module_id ORDER BY f.place) AS position,
  f.fix,
  f.saving_bytes,
  z.total_bytes - f.saving_bytes AS needs_bytes,
  CASE
    WHEN f.saving_bytes IS NULL THEN NULL
    WHEN z.total_bytes - f.saving_bytes <= z.capacity_bytes THEN 1
    ELSE 0
  END AS fits,
  f.cost,
  f.changes_results,
  'inferred' AS evidence
FROM sized z
JOIN fixes f ON f.device_id = z.device_id AND f.module_id = z.module_id;
