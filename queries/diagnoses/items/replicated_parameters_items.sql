-- id: replicated_parameters_items
-- title: The parameters that every partition holds whole
-- columns:
--   capture_id: the capture
--   device_id: the device; NULL without devices
--   module_id: the module
--   position: from 1, most bytes first
--   kind: replicated parameter
--   label: their shape, and the number of the first
--   bytes: what they take on each device (bytes)
--   count: parameters of this shape
CREATE VIEW replicated_parameters_items AS
WITH grouped AS (
  SELECT
    r.capture_id,
    r.device_id,
    r.module_id,
    COALESCE(a.shape, 'unknown shape') AS shape,
    MIN(a.parameter_number) AS parameter_number,
    CAST(SUM(a.bytes) AS BIGINT) AS bytes,
    COUNT(*) AS count
  FROM replicated_parameters r
  JOIN plan_allocations a ON a.module_id = r.module_id
  WHERE a.class = 'parameter' AND a.memory_space = 0 AND a.is_tuple = 0 AND a.shard_count = 1
    AND a.bytes >= (SELECT s.setting FROM settings s WHERE s.name = 'replicated_min_bytes')
  GROUP BY r.capture_id, r.device_id, r.module_id, COALESCE(a.shape, 'unknown shape')
),
ordered AS (
  SELECT
    g.capture_id,
    g.device_id,
    g.module_id,
    ROW_NUMBER() OVER (
      PARTITION BY g.module_id, g.device_id
      ORDER BY g.bytes DESC NULLS LAST, g.shape NULLS FIRST
    ) AS position,
    g.shape || CASE WHEN g.count = 1 THEN ', parameter ' ELSE ', the first parameter ' END
      || CAST(g.parameter_number AS VARCHAR(20)) AS label,
    g.bytes,
    g.count
  FROM grouped g
)
SELECT
  o.capture_id,
  o.device_id,
  o.module_id,
  o.position,
  'replicated parameter' AS kind,
  o.label,
  o.bytes,
  o.count
FROM ordered o
WHERE o.position <= (SELECT s.setting FROM settings s WHERE s.name = 'items_max');
