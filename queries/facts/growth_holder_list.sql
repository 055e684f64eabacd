-- id: growth_holder_list
-- title: What may hold what a growing module leaves behind, in words
-- words events: {first_event}[, {second_event}][, {third_event}][, {fourth_event}][, {fifth_event}]
-- columns:
--   device_id: the device
--   events: the first five events, the likeliest first
CREATE VIEW growth_holder_list AS
SELECT
  h.device_id,
  MAX(CASE WHEN h.position = 1 THEN h.event END) AS first_event,
  MAX(CASE WHEN h.position = 2 THEN h.event END) AS second_event,
  MAX(CASE WHEN h.position = 3 THEN h.event END) AS third_event,
  MAX(CASE WHEN h.position = 4 THEN h.event END) AS fourth_event,
  MAX(CASE WHEN h.position = 5 THEN h.event END) AS fifth_event
FROM growth_holders h
GROUP BY h.device_id;
