-- id: failed_live_groups
-- title: What else was live when a failed execution started, by origin, without its own parameters
-- columns:
--   capture_id: the capture
--   device_id: the device
--   module_id: the module that failed
--   execution_id: its first execution that launched nothing
--   position: from 1, most bytes first
--   origin: where the bytes came from
--   bytes: live bytes of that origin (bytes)
--   count: allocations; 1 for what was never seen in an event
CREATE VIEW failed_live_groups AS
-- The record does not say which allocations are the step's parameters. Of a parameter's size, as
-- many as there are parameters of that size: the step's own outputs (donated state goes round) and
-- what is older than the capture come first, the youngest of them; arrays that others made in the
-- capture count only where what was there before it can't hold the parameters. What is missing then
-- was there before the capture.
WITH live AS (
  SELECT
    f.capture_id,
    f.device_id,
    f.module_id,
    f.execution_id,
    x.address,
    x.bytes,
    COALESCE(x.requested_bytes, x.bytes) AS requested_bytes,
    COALESCE(x.origin, 'unknown') AS origin,
    CASE WHEN x.module_id = f.module_id OR x.alloc_ns IS NULL THEN 1 ELSE 0 END AS likely,
    SUM(CASE WHEN x.address IS NULL THEN x.bytes ELSE 0 END)
      OVER (PARTITION BY f.execution_id) AS before_bytes,
    ROW_NUMBER() OVER (
      PARTITION BY
        f.execution_id,
        COALESCE(x.requested_bytes, x.bytes),
        CASE WHEN x.address IS NULL THEN 0 ELSE 1 END
      ORDER BY
        CASE WHEN x.module_id = f.module_id OR x.alloc_ns IS NULL THEN 0 ELSE 1 END,
        x.alloc_ns DESC NULLS LAST,
        x.allocation_id DESC
    ) AS place
  -- CROSS JOIN: the few failures first, and the allocations of each by their index.
  FROM failed_executions f
  CROSS JOIN allocations x
  WHERE x.allocator_id = f.allocator_id
    AND f.place = 1
    AND (x.alloc_ns IS NULL OR x.alloc_ns < f.start_ns)
    AND (x.free_ns IS NULL OR x.free_ns >= f.start_ns)
),
sizes AS (
  SELECT p.module_id, p.bytes, COUNT(*) AS parameters
  FROM plan_allocations p
  WHERE p.class = 'parameter' AND p.memory_space = 0 AND p.bytes > 0
    AND p.module_id IN (SELECT e.module_id FROM executions e WHERE e.failed = 1)
  GROUP BY p.module_id, p.bytes
),
-- How many parameters have a live allocation's size: by a window, since an engine that guesses the
-- rows of a join wrong compares each with each.
sized AS (
  SELECT
    l.capture_id, l.device_id, l.module_id, l.execution_id, l.address, l.bytes, l.requested_bytes,
    l.origin, l.likely, l.before_bytes, l.place, CAST(NULL AS BIGINT) AS parameters
  FROM live l
  UNION ALL
  SELECT
    NULL, NULL, z.module_id, NULL, NULL, NULL, z.bytes, NULL, NULL, NULL, NULL, z.parameters
  FROM sizes z
),
counted AS (
  SELECT
    s.capture_id, s.device_id, s.module_id, s.execution_id, s.address, s.bytes, s.requested_bytes,
    s.origin, s.likely, s.before_bytes, s.place,
    MAX(s.parameters) OVER (PARTITION BY s.module_id, s.requested_bytes) AS parameters
  FROM sized s
),
judged AS (
  SELECT
    l.capture_id,
    l.device_id,
    l.module_id,
    l.execution_id,
    l.address,
    l.bytes,
    l.requested_bytes,
    l.origin,
    CASE
      WHEN l.address IS NOT NULL AND l.place <= l.parameters
        AND (l.likely = 1 OR l.before_bytes < m.parameter_bytes)
        THEN 1
      ELSE 0
    END AS own
  FROM counted l
  JOIN modules m ON m.module_id = l.module_id
  WHERE l.execution_id IS NOT NULL
),
marked AS (
  SELECT
    j.capture_id,
    j.device_id,
    j.module_id,
    j.execution_id,
    j.address,
    j.bytes,
    j.origin,
    j.own,
    SUM(CASE WHEN j.own = 1 THEN j.requested_bytes ELSE 0 END)
      OVER (PARTITION BY j.execution_id) AS own_bytes
  FROM judged j
),
others AS (
  SELECT
    k.capture_id,
    k.device_id,
    k.module_id,
    k.execution_id,
    k.origin,
    CASE
      WHEN k.address IS NOT NULL THEN k.bytes
      WHEN k.bytes > m.parameter_bytes - k.own_bytes
        THEN k.bytes - (m.parameter_bytes - k.own_bytes)
      ELSE 0
    END AS bytes
  FROM marked k
  JOIN modules m ON m.module_id = k.module_id
  WHERE k.own = 0
),
grouped AS (
  SELECT
    o.capture_id,
    o.device_id,
    o.module_id,
    o.execution_id,
    o.origin,
    CAST(SUM(o.bytes) AS BIGINT) AS bytes,
    COUNT(*) AS count
  FROM others o
  WHERE o.bytes > 0
  GROUP BY o.capture_id, o.device_id, o.module_id, o.execution_id, o.origin
)
SELECT
  g.capture_id,
  g.device_id,
  g.module_id,
  g.execution_id,
  ROW_NUMBER() OVER (PARTITION BY g.execution_id ORDER BY g.bytes DESC, g.origin) AS position,
  g.origin,
  g.bytes,
  g.count
FROM grouped g;
