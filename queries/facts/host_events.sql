-- id: host_events
-- title: The host events that a memory question needs
-- columns:
--   event_id: local id
--   capture_id: the capture
--   thread: its thread
--   name: its name
--   start_ns: start (Unix ns)
--   end_ns: end (Unix ns)
--   parent_id: the stored event that encloses it on its thread
--   execution_id: the execution it belongs to
-- how to read: `oomdb ingest --events all` keeps every event; what was left out is counted in
--   ingest_issues.
CREATE VIEW host_events AS
SELECT e.event_id, e.capture_id, t.content AS thread, n.content AS name, e.start_ns, e.end_ns,
  e.parent_id, e.execution_id
FROM stored_host_events e
JOIN strings t ON t.string_id = e.thread_id
JOIN strings n ON n.string_id = e.name_id;
