-- id: host_skew_remedies
-- title: Make the host like the others
-- columns:
--   capture_id: the capture
--   device_id: the device when a single one stands out
--   module_id: the module whose executions were compared
--   position: from 1
--   fix: what to do
--   saving_bytes: how far the figure is from the median (bytes); NULL: not in memory of the device
--   needs_bytes: always NULL
--   fits: always NULL
--   cost: what it costs
--   changes_results: 0
--   evidence: inferred
CREATE VIEW host_skew_remedies AS
WITH odd AS (
  SELECT
    o.capture_id,
    MAX(CASE WHEN o.metric IN ('growth', 'in use') THEN 1 ELSE 0 END) AS holds_more,
    MAX(CASE WHEN o.metric = 'in use' THEN o.excess END) AS in_use_excess,
    MAX(CASE WHEN o.metric = 'capacity' THEN 1 ELSE 0 END) AS has_less,
    MAX(CASE WHEN o.metric = 'waits' THEN 1 ELSE 0 END) AS waits
  FROM host_oddities o
  GROUP BY o.capture_id
),
choices AS (
  SELECT 1 AS choice
  UNION ALL SELECT 2
  UNION ALL SELECT 3
),
fixes AS (
  SELECT
    o.capture_id,
    c.choice AS importance,
    CASE c.choice
      WHEN 1 THEN 'find what this process alone keeps: metrics, logging, checkpoints or evaluation'
        || ' that run on one host only; fetch with jax.device_get what must be kept'
      WHEN 2 THEN 'give this host the memory fraction of the others, and free its device of other'
        || ' processes'
      ELSE 'see which request waited on this host: the finding allocator_retry names it'
    END AS fix,
    CASE WHEN c.choice = 1 THEN o.in_use_excess END AS saving_bytes,
    CASE WHEN c.choice = 1 THEN 'a copy to the host' ELSE 'none' END AS cost
  FROM odd o
  CROSS JOIN choices c
  WHERE (c.choice = 1 AND o.holds_more = 1)
    OR (c.choice = 2 AND o.has_less = 1)
    OR (c.choice = 3 AND o.waits = 1)
)
SELECT
  s.capture_id,
  s.device_id,
  s.module_id,
  ROW_NUMBER() OVER (PARTITION BY s.capture_id ORDER BY f.importance) AS position,
  f.fix,
  f.saving_bytes,
  CAST(NULL AS BIGINT) AS needs_bytes,
  CAST(NULL AS BIGINT) AS fits,
  f.cost,
  0 AS changes_results,
  'inferred' AS evidence
FROM host_skew s
JOIN fixes f ON f.capture_id = s.capture_id;
