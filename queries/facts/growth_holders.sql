-- id: growth_holders
-- title: What the launching thread did between the last two executions of a growing module
-- columns:
--   capture_id: the capture
--   device_id: the device
--   module_id: the module that grows
--   position: from 1; calls that put something into a container first, then the latest
--   event: the event's name
--   container: 1 when it puts something into a container
--   caller: of a built-in, the call with a file that encloses it, else the nearest in time
--   last_start_ns: when it last started (Unix ns)
--   count: how often
CREATE VIEW growth_holders AS
WITH gaps AS (
  SELECT l.capture_id, l.device_id, l.module_id, l.thread, l.from_ns, l.to_ns
  FROM growth g
  JOIN launch_gaps l
    ON l.capture_id = g.capture_id AND l.device_id = g.device_id AND l.module_id = g.module_id
),
-- Other modules may be launched in the gap: their spans, and what happens inside them, is theirs.
events AS (
  SELECT
    g.capture_id,
    g.device_id,
    g.module_id,
    g.to_ns,
    h.event_id,
    h.name_id,
    h.start_ns,
    h.end_ns,
    o.launch_event_id,
    MAX(CASE WHEN o.launch_event_id IS NOT NULL THEN h.end_ns END) OVER (
      PARTITION BY g.capture_id, g.device_id
      ORDER BY h.start_ns, h.end_ns DESC, h.event_id
      ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW
    ) AS launched_until_ns
  FROM gaps g
  JOIN strings t ON t.content = g.thread
  JOIN stored_host_events h
    ON h.capture_id = g.capture_id
    AND h.thread_id = t.string_id
    AND h.start_ns >= g.from_ns
    AND h.start_ns < g.to_ns
  LEFT JOIN stored_executions o ON o.launch_event_id = h.event_id
  WHERE h.name_id NOT IN (
    SELECT x.string_id FROM strings x WHERE x.content IN ('MemoryAllocation', 'MemoryDeallocation')
  )
),
kept AS (
  SELECT
    e.capture_id,
    e.device_id,
    e.module_id,
    e.event_id,
    e.name_id,
    e.start_ns,
    -- What encloses the next launch called the step; it did not keep anything.
    CASE WHEN e.end_ns > e.to_ns THEN 1 ELSE 0 END AS encloses
  FROM events e
  WHERE e.launch_event_id IS NULL
    AND (e.launched_until_ns IS NULL OR e.start_ns >= e.launched_until_ns)
),
-- By a window, not by GROUP BY, through which SQLite does not look for the capture that is asked
-- for; and before names are looked at, since texts are long.
summed AS (
  SELECT
    k.capture_id,
    k.device_id,
    k.module_id,
    k.event_id,
    k.name_id,
    MIN(k.event_id) OVER w AS first_event_id,
    MIN(k.encloses) OVER w AS encloses,
    MAX(k.start_ns) OVER w AS last_start_ns,
    COUNT(*) OVER w AS count
  FROM kept k
  WINDOW w AS (PARTITION BY k.capture_id, k.device_id, k.module_id, k.name_id)
),
words AS (
  SELECT 'append' AS word UNION ALL SELECT 'appendleft' UNION ALL SELECT 'extend'
    UNION ALL SELECT 'add'
  UNION ALL SELECT 'insert' UNION ALL SELECT 'setdefault' UNION ALL SELECT 'update'
),
named AS (
  SELECT
    s.capture_id,
    s.device_id,
    s.module_id,
    n.content AS event,
    -- A method of a built-in container has no file of its own; a function of that name in a file
    -- may be anything (an optimizer's update), so it comes second.
    CASE
      WHEN w.word IS NOT NULL AND LOWER(n.content) NOT LIKE '%.py:%' THEN 1
      ELSE 0
    END AS container,
    CASE WHEN w.word IS NOT NULL THEN 1 ELSE 0 END AS named_like_one,
    -- Python's own calls begin with $; only they can hold a reference that the program made.
    CASE WHEN n.content LIKE '$%' THEN 1 ELSE 0 END AS python,
    CASE WHEN LOWER(n.content) LIKE '$%.py:%' THEN s.last_start_ns END AS file_ns,
    CASE WHEN LOWER(o.content) LIKE '$%.py:%' THEN o.content END AS enclosing,
    s.encloses,
    s.last_start_ns,
    s.count
  FROM summed s
  JOIN strings n ON n.string_id = s.name_id
  JOIN stored_host_events h ON h.event_id = s.event_id
  LEFT JOIN stored_host_events p ON p.event_id = h.parent_id
  LEFT JOIN strings o ON o.string_id = p.name_id
  LEFT JOIN words w ON LOWER(n.content) LIKE '% ' || w.word
  WHERE s.event_id = s.first_event_id
),
-- A built-in has no file: which calls with one stand nearest before and after it.
counted AS (
  SELECT
    d.*,
    COUNT(d.file_ns) OVER (
      PARTITION BY d.capture_id, d.device_id
      ORDER BY d.last_start_ns NULLS FIRST, d.event NULLS FIRST
      ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW
    ) AS files_until,
    COUNT(d.file_ns) OVER (
      PARTITION BY d.capture_id, d.device_id
      ORDER BY d.last_start_ns NULLS FIRST, d.event NULLS FIRST
      ROWS BETWEEN CURRENT ROW AND UNBOUNDED FOLLOWING
    ) AS files_from
  FROM named d
),
-- One partition a step: SQLite asks for one capture through windows only where all have the same.
preceded AS (
  SELECT
    n.*,
    MAX(n.file_ns) OVER w AS before_ns,
    MAX(CASE WHEN n.file_ns IS NOT NULL THEN n.event END) OVER w AS before_it
  FROM counted n
  WINDOW w AS (PARTITION BY n.capture_id, n.device_id, n.files_until)
),
placed AS (
  SELECT
    n.*,
    MAX(n.file_ns) OVER w AS after_ns,
    MAX(CASE WHEN n.file_ns IS NOT NULL THEN n.event END) OVER w AS after_it
  FROM preceded n
  WINDOW w AS (PARTITION BY n.capture_id, n.device_id, n.files_from)
),
ordered AS (
  SELECT
    r.capture_id,
    r.device_id,
    r.module_id,
    ROW_NUMBER() OVER (
      PARTITION BY r.capture_id, r.device_id
      ORDER BY r.container DESC, r.named_like_one DESC, r.encloses, r.python DESC,
        r.last_start_ns DESC NULLS LAST, r.event NULLS FIRST
    ) AS position,
    r.event,
    r.container,
    CASE
      WHEN r.container = 0 THEN NULL
      WHEN r.enclosing IS NOT NULL THEN SUBSTR(r.enclosing, 2)
      WHEN r.before_ns IS NULL OR r.after_ns - r.last_start_ns < r.last_start_ns - r.before_ns
        THEN SUBSTR(r.after_it, 2)
      ELSE SUBSTR(r.before_it, 2)
    END AS caller,
    r.last_start_ns,
    r.count
  FROM placed r
)
SELECT
  o.capture_id,
  o.device_id,
  o.module_id,
  o.position,
  o.event,
  o.container,
  o.caller,
  o.last_start_ns,
  o.count
FROM ordered o
WHERE o.position <= (SELECT s.setting FROM settings s WHERE s.name = 'holders_max');
