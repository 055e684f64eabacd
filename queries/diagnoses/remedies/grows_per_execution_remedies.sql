-- id: grows_per_execution_remedies
-- title: How to stop a module from leaving memory behind
-- columns:
--   capture_id: the capture
--   device_id: the device
--   module_id: the module that grows
--   position: from 1, the one to try first
--   fix: what to do
--   saving_bytes: what had piled up by the last start (bytes); NULL when nothing is saved
--   needs_bytes: in use, temps and outputs without it (bytes)
--   fits: 1 when that is within the capacity, 0 when not, NULL when the capacity is not known
--   cost: what it costs
--   changes_results: 0 or 1
--   evidence: inferred
CREATE VIEW grows_per_execution_remedies AS
-- Grouped by device, so that an engine looks them up by it.
WITH survivors AS (
  SELECT s.device_id, MAX(CASE WHEN s.position = 1 THEN s.origin END) AS origin
  FROM growth_survivors s
  GROUP BY s.device_id
),
holders AS (
  SELECT
    h.device_id,
    MAX(CASE WHEN h.position = 1 AND h.container = 1 THEN h.event END) AS event
  FROM growth_holders h
  GROUP BY h.device_id
),
sized AS (
  SELECT
    g.capture_id,
    g.device_id,
    g.module_id,
    g.growth_bytes,
    g.last_in_use_bytes - g.first_in_use_bytes AS saving_bytes,
    g.first_in_use_bytes + m.temp_bytes + m.output_bytes AS needs_bytes,
    p.capacity_bytes,
    CASE WHEN 2 * g.own_output_bytes >= g.survivor_bytes THEN 'outputs of ' || m.name
      ELSE s.origin END
      AS survivor,
    CASE WHEN 2 * g.own_output_bytes >= g.survivor_bytes THEN 1 ELSE 0 END AS own,
    h.event
  FROM growth g
  JOIN modules m ON m.module_id = g.module_id
  LEFT JOIN effective_capacity p ON p.device_id = g.device_id
  LEFT JOIN survivors s ON s.device_id = g.device_id
  LEFT JOIN holders h ON h.device_id = g.device_id
),
fixes AS (
  SELECT 1 AS place, 'none' AS cost
  UNION ALL SELECT 2, 'the values themselves are no longer at hand'
  UNION ALL SELECT 3, 'a transfer each time, and host memory'
  UNION ALL SELECT 4, 'it fails later'
)
SELECT
  z.capture_id,
  z.device_id,
  z.module_id,
  ROW_NUMBER() OVER (PARTITION BY z.device_id ORDER BY f.place) AS position,
  CASE f.place
    WHEN 1 THEN 'drop the reference that keeps ' || COALESCE(z.survivor, 'what is left behind')
      || COALESCE(', see ' || z.event, '')
    WHEN 2 THEN 'return less from the step: a norm or a mean instead of the whole tree'
    WHEN 3 THEN 'keep a copy on the host: jax.device_get before it is stored'
    ELSE 'a larger pool only delays it: ' || CAST(z.growth_bytes AS VARCHAR(20))
      || ' bytes more last one execution'
  END AS fix,
  CASE WHEN f.place < 4 THEN z.saving_bytes END AS saving_bytes,
  CASE WHEN f.place < 4 THEN z.needs_bytes END AS needs_bytes,
  CASE
    WHEN f.place = 4 THEN 0
    WHEN z.capacity_bytes IS NULL OR z.needs_bytes IS NULL THEN NULL
    WHEN z.needs_bytes <= z.capacity_bytes THEN 1
    ELSE 0
  END AS fits,
  f.cost,
  0 AS changes_results,
  'inferred' AS evidence
FROM sized z
CROSS JOIN fixes f
WHERE f.place <> 2 OR z.own = 1;
