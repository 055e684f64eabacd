-- id: growth_holders
-- title: What the launching thread did between the last two executions of a growing module
-- columns:
--   capture_id: the capture
--   device_id: the device
--   module_id: the module that grows
--   position: from 1; calls that put something into a container first, then the latest
--   event: the event's name
--   container: 1 when it puts something into a container
--   last_start_ns: when it last started (Unix ns)
--   count: how often
CREATE VIEW growth_holders AS
WITH gaps AS (
  SELECT l.capture_id, l.device_id, l.module_id, l.thread, l.from_ns, l.to_ns
  FROM growth g
  JOIN launch_gaps l ON l.device_id = g.device_id AND l.module_id = g.module_id
),
-- Other modules may be launched in the gap: their spans, and what happens inside them, is theirs.
events AS (
  SELECT
    g.capture_id,
    g.device_id,
    g.module_id,
    g.to_ns,
    h.name AS event,
    h.start_ns,
    h.end_ns,
    o.launch_event_id,
    MAX(CASE WHEN o.launch_event_id IS NOT NULL THEN h.end_ns END) OVER (
      PARTITION BY g.device_id
      ORDER BY h.start_ns, h.end_ns DESC, h.event_id
      ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW
    ) AS launched_until_ns
  FROM gaps g
  JOIN host_events h
    ON h.capture_id = g.capture_id
    AND h.thread = g.thread
    AND h.start_ns >= g.from_ns
    AND h.start_ns < g.to_ns
  LEFT JOIN (SELECT DISTINCT e.launch_event_id FROM executions e) o
    ON o.launch_event_id = h.event_id
  WHERE h.name NOT IN ('MemoryAllocation', 'MemoryDeallocation')
),
words AS (
  SELECT 'append' AS word UNION ALL SELECT 'appendleft' UNION ALL SELECT 'extend'
    UNION ALL SELECT 'add'
  UNION ALL SELECT 'insert' UNION ALL SELECT 'setdefault' UNION ALL SELECT 'update'
),
named AS (
  SELECT
    e.capture_id,
    e.device_id,
    e.module_id,
    e.event,
    e.start_ns,
    -- A method of a built-in container has no file of its own; a function of that name in a file
    -- may be anything (an optimizer's update), so it comes second.
    CASE WHEN w.word IS NOT NULL AND e.event NOT LIKE '%.py:%' THEN 1 ELSE 0 END AS container,
    CASE WHEN w.word IS NOT NULL THEN 1 ELSE 0 END AS named_like_one,
    -- Python's own calls begin with $; only they can hold a reference that the program made.
    CASE WHEN e.event LIKE '$%' THEN 1 ELSE 0 END AS python,
    -- What encloses the next launch called the step; it did not keep anything.
    CASE WHEN e.end_ns > e.to_ns THEN 1 ELSE 0 END AS encloses
  FROM events e
  LEFT JOIN words w ON e.event LIKE '% ' || w.word
  WHERE e.launch_event_id IS NULL
    AND (e.launched_until_ns IS NULL OR e.start_ns >= e.launched_until_ns)
),
grouped AS (
  SELECT
    n.capture_id,
    n.device_id,
    n.module_id,
    n.event,
    n.container,
    n.named_like_one,
    n.python,
    MIN(n.encloses) AS encloses,
    MAX(n.start_ns) AS last_start_ns,
    COUNT(*) AS count
  FROM named n
  GROUP BY n.capture_id, n.device_id, n.module_id, n.event, n.container, n.named_like_one, n.python
),
ordered AS (
  SELECT
    r.capture_id,
    r.device_id,
    r.module_id,
    ROW_NUMBER() OVER (
      PARTITION BY r.device_id
      ORDER BY r.container DESC, r.named_like_one DESC, r.encloses, r.python DESC,
        r.last_start_ns DESC, r.event
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
