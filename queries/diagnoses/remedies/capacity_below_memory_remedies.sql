-- id: capacity_below_memory_remedies
-- title: Raise the memory fraction, where that helps
-- columns:
--   capture_id: the capture
--   device_id: the device
--   module_id: the module that failed and would fit
--   position: always 1
--   fix: what to do
--   saving_bytes: always NULL: the step stays as large as it is
--   needs_bytes: plan and other arrays (bytes)
--   fits: 1: below what a pool can be raised to
--   cost: what it costs
--   changes_results: 0
--   evidence: inferred
CREATE VIEW capacity_below_memory_remedies AS
SELECT
  f.capture_id,
  f.device_id,
  f.module_id,
  1 AS position,
  'raise XLA_PYTHON_CLIENT_MEM_FRACTION to 0.'
    || CAST((SELECT s.setting FROM settings s WHERE s.name = 'raised_capacity_percent')
      AS VARCHAR(20))
    || ', or remove it and free the device of other processes' AS fix,
  CAST(NULL AS BIGINT) AS saving_bytes,
  m.plan_bytes + x.others_bytes AS needs_bytes,
  1 AS fits,
  'less memory for libraries and other processes on the device' AS cost,
  0 AS changes_results,
  'inferred' AS evidence
FROM capacity_below_memory f
JOIN failed_executions x ON x.execution_id = f.execution_id
JOIN modules m ON m.module_id = f.module_id;
