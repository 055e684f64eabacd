-- id: executions
-- title: The executions of modules on devices
-- columns:
--   execution_id: local id
--   capture_id: the capture
--   device_id: the device; NULL: unknown
--   module_id: the module; NULL: not in the capture
--   module_name: the module's name
--   sequence: 1, 2, 3 per device and module, by start
--   start_ns: start (Unix ns)
--   end_ns: end (Unix ns)
--   launched: 1 with launch evidence, 0 when it ended with an allocation unmade, else NULL
--   failed: 1 when launched = 0
--   in_use_at_start_bytes: the allocator's in-use just before the start (bytes)
--   peak_in_use_bytes: the most in use within it (bytes)
--   output_bytes: allocated for outputs (bytes)
--   temp_bytes: allocated for temporaries (bytes)
--   wait_ns: how long its allocations waited (ns)
--   wait_evidence: measured or inferred; NULL: no wait
--   retry_count: waits counted
--   failed_allocation_index: the plan allocation that a failed execution did not get
--   thread: the thread of its span
--   launch_event_id: the outermost PjitFunction span that launched it (host_events)
CREATE VIEW executions AS
SELECT e.execution_id, e.capture_id, e.device_id, e.module_id, n.content AS module_name, e.sequence,
  e.start_ns, e.end_ns, e.launched, e.failed, e.in_use_at_start_bytes, e.peak_in_use_bytes,
  e.output_bytes, e.temp_bytes, e.wait_ns, e.wait_evidence, e.retry_count,
  e.failed_allocation_index, t.content AS thread, e.launch_event_id
FROM stored_executions e
LEFT JOIN strings n ON n.string_id = e.module_name_id
LEFT JOIN strings t ON t.string_id = e.thread_id;
