-- id: run_summaries
-- title: Every run, and what kinds of captures it has
-- columns:
--   run: the run; NULL for captures without one
--   capture_count: captures
--   profiler_capture_count: of these, profiler captures (xplane)
--   profiled_host_count: hosts of the profiler captures
--   log_count: error logs
--   profile_count: device memory profiles
--   device_count: devices of all captures
--   oom_event_count: events in the error logs that concern memory
--   job_host_count: hosts of the job; NULL when the profiler captures are not hosts of one job
CREATE VIEW run_summaries AS
-- Counted a capture first: a subquery for each run would look through all captures again.
WITH counted_devices AS (
  SELECT d.capture_id, COUNT(*) AS devices
  FROM devices d
  GROUP BY d.capture_id
),
counted_events AS (
  SELECT o.capture_id, COUNT(*) AS events
  FROM oom_events o
  GROUP BY o.capture_id
)
SELECT
  c.run,
  COUNT(*) AS capture_count,
  CAST(SUM(CASE WHEN c.kind = 'xplane' THEN 1 ELSE 0 END) AS BIGINT) AS profiler_capture_count,
  COUNT(DISTINCT CASE WHEN c.kind = 'xplane' THEN c.host END) AS profiled_host_count,
  CAST(SUM(CASE WHEN c.kind = 'oom_log' THEN 1 ELSE 0 END) AS BIGINT) AS log_count,
  CAST(SUM(CASE WHEN c.kind = 'device_memory_profile' THEN 1 ELSE 0 END) AS BIGINT)
    AS profile_count,
  CAST(SUM(COALESCE(d.devices, 0)) AS BIGINT) AS device_count,
  CAST(SUM(COALESCE(o.events, 0)) AS BIGINT) AS oom_event_count,
  MAX(j.hosts) AS job_host_count
FROM captures c
LEFT JOIN counted_devices d ON d.capture_id = c.capture_id
LEFT JOIN counted_events o ON o.capture_id = c.capture_id
LEFT JOIN jobs j ON j.run = c.run
GROUP BY c.run;
