-- id: over_capacity
-- title: Modules whose plan alone is larger than what the device may use
-- columns:
--   capture_id: the capture
--   run: its run
--   host: its host
--   status: complete or truncated
--   device_id: the device; NULL without devices
--   device: its ordinal as recorded
--   module_id: the module
--   module_name: its name
--   label: its name with the program id
--   plan_bytes: what it needs (bytes)
--   parameter_bytes: parameters (bytes)
--   output_bytes: non-donated outputs (bytes)
--   constant_bytes: constants (bytes)
--   temp_bytes: temps (bytes)
--   heap_peak_bytes: most temp bytes live at once (bytes)
--   capacity_bytes: what the device may use (bytes)
--   capacity_source: pool, error log, setting, device memory or largest device
--   capacity_evidence: measured, read or inferred
--   memory_bytes: the device's memory (bytes)
--   target: what the module was compiled for; NULL: unknown
--   short_bytes: what is missing (bytes)
--   execution_count: executions on this device
--   failed_count: of these, known to have failed
--   execution_id: the first that failed; NULL when none did
--   others_bytes: what else was in use when that one started (bytes); 0 when none failed
CREATE VIEW over_capacity AS
-- One that launched did fit, whatever the numbers say: the pool grew, or the capacity is another.
SELECT
  d.capture_id,
  d.run,
  d.host,
  d.status,
  d.device_id,
  d.device,
  d.module_id,
  d.module_name,
  d.label,
  d.plan_bytes,
  d.parameter_bytes,
  d.output_bytes,
  d.constant_bytes,
  d.temp_bytes,
  d.heap_peak_bytes,
  d.capacity_bytes,
  d.capacity_source,
  d.capacity_evidence,
  d.memory_bytes,
  d.target,
  d.plan_bytes - d.capacity_bytes AS short_bytes,
  d.execution_count,
  d.failed_count,
  f.execution_id,
  COALESCE(f.others_bytes, 0) AS others_bytes
FROM module_devices d
LEFT JOIN failed_executions f
  ON f.module_id = d.module_id
  AND (f.device_id = d.device_id OR (f.device_id IS NULL AND d.device_id IS NULL))
  AND f.place = 1
WHERE d.plan_bytes > d.capacity_bytes AND d.launched_count = 0;
