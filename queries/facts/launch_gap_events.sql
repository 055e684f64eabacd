-- id: launch_gap_events
-- title: What the launching thread did between the last two executions of a module: whoever keeps the outputs is there
-- columns:
--   capture_id: the capture
--   device_id: the device
--   module_id: the module
--   position: from 1; calls that put something into a container first, then the latest
--   event: the event's name
--   container: 1 when it puts something into a container
--   last_start_ns: when it last started (Unix ns)
--   count: how often
CREATE VIEW launch_gap_events AS
WITH launches AS (
  SELECT
    e.capture_id,
    e.device_id,
    e.module_id,
    e.launch_event_id,
    ROW_NUMBER() OVER (
      PARTITION BY e.device_id, e.module_id
      ORDER BY e.start_ns DESC, e.execution_id DESC
    ) AS place
  FROM executions e
  WHERE e.device_id IS NOT NULL AND e.module_id IS NOT NULL
),
-- Between the end of one outermost PjitFunction span and the start of the next. They nest twice, so the span that
-- counts is the outermost one.
gaps AS (
  SELECT l.capture_id, l.device_id, l.module_id, a.thread, b.end_ns AS from_ns, a.start_ns AS to_ns
  FROM launches l
  JOIN launches k ON k.device_id = l.device_id AND k.module_id = l.module_id AND k.place = 2
  JOIN host_events a ON a.event_id = l.launch_event_id
  JOIN host_events b ON b.event_id = k.launch_event_id AND b.thread = a.thread
  WHERE l.place = 1 AND b.end_ns <= a.start_ns
),
-- Other modules launched in the gap: what happens inside their spans is theirs.
others AS (
  SELECT DISTINCT g.device_id, g.module_id, h.start_ns, h.end_ns
  FROM gaps g
  JOIN executions e ON e.capture_id = g.capture_id
  JOIN host_events h ON h.event_id = e.launch_event_id AND h.thread = g.thread
  WHERE h.start_ns >= g.from_ns AND h.start_ns < g.to_ns
),
words AS (
  SELECT 'append' AS word UNION ALL SELECT 'appendleft' UNION ALL SELECT 'extend' UNION ALL SELECT 'add'
  UNION ALL SELECT 'insert' UNION ALL SELECT 'setdefault' UNION ALL SELECT 'update'
),
events AS (
  SELECT
    g.capture_id,
    g.device_id,
    g.module_id,
    h.name AS event,
    h.start_ns,
    -- What encloses the next launch has not ended before it: it called the step, it did not keep anything.
    CASE WHEN h.end_ns > g.to_ns THEN 1 ELSE 0 END AS encloses
  FROM gaps g
  JOIN host_events h
    ON h.capture_id = g.capture_id
    AND h.thread = g.thread
    AND h.start_ns >= g.from_ns
    AND h.start_ns < g.to_ns
  WHERE h.name NOT IN ('MemoryAllocation', 'MemoryDeallocation')
    AND NOT EXISTS (
      SELECT 1
      FROM others o
      WHERE o.device_id = g.device_id
        AND o.module_id = g.module_id
        AND h.start_ns >= o.start_ns
        AND h.start_ns < o.end_ns
    )
),
grouped AS (
  SELECT
    e.capture_id,
    e.device_id,
    e.module_id,
    e.event,
    -- A method of a built-in container has no file of its own; a function of that name in a file may be anything
    -- (an optimizer's update), so it comes second.
    CASE
      WHEN w.word IS NULL THEN 0
      WHEN e.event LIKE '%.py:%' THEN 0
      ELSE 1
    END AS container,
    CASE WHEN w.word IS NULL THEN 0 ELSE 1 END AS named_like_one,
    MIN(e.encloses) AS encloses,
    MAX(e.start_ns) AS last_start_ns,
    COUNT(*) AS count
  FROM events e
  LEFT JOIN words w ON e.event LIKE '% ' || w.word
  GROUP BY
    e.capture_id,
    e.device_id,
    e.module_id,
    e.event,
    CASE WHEN w.word IS NULL THEN 0 WHEN e.event LIKE '%.py:%' THEN 0 ELSE 1 END,
    CASE WHEN w.word IS NULL THEN 0 ELSE 1 END
),
ordered AS (
  SELECT
    r.capture_id,
    r.device_id,
    r.module_id,
    ROW_NUMBER() OVER (
      PARTITION BY r.device_id, r.module_id
      ORDER BY r.container DESC, r.named_like_one DESC, r.encloses, r.last_start_ns DESC, r.event
    ) AS position,
    r.event,
    r.container,
    r.last_start_ns,
    r.count
  FROM grouped r
)
SELECT
  o.capture_id,
  o.device_id,
  o.module_id,
  o.position,
  o.event,
  o.container,
  o.last_start_ns,
  o.count
FROM ordered o
WHERE o.position <= (SELECT s.setting FROM settings s WHERE s.name = 'holders_max');
