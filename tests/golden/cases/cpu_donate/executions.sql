SELECT d.ordinal, e.module_name, e.sequence, e.launched, e.failed, e.in_use_at_start_bytes, e.peak_in_use_bytes,
  e.output_bytes, e.temp_bytes, e.wait_ns, e.wait_evidence
FROM executions e
LEFT JOIN devices d ON d.device_id = e.device_id
ORDER BY d.ordinal, e.start_ns, e.execution_id
