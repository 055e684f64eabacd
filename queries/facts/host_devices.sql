-- id: host_devices
-- title: Every device of every host: its memory figures, over the executions of its run's main
--   module
-- columns:
--   capture_id: the capture
--   run: its run
--   host: its host
--   process_index: the process within a multi-host job
--   status: complete or truncated
--   device_id: the device; NULL for a capture without devices
--   device: its ordinal as recorded
--   local_ordinal: its place in the capture, from 0: the same place on every host is comparable
--   device_kind: gpu, tpu or cpu
--   capacity_bytes: what it may use (bytes)
--   module_id: the run's main module on this device: of those that ran often on most devices the
--     one with the largest plan
--   module_name: its name
--   executions: its executions here
--   common_place: the last execution of it that every complete device of the run has
--   first_in_use_bytes: in use when its first execution started (bytes)
--   last_in_use_bytes: in use when its last one started (bytes)
--   common_in_use_bytes: in use when execution number common_place started (bytes)
--   growth_bytes: growth per execution (bytes); 0 when it doesn't grow, NULL when nothing tells
--   peak_bytes: the most in use that the capture saw (bytes)
--   wait_ns: how long executions waited for memory (ns)
--   failed_count: executions known to have failed
--   plan_peak_bytes: the largest peak of a plan of the capture (bytes)
--   job_hosts: hosts of the run; NULL when its captures are not hosts of one job
CREATE VIEW host_devices AS
-- Every CTE is mentioned once: SQLite expands a view anew at each mention.
WITH runs AS (
  SELECT
    c.run,
    c.status,
    e.device_id,
    e.module_id,
    m.name AS module_name,
    m.plan_bytes,
    e.in_use_at_start_bytes,
    ROW_NUMBER() OVER (
      PARTITION BY e.device_id, m.name
      ORDER BY e.start_ns, e.execution_id
    ) AS place,
    COUNT(*) OVER (PARTITION BY e.device_id, m.name) AS executions
  FROM executions e
  JOIN captures c ON c.capture_id = e.capture_id
  JOIN modules m ON m.module_id = e.module_id
  WHERE e.device_id IS NOT NULL
),
shared AS (
  SELECT
    r.run,
    r.device_id,
    r.module_id,
    r.module_name,
    r.in_use_at_start_bytes,
    r.place,
    r.executions,
    MAX(r.executions) OVER w AS most_executions,
    SUM(CASE WHEN r.place = 1 THEN 1 ELSE 0 END) OVER w AS devices,
    MAX(r.plan_bytes) OVER w AS plan_bytes,
    MIN(CASE WHEN r.status = 'complete' THEN r.executions END) OVER w AS common_place
  FROM runs r
  WINDOW w AS (PARTITION BY r.run, r.module_name)
),
ranked AS (
  SELECT
    s.device_id,
    s.module_id,
    s.module_name,
    s.in_use_at_start_bytes,
    s.place,
    s.executions,
    s.common_place,
    DENSE_RANK() OVER (
      PARTITION BY s.run
      ORDER BY
        CASE WHEN s.most_executions >= (SELECT t.setting FROM settings t
          WHERE t.name = 'growth_min_executions') THEN 0 ELSE 1 END,
        s.devices DESC NULLS LAST,
        s.plan_bytes DESC NULLS LAST,
        s.module_name NULLS FIRST
    ) AS module_place
  FROM shared s
),
mains AS (
  SELECT
    r.device_id,
    r.module_name,
    r.common_place,
    r.executions,
    MIN(r.module_id) AS module_id,
    MAX(CASE WHEN r.place = 1 THEN r.in_use_at_start_bytes END) AS first_in_use_bytes,
    MAX(CASE WHEN r.place = r.executions THEN r.in_use_at_start_bytes END) AS last_in_use_bytes,
    MAX(CASE WHEN r.place = r.common_place THEN r.in_use_at_start_bytes END)
      AS common_in_use_bytes
  FROM ranked r
  WHERE r.module_place = 1
  GROUP BY r.device_id, r.module_name, r.common_place, r.executions
),
-- Of all modules: a wait or a failure counts whichever it was.
troubles AS (
  SELECT
    e.device_id,
    CAST(SUM(COALESCE(e.wait_ns, 0)) AS BIGINT) AS wait_ns,
    CAST(SUM(CASE WHEN e.failed = 1 AND c.status = 'complete' THEN 1 ELSE 0 END) AS BIGINT)
      AS failed_count
  FROM executions e
  JOIN captures c ON c.capture_id = e.capture_id
  WHERE e.device_id IS NOT NULL
  GROUP BY e.device_id
),
plans AS (
  SELECT m.capture_id, MAX(m.peak_bytes) AS plan_peak_bytes
  FROM modules m
  GROUP BY m.capture_id
),
-- The same blocks that grows_per_execution stands on, so that both say the same.
grown AS (
  SELECT g.device_id, MAX(g.growth_bytes) AS growth_bytes
  FROM growth g
  GROUP BY g.device_id
)
SELECT
  c.capture_id,
  c.run,
  c.host,
  c.process_index,
  c.status,
  p.device_id,
  p.device,
  d.local_ordinal,
  p.device_kind,
  p.capacity_bytes,
  m.module_id,
  m.module_name,
  m.executions,
  m.common_place,
  m.first_in_use_bytes,
  m.last_in_use_bytes,
  m.common_in_use_bytes,
  COALESCE(g.growth_bytes, CASE
    WHEN m.first_in_use_bytes IS NOT NULL
      AND m.executions >= (SELECT s.setting FROM settings s WHERE s.name = 'growth_min_executions')
      THEN 0
  END) AS growth_bytes,
  a.capture_peak_bytes AS peak_bytes,
  t.wait_ns,
  t.failed_count,
  n.plan_peak_bytes,
  j.hosts AS job_hosts
FROM effective_capacity p
JOIN captures c ON c.capture_id = p.capture_id
LEFT JOIN devices d ON d.device_id = p.device_id
LEFT JOIN jobs j ON j.run = c.run
LEFT JOIN mains m ON m.device_id = p.device_id
LEFT JOIN troubles t ON t.device_id = p.device_id
LEFT JOIN grown g ON g.device_id = p.device_id
LEFT JOIN allocators a ON a.allocator_id = p.allocator_id
LEFT JOIN plans n ON n.capture_id = p.capture_id
WHERE c.kind = 'xplane';
