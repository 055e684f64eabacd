-- id: growth_holder_list
-- title: What may hold what a growing module leaves behind, in words
-- words events: {event_1}[ at {caller}] (in {gaps:n} of {all_gaps:n} gaps(only_host?; no other host
--   of the job did))[, {event_2}][, {event_3}][, {event_4}][, {event_5}]
-- columns:
--   device_id: the device
--   events: the first five events, the likeliest first
CREATE VIEW growth_holder_list AS
SELECT
  h.device_id,
  MAX(CASE WHEN h.position = 1 THEN h.event END) AS event_1,
  MAX(CASE WHEN h.position = 1 THEN h.caller END) AS caller,
  MAX(CASE WHEN h.position = 1 THEN h.gaps END) AS gaps,
  MAX(CASE WHEN h.position = 1 THEN h.all_gaps END) AS all_gaps,
  MAX(CASE WHEN h.position = 1 THEN h.only_host END) AS only_host,
  MAX(CASE WHEN h.position = 2 THEN h.event END) AS event_2,
  MAX(CASE WHEN h.position = 3 THEN h.event END) AS event_3,
  MAX(CASE WHEN h.position = 4 THEN h.event END) AS event_4,
  MAX(CASE WHEN h.position = 5 THEN h.event END) AS event_5
FROM growth_holders h
GROUP BY h.device_id;
