-- id: failed_chunks
-- title: The allocator's memory by address, as the error log printed it when a request failed
-- empty without: oom_chunks
-- columns:
--   capture_id: the error log
--   oom_event_id: the failure that the dump belongs to; of several dumps the last
--   region: from 1; chunks of two regions never join
--   position: from 1
--   address: where it begins; NULL: not printed
--   bytes: its size (bytes)
--   in_use: 1; 0 when it is free
--   op_name: who holds it, where the dump says so
CREATE VIEW failed_chunks AS
WITH dumps AS (
  SELECT o.capture_id, MAX(c.oom_event_id) AS oom_event_id
  FROM oom_events o
  JOIN oom_chunks c ON c.oom_event_id = o.oom_event_id
  GROUP BY o.capture_id
)
SELECT d.capture_id, d.oom_event_id, c.region, c.position, c.address, c.bytes, c.in_use, c.op_name
FROM dumps d
JOIN oom_chunks c ON c.oom_event_id = d.oom_event_id;
