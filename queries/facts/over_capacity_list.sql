-- id: over_capacity_list
-- title: The three largest parts of every plan that does not fit, in words
-- words largest: {first_count:n} × {first_shape} ({first_kind}, {first_bytes:bytes})[,
--   {second_count:n} × {second_shape} ({second_kind}, {second_bytes:bytes})][, {third_count:n} ×
--   {third_shape} ({third_kind}, {third_bytes:bytes})]
-- columns:
--   device_id: the device; NULL without devices
--   module_id: the module
--   largest: count, shape, kind and bytes of each
CREATE VIEW over_capacity_list AS
WITH by_shape AS (
  SELECT
    p.device_id,
    p.module_id,
    p.kind,
    p.shape,
    COUNT(*) AS count,
    CAST(SUM(p.bytes) AS BIGINT) AS bytes
  FROM over_capacity_parts p
  GROUP BY p.device_id, p.module_id, p.kind, p.shape
),
ordered AS (
  SELECT
    s.device_id,
    s.module_id,
    s.kind,
    COALESCE(s.shape, 'one block') AS shape,
    s.count,
    s.bytes,
    ROW_NUMBER() OVER (
      PARTITION BY s.module_id, s.device_id
      ORDER BY s.bytes DESC NULLS LAST, s.kind NULLS FIRST, s.shape NULLS FIRST
    ) AS position
  FROM by_shape s
)
SELECT
  o.device_id,
  o.module_id,
  MAX(CASE WHEN o.position = 1 THEN o.count END) AS first_count,
  MAX(CASE WHEN o.position = 1 THEN o.shape END) AS first_shape,
  MAX(CASE WHEN o.position = 1 THEN o.kind END) AS first_kind,
  MAX(CASE WHEN o.position = 1 THEN o.bytes END) AS first_bytes,
  MAX(CASE WHEN o.position = 2 THEN o.count END) AS second_count,
  MAX(CASE WHEN o.position = 2 THEN o.shape END) AS second_shape,
  MAX(CASE WHEN o.position = 2 THEN o.kind END) AS second_kind,
  MAX(CASE WHEN o.position = 2 THEN o.bytes END) AS second_bytes,
  MAX(CASE WHEN o.position = 3 THEN o.count END) AS third_count,
  MAX(CASE WHEN o.position = 3 THEN o.shape END) AS third_shape,
  MAX(CASE WHEN o.position = 3 THEN o.kind END) AS third_kind,
  MAX(CASE WHEN o.position = 3 THEN o.bytes END) AS third_bytes
FROM ordered o
WHERE o.position <= 3
GROUP BY o.device_id, o.module_id;
