-- id: failed_live_list
-- title: What was live when an execution failed before it launched, in words
-- words origins: {first_origin} ({first_count:n} live, {first_bytes:bytes})[, {second_origin}
--   ({second_count:n} live, {second_bytes:bytes})]
-- words sizes: {first_origin} {first_bytes:bytes}[, {second_origin} {second_bytes:bytes}][,
--   {third_origin} {third_bytes:bytes}]
-- columns:
--   execution_id: the execution
--   origins: the two largest origins, how many are live, and their bytes
--   sizes: the three largest origins and their bytes
CREATE VIEW failed_live_list AS
SELECT
  g.execution_id,
  MAX(CASE WHEN g.position = 1 THEN g.origin END) AS first_origin,
  MAX(CASE WHEN g.position = 1 THEN g.count END) AS first_count,
  MAX(CASE WHEN g.position = 1 THEN g.bytes END) AS first_bytes,
  MAX(CASE WHEN g.position = 2 THEN g.origin END) AS second_origin,
  MAX(CASE WHEN g.position = 2 THEN g.count END) AS second_count,
  MAX(CASE WHEN g.position = 2 THEN g.bytes END) AS second_bytes,
  MAX(CASE WHEN g.position = 3 THEN g.origin END) AS third_origin,
  MAX(CASE WHEN g.position = 3 THEN g.bytes END) AS third_bytes
FROM failed_live_groups g
GROUP BY g.execution_id;
