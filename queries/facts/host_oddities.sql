-- id: host_oddities
-- title: Where a device of a job stands out from its peers, by which figure and how far
-- words figure by metric:
--   growth: grows by {amount:bytes} per execution of [{module_name}](nameless?its module)
--   capacity: has a pool of {amount:bytes}
--   in use: has {amount:bytes} in use when execution {common_place:n} of {module_name} starts
--   waits: waited {amount:ns} for memory
-- words beside: the median of {peers:n} (across_hosts?hosts|devices) is
--   (is_time?{median:ns}|{median:bytes})
-- columns:
--   capture_id: the capture
--   device_id: the device that stands out
--   metric: in use, growth, capacity or waits
--   amount: the device's figure (bytes, or ns for waits)
--   median: the median of its peers, itself among them (bytes or ns)
--   peers: how many were compared
--   excess: how far it is on the bad side of the median (bytes or ns)
--   device: the device's ordinal as recorded
--   module_id: the module whose executions were compared; NULL when none ran
--   module_name: its name
--   common_place: the number of the execution at whose start in use was compared
--   job_hosts: hosts of the run
--   importance: 1 growth, 2 capacity, 3 in use, 4 waits: what explains before what follows
--   figure: what the device does, in words
--   beside: the median of its peers, in words
-- how to read: Peers are the devices in the same place on every host of the run, or all devices of
--   a run of one host. More is worse, but for the capacity.
CREATE VIEW host_oddities AS
-- One scale on which more is worse: a capacity counts negative.
WITH metrics AS (
  SELECT 1 AS importance, 'growth' AS metric
  UNION ALL SELECT 2, 'capacity'
  UNION ALL SELECT 3, 'in use'
  UNION ALL SELECT 4, 'waits'
),
measured AS (
  SELECT
    h.capture_id,
    h.device_id,
    h.device,
    h.module_id,
    h.module_name,
    h.common_place,
    h.job_hosts,
    h.run || '/' || h.device_kind || '/'
      || CASE WHEN h.job_hosts > 1 THEN CAST(h.local_ordinal AS VARCHAR(20)) ELSE '' END
      AS peer_key,
    k.importance,
    k.metric,
    CASE k.metric
      WHEN 'growth' THEN h.growth_bytes
      WHEN 'capacity' THEN -h.capacity_bytes
      WHEN 'in use' THEN h.common_in_use_bytes
      ELSE h.wait_ns
    END AS badness
  FROM host_devices h
  CROSS JOIN metrics k
  -- What a truncated capture doesn't hold may only be missing from the file.
  WHERE h.job_hosts IS NOT NULL AND h.device_id IS NOT NULL AND h.status = 'complete'
),
ranked AS (
  SELECT
    m.*,
    COUNT(*) OVER (PARTITION BY m.peer_key, m.metric) AS peers,
    ROW_NUMBER() OVER (
      PARTITION BY m.peer_key, m.metric ORDER BY m.badness NULLS FIRST, m.device_id NULLS FIRST
    ) AS place
  FROM measured m
  WHERE m.badness IS NOT NULL
),
-- The lower of two middle ones: of two peers the better is the measure, and the worse is odd.
medians AS (
  SELECT
    r.*,
    MAX(CASE WHEN 2 * r.place = r.peers OR 2 * r.place = r.peers + 1 THEN r.badness END)
      OVER (PARTITION BY r.peer_key, r.metric) AS median
  FROM ranked r
),
spread AS (
  SELECT
    m.*,
    ROW_NUMBER() OVER (
      PARTITION BY m.peer_key, m.metric
      ORDER BY ABS(m.badness - m.median) NULLS FIRST, m.device_id NULLS FIRST
    ) AS spread_place
  FROM medians m
),
-- The upper of two middle deviations: half of the peers apart from the other half is no outlier.
-- Two peers have no spread.
limits AS (
  SELECT
    s.*,
    CASE WHEN s.peers > 2 THEN MAX(CASE
      WHEN 2 * s.spread_place = s.peers + 2 OR 2 * s.spread_place = s.peers + 1
        THEN ABS(s.badness - s.median)
    END) OVER (PARTITION BY s.peer_key, s.metric) ELSE 0 END AS deviation,
    CASE
      WHEN s.metric = 'waits'
        THEN (SELECT t.setting FROM settings t WHERE t.name = 'wait_min_ns')
      WHEN s.metric = 'growth'
        THEN (SELECT t.setting FROM settings t WHERE t.name = 'growth_min_bytes')
      ELSE (SELECT t.setting FROM settings t WHERE t.name = 'skew_min_bytes')
    END AS least
  FROM spread s
)
SELECT
  l.capture_id,
  l.device_id,
  l.metric,
  ABS(l.badness) AS amount,
  ABS(l.median) AS median,
  l.peers,
  l.badness - l.median AS excess,
  l.device,
  l.module_id,
  l.module_name,
  l.common_place,
  l.job_hosts,
  l.importance,
  CASE WHEN l.job_hosts > 1 THEN 1 ELSE 0 END AS across_hosts,
  CASE WHEN l.metric = 'waits' THEN 1 ELSE 0 END AS is_time,
  CASE WHEN l.module_name IS NULL THEN 1 ELSE 0 END AS nameless
FROM limits l
WHERE l.peers >= CASE
    WHEN l.job_hosts > 1 THEN (SELECT t.setting FROM settings t WHERE t.name = 'skew_min_hosts')
    ELSE (SELECT t.setting FROM settings t WHERE t.name = 'skew_min_devices')
  END
  AND l.badness - l.median >= l.least
  AND l.badness - l.median
    > l.deviation * (SELECT t.setting FROM settings t WHERE t.name = 'skew_deviations')
  AND 100 * (l.badness - l.median)
    >= ABS(l.median) * (SELECT t.setting FROM settings t WHERE t.name = 'skew_min_percent');
