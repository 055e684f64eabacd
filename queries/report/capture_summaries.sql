-- id: capture_summaries
-- title: Every capture, and how much of what it holds
-- columns:
--   capture_id: the capture
--   run: its run
--   host: its host
--   path: the file it was read from
--   kind: xplane, hlo, xla_dump, oom_log or device_memory_profile
--   status: complete or truncated
--   format_note: what was special about its format; NULL: nothing
--   jax_version: the recording program's jax version; NULL: unknown
--   duration_ns: how long recording lasted (ns); NULL: unknown
--   bytes: the file's size (bytes)
--   device_count: devices
--   device_kind: gpu, tpu or cpu; of several kinds the last by name
--   module_count: compiled modules
--   execution_count: executions
--   failed_count: of these, known to have failed
--   device_allocator_count: allocators of its devices; the pools of the host don't count
--   largest_plan_bytes: the largest plan among its modules (bytes); NULL without plans
--   started_unix_ns: when recording started (Unix ns); NULL: unknown
CREATE VIEW capture_summaries AS
SELECT
  c.capture_id, c.run, c.host, c.path, c.kind, c.status, c.format_note, c.jax_version,
  c.duration_ns, c.bytes,
  (SELECT COUNT(*) FROM devices d WHERE d.capture_id = c.capture_id) AS device_count,
  (SELECT MAX(d.kind) FROM devices d WHERE d.capture_id = c.capture_id) AS device_kind,
  (SELECT COUNT(*) FROM modules m WHERE m.capture_id = c.capture_id) AS module_count,
  (SELECT COUNT(*) FROM executions e WHERE e.capture_id = c.capture_id) AS execution_count,
  (SELECT COUNT(*) FROM executions e
    WHERE e.capture_id = c.capture_id AND e.failed = 1) AS failed_count,
  (SELECT COUNT(*) FROM allocators a
    WHERE a.capture_id = c.capture_id AND a.device_id IS NOT NULL) AS device_allocator_count,
  (SELECT MAX(m.plan_bytes) FROM modules m
    WHERE m.capture_id = c.capture_id) AS largest_plan_bytes,
  c.started_unix_ns
FROM captures c;
