-- id: listed_executions
-- title: The executions with their runs, hosts and devices
-- columns:
--   capture_id: the capture
--   run: its run
--   host: its host
--   device: ordinal of the device as recorded; NULL: unknown
--   execution_id: the execution
--   module_name: the module
--   sequence: 1, 2, 3 per device and module, by start
--   start_ns: its start (Unix ns)
--   after_ns: its start after the first of the capture (ns)
--   duration_ns: how long it took (ns)
--   failed: 1 when it is known to have failed
--   in_use_at_start_bytes: in use just before it started (bytes)
--   peak_in_use_bytes: the most in use while it ran (bytes)
--   wait_ns: how long its allocations waited (ns)
CREATE VIEW listed_executions AS
SELECT
  e.capture_id, c.run, c.host, d.ordinal AS device, e.execution_id, e.module_name, e.sequence,
  e.start_ns, e.start_ns - MIN(e.start_ns) OVER (PARTITION BY e.capture_id) AS after_ns,
  e.end_ns - e.start_ns AS duration_ns, e.failed, e.in_use_at_start_bytes, e.peak_in_use_bytes,
  e.wait_ns
FROM executions e
JOIN captures c ON c.capture_id = e.capture_id
LEFT JOIN devices d ON d.device_id = e.device_id;
