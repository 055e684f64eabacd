-- id: host_skew_items
-- title: The figures of the devices that stand out, and the median of their peers
-- columns:
--   capture_id: the capture
--   device_id: the device when a single one stands out
--   module_id: the module whose executions were compared
--   position: from 1
--   kind: growth, capacity, in use or waits
--   label: the host and device, or the median
--   bytes: the figure (bytes); NULL for waits, whose label says it
--   count: always NULL
CREATE VIEW host_skew_items AS
WITH parts AS (
  SELECT 1 AS part
  UNION ALL SELECT 2
),
figures AS (
  SELECT
    o.capture_id, o.importance, o.metric, p.part,
    CASE WHEN p.part = 1 THEN o.device END AS device,
    MIN(CASE WHEN p.part = 1 THEN o.amount ELSE o.median END) AS amount,
    MAX(o.peers) AS peers
  FROM host_oddities o
  CROSS JOIN parts p
  GROUP BY o.capture_id, o.importance, o.metric, p.part,
    CASE WHEN p.part = 1 THEN o.device END
)
SELECT
  s.capture_id,
  s.device_id,
  s.module_id,
  ROW_NUMBER() OVER (
    PARTITION BY s.capture_id ORDER BY f.importance, f.part, f.device NULLS LAST
  ) AS position,
  f.metric AS kind,
  CASE WHEN f.part = 1
      THEN COALESCE(s.host, '') || ' device ' || CAST(f.device AS VARCHAR(20))
    ELSE 'median of ' || CAST(f.peers AS VARCHAR(20)) || ' peers' END
    || CASE WHEN f.metric = 'waits' THEN ': ' || CAST(f.amount AS VARCHAR(20)) || ' ns'
      ELSE '' END AS label,
  CASE WHEN f.metric <> 'waits' THEN f.amount END AS bytes,
  CAST(NULL AS BIGINT) AS count
FROM host_skew s
JOIN figures f ON f.capture_id = s.capture_id;
