-- id: module_runs
-- title: The executions of every module, each beside the figures of the device that it ran on
-- columns:
--   capture_id: the capture
--   module_id: the module
--   device_id: the device; NULL: unknown
--   device: its ordinal as recorded
--   device_kind: gpu, tpu or cpu
--   memory_bytes: the device's memory (bytes)
--   capacity_bytes: what the device may use (bytes)
--   allocator: the name of the device's pool; NULL without allocator events
--   peak_bytes: the most that was ever in use in the pool (bytes)
--   capture_peak_bytes: the most within the capture (bytes)
--   execution_id: the execution
--   sequence: 1, 2, 3 per device and module, by start
--   start_ns: its start (Unix ns)
--   failed: 1 when it is known to have failed
--   in_use_at_start_bytes: in use in the pool just before it started (bytes)
--   wait_ns: how long its allocations waited (ns)
--   wait_evidence: measured or inferred; NULL: no wait
CREATE VIEW module_runs AS
SELECT
  e.capture_id,
  e.module_id,
  e.device_id,
  d.ordinal AS device,
  d.kind AS device_kind,
  d.memory_bytes,
  p.capacity_bytes,
  a.name AS allocator,
  a.peak_bytes,
  a.capture_peak_bytes,
  e.execution_id,
  e.sequence,
  e.start_ns,
  e.failed,
  e.in_use_at_start_bytes,
  e.wait_ns,
  e.wait_evidence
FROM stored_executions e
LEFT JOIN devices d ON d.device_id = e.device_id
LEFT JOIN effective_capacity p ON p.capture_id = e.capture_id AND p.device_id = e.device_id
LEFT JOIN allocators a ON a.allocator_id = p.allocator_id;
