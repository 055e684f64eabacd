-- id: backward_dominates_remedies
-- title: How to hold fewer gradients
-- columns:
--   capture_id: the capture
--   device_id: the device; NULL without devices
--   module_id: the module
--   position: from 1, those that make it fit first
--   fix: what to do
--   saving_bytes: what it saves (bytes); NULL when it does not make the step smaller
--   needs_bytes: plan and other arrays, less the saving (bytes)
--   fits: 1 when that is within the capacity, 0 when not
--   cost: what it costs
--   changes_results: 0 or 1
--   evidence: inferred
CREATE VIEW backward_dominates_remedies AS
SELECT
  l.capture_id,
  l.device_id,
  l.module_id,
  ROW_NUMBER() OVER (
    PARTITION BY l.module_id, l.device_id
    ORDER BY l.fits DESC NULLS LAST, l.preference
  ) AS position,
  l.fix,
  l.saving_bytes,
  l.needs_bytes,
  l.fits,
  l.cost,
  l.changes_results,
  'inferred' AS evidence
FROM fit_levers l
WHERE l.leading_role = 'backward'
  AND l.lever IN ('shard', 'micro_batch', 'bf16_gradients');
