-- id: donation_savings
-- title: What donation would save at most, for every module whose results look like updated state
-- columns:
--   module_id: the module
--   pairs: parameters that could be donated
--   bytes: what that saves at most (bytes)
--   likely_bytes: of that, what isn't read while its result is written (bytes)
--   sure_bytes: what compiled programs gained at least of that (bytes)
CREATE VIEW donation_savings AS
-- A shape counts when some result of it looks like state: a step that returns its gradients and a
-- counter must not be told to donate its parameters.
WITH sums AS (
  SELECT
    p.module_id,
    CAST(SUM(p.pairs) AS BIGINT) AS pairs,
    CAST(SUM(p.bytes) AS BIGINT) AS bytes,
    CAST(SUM(p.likely_bytes) AS BIGINT) AS likely_bytes,
    CAST(SUM(p.state_pairs) AS BIGINT) AS state_pairs,
    CAST(SUM(p.cache_outputs) AS BIGINT) AS cache_outputs,
    CAST(SUM(p.trained_bytes) AS BIGINT) AS trained_bytes
  FROM donation_pairs p
  WHERE p.state_pairs > 0 OR p.cache_outputs > 0
  GROUP BY p.module_id
)
SELECT
  s.module_id,
  s.pairs,
  s.bytes,
  s.likely_bytes,
  -- What lives in the results' memory before they are written needs room of its own then. Where the
  -- state dominates that can't be more than the temps and the gradients.
  CASE
    WHEN 100 * (s.likely_bytes - m.temp_bytes - s.trained_bytes) > s.likely_bytes
      * (SELECT t.setting FROM settings t WHERE t.name = 'donation_sure_percent')
      THEN s.likely_bytes - m.temp_bytes - s.trained_bytes
    ELSE CAST((s.likely_bytes
        * (SELECT t.setting FROM settings t WHERE t.name = 'donation_sure_percent')
      - s.likely_bytes * (SELECT t.setting FROM settings t WHERE t.name = 'donation_sure_percent')
        % 100) / 100 AS BIGINT)
  END AS sure_bytes
FROM sums s
JOIN modules m ON m.module_id = s.module_id
WHERE (s.cache_outputs > 0
    OR s.state_pairs >= (SELECT t.setting FROM settings t WHERE t.name = 'donation_min_pairs'))
  AND s.bytes >= (SELECT t.setting FROM settings t WHERE t.name = 'donation_min_bytes')
  AND 100 * s.bytes
    >= (SELECT t.setting FROM settings t WHERE t.name = 'donation_min_percent') * m.plan_bytes;
