-- id: gap_calls
-- title: What a thread called between the executions of a module that it launched: whoever keeps
--   their outputs is among these
-- columns:
--   capture_id: the capture
--   module_id: the module
--   thread: the thread that launched it
--   event: what was called: the event's name
--   caller: of a call without a file, the call with one that encloses it, else the nearest in time;
--     NULL for others
--   container: 1 when it puts something into a container
--   named_like_one: 1 when its name ends like such a call
--   python: 1 for a call of Python's, else 0
--   gaps: gaps between two executions in which it was called
--   all_gaps: gaps that there are
--   calls: how often it was called in them
--   depth: calls of the same gap that enclose it, at least; 0: the training loop called it
--   encloses: 1 when it always lasts into the next launch, which it called, else 0
--   last_start_ns: when it last started (Unix ns)
--   only_host: 1 when of the hosts of the job that ran the module only this one called it, 0 when
--     others did too, NULL when there are no others that recorded their calls
CREATE VIEW gap_calls AS
WITH words AS (
  SELECT 'append' AS word UNION ALL SELECT 'appendleft' UNION ALL SELECT 'extend'
    UNION ALL SELECT 'add'
  UNION ALL SELECT 'insert' UNION ALL SELECT 'setdefault' UNION ALL SELECT 'update'
),
-- Python's calls on the hosts of jobs.
kept AS (
  SELECT c.run, m.name AS module_name, g.capture_id, g.name_id,
    COALESCE(g.caller_id, 0) AS caller_id
  FROM jobs j
  JOIN captures c ON c.run = j.run AND c.status = 'complete'
  JOIN stored_gap_calls g ON g.capture_id = c.capture_id
  JOIN stored_modules m ON m.module_id = g.module_id
  JOIN strings x ON x.string_id = g.name_id AND x.content LIKE '$%'
  WHERE j.hosts > 1
),
callers AS (
  SELECT k.run, k.module_name, k.name_id, k.caller_id, COUNT(DISTINCT k.capture_id) AS hosts
  FROM kept k
  GROUP BY k.run, k.module_name, k.name_id, k.caller_id
),
lists AS (
  SELECT k.run, k.module_name, k.capture_id, COUNT(*) AS calls
  FROM kept k
  GROUP BY k.run, k.module_name, k.capture_id
),
-- Lists that were cut are not compared: what is missing there may only be missing from the file.
compared AS (
  SELECT l.run, l.module_name
  FROM lists l
  GROUP BY l.run, l.module_name
  HAVING COUNT(*) > 1
    AND MAX(l.calls) < (SELECT s.setting FROM settings s WHERE s.name = 'gap_calls_max')
)
SELECT
  g.capture_id,
  g.module_id,
  t.content AS thread,
  n.content AS event,
  SUBSTR(f.content, 2) AS caller,
  -- A method of a built-in container has no file of its own; a function of that name in a file may
  -- be anything (an optimizer's update).
  CASE
    WHEN w.word IS NOT NULL AND n.content LIKE '$%' AND LOWER(n.content) NOT LIKE '%.py:%' THEN 1
    ELSE 0
  END AS container,
  CASE WHEN w.word IS NOT NULL THEN 1 ELSE 0 END AS named_like_one,
  CASE WHEN n.content LIKE '$%' THEN 1 ELSE 0 END AS python,
  g.gaps,
  g.all_gaps,
  g.calls,
  g.depth,
  g.encloses,
  g.last_start_ns,
  CASE
    WHEN q.run IS NULL OR p.run IS NULL OR c.status <> 'complete' THEN NULL
    WHEN p.hosts = 1 THEN 1
    ELSE 0
  END AS only_host
FROM stored_gap_calls g
JOIN captures c ON c.capture_id = g.capture_id
JOIN stored_modules m ON m.module_id = g.module_id
JOIN strings t ON t.string_id = g.thread_id
JOIN strings n ON n.string_id = g.name_id
LEFT JOIN strings f ON f.string_id = g.caller_id
LEFT JOIN words w ON LOWER(n.content) LIKE '% ' || w.word
LEFT JOIN compared q ON q.run = c.run AND q.module_name = m.name
LEFT JOIN callers p
  ON p.run = c.run AND p.module_name = m.name AND p.name_id = g.name_id
  AND p.caller_id = COALESCE(g.caller_id, 0);
