-- id: no_donation_items
-- title: The shapes of which parameters could be donated
-- columns:
--   capture_id: the capture
--   device_id: the device; NULL without devices
--   module_id: the module
--   position: from 1, most bytes first
--   kind: pair of parameter and result
--   label: their shape
--   bytes: what donating them saves at most (bytes)
--   count: pairs of it
CREATE VIEW no_donation_items AS
WITH ordered AS (
  SELECT
    f.capture_id,
    f.device_id,
    f.module_id,
    ROW_NUMBER() OVER (
      PARTITION BY f.module_id, f.device_id
      ORDER BY p.bytes DESC NULLS LAST, p.shape NULLS FIRST
    ) AS position,
    p.shape,
    p.bytes,
    p.pairs
  FROM no_donation f
  JOIN donation_pairs p ON p.module_id = f.module_id
  WHERE p.state_pairs > 0 OR p.cache_outputs > 0
)
SELECT
  o.capture_id,
  o.device_id,
  o.module_id,
  o.position,
  'pair of parameter and result' AS kind,
  o.shape AS label,
  o.bytes,
  o.pairs AS count
FROM ordered o
WHERE o.position <= (SELECT s.setting FROM settings s WHERE s.name = 'items_max');
