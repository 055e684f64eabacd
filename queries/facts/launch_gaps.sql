-- id: launch_gaps
-- title: The time between the launches of a module's last two executions on the thread that
--   launches them
-- columns:
--   capture_id: the capture
--   device_id: the device
--   module_id: the module
--   thread: the launching thread
--   from_ns: end of the outermost PjitFunction span of the last execution but one (Unix ns)
--   to_ns: start of the outermost PjitFunction span of the last one (Unix ns)
CREATE VIEW launch_gaps AS
WITH launches AS (
  SELECT
    e.capture_id,
    e.device_id,
    e.module_id,
    e.launch_event_id,
    LAG(e.launch_event_id) OVER (
      PARTITION BY e.capture_id, e.device_id, e.module_id
      ORDER BY e.start_ns, e.execution_id
    ) AS before_event_id,
    ROW_NUMBER() OVER (
      PARTITION BY e.capture_id, e.device_id, e.module_id
      ORDER BY e.start_ns DESC, e.execution_id DESC
    ) AS place
  FROM executions e
  WHERE e.device_id IS NOT NULL AND e.module_id IS NOT NULL
)
-- They nest twice, so the span that counts is the outermost one.
SELECT
  l.capture_id,
  l.device_id,
  l.module_id,
  a.thread,
  b.end_ns AS from_ns,
  a.start_ns AS to_ns
FROM launches l
JOIN host_events a ON a.event_id = l.launch_event_id
JOIN host_events b ON b.event_id = l.before_event_id AND b.thread = a.thread
WHERE l.place = 1 AND b.end_ns <= a.start_ns;
