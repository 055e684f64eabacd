-- id: growth_survivor_list
-- title: What survives the executions of a growing module, in words
-- words sequences: {first_sequence:n}[, {second_sequence:n}][, {third_sequence:n}](many?, …)[,
--   {last_sequence:n}]
-- words origins: {first_origin} ({first_count:n} live, {first_bytes:bytes})[, {second_origin}
--   ({second_count:n} live, {second_bytes:bytes})][, {third_origin} ({third_count:n} live,
--   {third_bytes:bytes})]
-- columns:
--   device_id: the device
--   sequences: the module's own executions whose outputs live on; NULL: none
--   origins: the three largest origins, how many are live, and their bytes
CREATE VIEW growth_survivor_list AS
WITH survivors AS (
  SELECT
    s.device_id,
    s.position,
    s.origin,
    s.own_sequence,
    s.bytes,
    s.count,
    -- Of the module's own executions the first is 1.
    CASE WHEN s.own_sequence IS NULL THEN NULL ELSE ROW_NUMBER() OVER (
      PARTITION BY s.device_id ORDER BY s.own_sequence NULLS LAST, s.position
    ) END AS own_position,
    COUNT(s.own_sequence) OVER (PARTITION BY s.device_id) AS sequences
  FROM growth_survivors s
)
SELECT
  s.device_id,
  MAX(CASE WHEN s.own_position = 1 THEN s.own_sequence END) AS first_sequence,
  MAX(CASE WHEN s.own_position = 2 THEN s.own_sequence END) AS second_sequence,
  MAX(CASE WHEN s.own_position = 3 THEN s.own_sequence END) AS third_sequence,
  MAX(CASE WHEN s.own_position > 3 AND s.own_position = s.sequences THEN s.own_sequence END)
    AS last_sequence,
  CASE WHEN MAX(s.sequences) > 4 THEN 1 ELSE 0 END AS many,
  MAX(CASE WHEN s.position = 1 THEN s.origin END) AS first_origin,
  MAX(CASE WHEN s.position = 1 THEN s.count END) AS first_count,
  MAX(CASE WHEN s.position = 1 THEN s.bytes END) AS first_bytes,
  MAX(CASE WHEN s.position = 2 THEN s.origin END) AS second_origin,
  MAX(CASE WHEN s.position = 2 THEN s.count END) AS second_count,
  MAX(CASE WHEN s.position = 2 THEN s.bytes END) AS second_bytes,
  MAX(CASE WHEN s.position = 3 THEN s.origin END) AS third_origin,
  MAX(CASE WHEN s.position = 3 THEN s.count END) AS third_count,
  MAX(CASE WHEN s.position = 3 THEN s.bytes END) AS third_bytes
FROM survivors s
GROUP BY s.device_id;
