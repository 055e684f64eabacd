-- id: runtime_oom_remedies
-- title: What could make the program fit, as far as the text and the plan support it
-- columns:
--   capture_id: the log
--   device_id: NULL
--   module_id: the matched module
--   position: from 1, those that make it fit first, then those that save most; of equals
--     those first that change no results; last resorts last
--   fix: what to do
--   saving_bytes: what it saves at most (bytes); NULL when that can't be told
--   needs_bytes: what is needed then (bytes); NULL when that can't be told
--   fits: 1 when that is within the capacity, 0 when not; NULL when it can't be told
--   cost: what it costs
--   changes_results: 0 or 1
--   evidence: inferred
CREATE VIEW runtime_oom_remedies AS
SELECT
  r.capture_id,
  r.device_id,
  r.module_id,
  r.position,
  r.fix,
  r.saving_bytes,
  r.needs_bytes,
  r.fits,
  r.cost,
  r.changes_results,
  'inferred' AS evidence
FROM oom_remedies r
WHERE r.stage = 'run';
