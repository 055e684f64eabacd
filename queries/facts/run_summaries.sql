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
SELECT
  c.run,
  COUNT(*) AS capture_count,
  CAST(SUM(CASE WHEN c.kind = 'xplane' THEN 1 ELSE 0 END) AS BIGINT) AS profiler_capture_count,
  COUNT(DISTINCT CASE WHEN c.kind = 'xplane' THEN c.host END) AS profiled_host_count,
  CAST(SUM(CASE WHEN c.kind = 'oom_log' THEN 1 ELSE 0 END) AS BIGINT) AS log_count,
  CAST(SUM(CASE WHEN c.kind = 'device_memory_profile' THEN 1 ELSE 0 END) AS BIGINT)
    AS profile_count,
  (SELECT COUNT(*) FROM captures x JOIN devices d ON d.capture_id = x.capture_id
    WHERE x.run = c.run) AS device_count,
  (SELECT COUNT(*) FROM captures x JOIN oom_events o ON o.capture_id = x.capture_id
    WHERE x.run = c.run) AS oom_event_count,
  (SELECT MAX(j.hosts) FROM jobs j WHERE j.run = c.run) AS job_host_count
FROM captures c
GROUP BY c.run;
