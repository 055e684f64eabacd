-- id: host_comparison
-- title: The hosts of each run side by side, device by device, and which of them stand out
-- columns:
--   run: the run
--   host: the host
--   device: ordinal of the device as recorded
--   module_name: the module whose executions are compared: of those that ran often on most devices
--     of the run the one with the largest plan
--   capacity_bytes: what the device may use (bytes)
--   executions: executions of that module
--   first_in_use_bytes: in use when the first of them started (bytes)
--   last_in_use_bytes: in use when the last of them started (bytes)
--   growth_bytes: growth per execution (bytes)
--   peak_bytes: the most in use that the capture saw (bytes)
--   wait_ns: how long executions waited for memory (ns)
--   failed_count: executions known to have failed
--   plan_peak_bytes: the largest peak of a plan (bytes)
--   odd: 1 when the device stands out from its peers, else 0
--   odd_in: by which figures: growth, capacity, in use, waits; NULL when it doesn't
--   status: complete or truncated: what is cut is shown, but not compared
--   capture_id: the capture
--   device_id: the device; NULL for a capture without devices
-- how to read: Rows of one run are comparable where its captures are hosts of one job; host_skew
--   says who stands out and how far.
CREATE VIEW host_comparison AS
WITH marks AS (
  SELECT
    o.device_id,
    COALESCE(MAX(CASE WHEN o.metric = 'growth' THEN ', growth' END), '')
      || COALESCE(MAX(CASE WHEN o.metric = 'capacity' THEN ', capacity' END), '')
      || COALESCE(MAX(CASE WHEN o.metric = 'in use' THEN ', in use' END), '')
      || COALESCE(MAX(CASE WHEN o.metric = 'waits' THEN ', waits' END), '') AS metrics
  FROM host_oddities o
  GROUP BY o.device_id
)
SELECT
  h.run,
  h.host,
  h.device,
  h.module_name,
  h.capacity_bytes,
  h.executions,
  h.first_in_use_bytes,
  h.last_in_use_bytes,
  h.growth_bytes,
  h.peak_bytes,
  h.wait_ns,
  h.failed_count,
  h.plan_peak_bytes,
  CASE WHEN m.device_id IS NULL THEN 0 ELSE 1 END AS odd,
  -- Without the first comma.
  SUBSTR(m.metrics, 3) AS odd_in,
  h.status,
  h.capture_id,
  h.device_id
FROM host_devices h
LEFT JOIN marks m ON m.device_id = h.device_id;
