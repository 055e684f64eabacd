-- id: oom_remedies
-- title: The remedies for every failure in an error log, those to try first in front
-- empty without: oom_events
-- columns:
--   oom_event_id: the event
--   capture_id: the error log
--   stage: compile or run
--   branch: the cause (oom_branches)
--   device_id: NULL
--   module_id: the matched module
--   position: from 1: those that make it fit, then what the cause asks for; of these what takes no
--     code, no change of results, computation, time, results, in this order; then those that save
--     most; what only tells more and last resorts last
--   remedy: its short name
--   fix: what to do
--   saving_bytes: what it saves at most (bytes); NULL when that can't be told
--   needs_bytes: what is needed then (bytes); NULL when that can't be told
--   fits: 1 when that is within the capacity, 0 when not; NULL when it can't be told
--   likely: 1 when needs_bytes is within the capacity, 0 when not: what to expect where fits is
--     NULL
--   needs_low_bytes: the low end of the range in which that lies (bytes); NULL: open
--   needs_high_bytes: its high end (bytes); NULL: open
--   cost: what it costs
--   changes_results: 0 or 1
CREATE VIEW oom_remedies AS
WITH united AS (
  SELECT
    l.oom_event_id, l.branch, l.remedy, l.preference, l.fix, l.saving_bytes, l.needs_bytes, l.fits,
    l.fits AS likely, l.cost, l.changes_results, l.leads, 2 AS part,
    CAST(NULL AS BIGINT) AS needs_low_bytes, CAST(NULL AS BIGINT) AS needs_high_bytes
  FROM oom_log_remedies l
  UNION ALL
  -- Those for a matched plan that does not fit.
  SELECT
    b.oom_event_id, b.branch, x.remedy, x.preference, x.fix, x.saving_bytes, x.needs_bytes, x.fits,
    x.likely, x.cost, x.changes_results, 0, 1, x.needs_low_bytes, x.needs_high_bytes
  FROM oom_branches b
  JOIN fit_remedies x ON x.module_id = b.module_id
  WHERE b.stage IN ('compile', 'run') AND b.branch <> 'absurd'
)
SELECT
  f.oom_event_id,
  f.capture_id,
  f.stage,
  l.branch,
  f.device_id,
  f.module_id,
  ROW_NUMBER() OVER (
    PARTITION BY f.oom_event_id
    ORDER BY
      COALESCE(l.fits, l.likely, 0) DESC,
      l.leads DESC NULLS LAST,
      l.part,
      k.effort NULLS LAST,
      l.saving_bytes DESC NULLS LAST,
      l.preference,
      l.remedy NULLS FIRST
  ) AS position,
  l.remedy,
  l.fix,
  l.saving_bytes,
  l.needs_bytes,
  l.fits,
  l.likely,
  l.needs_low_bytes,
  l.needs_high_bytes,
  l.cost,
  l.changes_results
FROM oom_failures f
JOIN united l ON l.oom_event_id = f.oom_event_id
LEFT JOIN remedy_efforts k ON k.remedy = l.remedy;
