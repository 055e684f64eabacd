-- id: replicated_parameters_remedies
-- title: Split the parameters that every partition holds whole
-- columns:
--   capture_id: the capture
--   device_id: the device; NULL without devices
--   module_id: the module
--   position: from 1, the one to try first
--   fix: what to do
--   saving_bytes: what it saves at least (bytes)
--   needs_bytes: plan and other arrays, less the saving (bytes)
--   fits: 1 when that is within the capacity, 0 when not, NULL when the capacity is not known
--   cost: what it costs
--   changes_results: 0 or 1
--   evidence: inferred
CREATE VIEW replicated_parameters_remedies AS
WITH sized AS (
  SELECT
    r.capture_id,
    r.device_id,
    r.module_id,
    r.bytes AS saving_bytes,
    m.num_partitions,
    d.plan_bytes + COALESCE(x.others_bytes, 0) - r.bytes AS needs_bytes,
    d.capacity_bytes
  FROM replicated_parameters r
  JOIN modules m ON m.module_id = r.module_id
  JOIN module_devices d
    ON d.module_id = r.module_id AND d.device_id IS NOT DISTINCT FROM r.device_id
  LEFT JOIN failed_executions x
    ON x.module_id = r.module_id AND x.device_id IS NOT DISTINCT FROM r.device_id AND x.place = 1
)
SELECT
  z.capture_id,
  z.device_id,
  z.module_id,
  1 AS position,
  'shard these parameters and their optimizer state (FSDP) over the '
    || CAST(z.num_partitions AS VARCHAR(20))
    || ' partitions: a NamedSharding along a dimension that they divide' AS fix,
  z.saving_bytes,
  z.needs_bytes,
  CASE
    WHEN z.capacity_bytes IS NULL THEN NULL
    WHEN z.needs_bytes <= z.capacity_bytes THEN 1
    ELSE 0
  END AS fits,
  'network traffic: they are gathered for use' AS cost,
  0 AS changes_results,
  'inferred' AS evidence
FROM sized z;
