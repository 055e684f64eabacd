-- id: lost_events
-- title: Allocator events are missing from the capture
-- rank: 190
-- verdict: can't tell
-- asks: Do an allocator's running totals contradict one another?
-- needs: allocator events
-- tags: data
-- severity: warning
-- cause: The profiler dropped events: its buffers were full.
-- how to read: Every event states the bytes in use after it. Where that is not the total before it
--   plus or minus its own bytes, at least one event in between is missing, and live memory after
--   that point is only partly explained.
-- next: oomdb query --db oom.db "SELECT name, reconciliation_breaks, allocation_count,
--   deallocation_count FROM allocators"
-- says: Allocator events of {allocator} are missing: its totals contradict one another {breaks:n}
--   (once?time|times)
-- detail: {breaks:n} of {events:n} recorded events (once?states|state) a total that is impossible
--   after the one before (measured). What was live, and where it came from, is incomplete from
--   there on; the totals themselves are right.
-- columns:
--   device: ordinal of the device; NULL for host pools
--   bytes: always NULL
--   allocator: the allocator's name
--   breaks: its events whose total contradicts the one before
--   events: its events
--   once: 1 when there is one contradiction, else 0
CREATE VIEW lost_events AS
WITH broken AS (
  SELECT
    a.capture_id,
    a.device_id,
    MIN(a.name) AS allocator,
    CAST(SUM(a.reconciliation_breaks) AS BIGINT) AS breaks,
    CAST(SUM(a.allocation_count + a.deallocation_count) AS BIGINT) AS events
  FROM allocators a
  GROUP BY a.capture_id, a.device_id
)
SELECT
  c.capture_id,
  c.run,
  c.host,
  d.ordinal AS device,
  b.device_id,
  CAST(NULL AS BIGINT) AS module_id,
  CAST(NULL AS VARCHAR(20)) AS module_name,
  CAST(NULL AS BIGINT) AS execution_id,
  'warning' AS severity,
  'measured' AS evidence,
  CAST(NULL AS BIGINT) AS bytes,
  b.allocator,
  b.breaks,
  b.events,
  CASE WHEN b.breaks = 1 THEN 1 ELSE 0 END AS once
FROM broken b
JOIN captures c ON c.capture_id = b.capture_id
LEFT JOIN devices d ON d.device_id = b.device_id
WHERE b.breaks >= (SELECT s.setting FROM settings s WHERE s.name = 'lost_events_min');
