-- id: no_donation_remedies
-- title: Donate the state
-- columns:
--   capture_id: the capture
--   device_id: the device; NULL without devices
--   module_id: the module
--   position: from 1, the one to try first
--   fix: what to do
--   saving_bytes: what it saves at most (bytes)
--   needs_bytes: plan and other arrays, less the saving (bytes)
--   fits: 1 when that is within the capacity, 0 when not, NULL when the capacity is not known
--   cost: what it costs
--   changes_results: 0 or 1
--   evidence: inferred
CREATE VIEW no_donation_remedies AS
WITH sized AS (
  SELECT
    f.capture_id,
    f.device_id,
    f.module_id,
    f.bytes AS saving_bytes,
    d.plan_bytes + COALESCE(x.others_bytes, 0) - f.bytes AS needs_bytes,
    d.capacity_bytes
  FROM no_donation f
  JOIN module_devices d
    ON d.module_id = f.module_id AND d.device_id IS NOT DISTINCT FROM f.device_id
  LEFT JOIN failed_executions x
    ON x.module_id = f.module_id AND x.device_id IS NOT DISTINCT FROM f.device_id AND x.place = 1
)
SELECT
  z.capture_id,
  z.device_id,
  z.module_id,
  1 AS position,
  'donate the state: jax.jit(step, donate_argnums=...) for the arguments that the step returns'
    || ' updated' AS fix,
  z.saving_bytes,
  z.needs_bytes,
  CASE
    WHEN z.capacity_bytes IS NULL THEN NULL
    WHEN z.needs_bytes <= z.capacity_bytes THEN 1
    ELSE 0
  END AS fits,
  'none; using a donated array afterwards is a clear error' AS cost,
  0 AS changes_results,
  'inferred' AS evidence
FROM sized z;
