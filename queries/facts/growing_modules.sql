-- id: growing_modules
-- title: Modules whose device has more in use at every start, and by how much per execution
-- columns:
--   capture_id: the capture
--   device_id: the device
--   module_id: the module (several may share a name)
--   allocator_id: the device's pool
--   executions: executions whose in-use at the start is known
--   first_start_ns: start of the first of them (Unix ns)
--   last_start_ns: start of the last of them (Unix ns)
--   first_in_use_bytes: in use when the first started (bytes)
--   last_in_use_bytes: in use when the last started (bytes)
--   growth_bytes: growth per execution (bytes)
--   steady: 1 when every step is about the same, 0 when bytes of many intervals survive
--   survivor_bytes: allocated from the first start on and live at the last (bytes); NULL on a
--     truncated capture
--   own_output_bytes: of these, outputs of this module (bytes)
CREATE VIEW growing_modules AS
-- The numbers of each module are computed as its capture is stored; what they mean depends on the
-- settings. The first step is a warm-up (compiling, tuning, the first outputs) once there are
-- enough others. The later half of the intervals is looked at for growth that is not steady.
WITH starts AS (
  SELECT
    m.capture_id, m.device_id, m.module_id, m.allocator_id, m.executions, m.first_start_ns,
    m.last_start_ns, m.first_in_use_bytes, m.second_in_use_bytes, m.last_in_use_bytes,
    m.rise_bytes, m.low_rise_bytes, m.survivor_bytes, m.own_output_bytes,
    CASE
      WHEN m.executions - 1 < (SELECT t.setting FROM settings t
        WHERE t.name = 'growth_drop_first_from')
        THEN m.median_bytes
      ELSE m.settled_median_bytes
    END AS median_bytes,
    CASE
      WHEN m.executions - 1 < (SELECT t.setting FROM settings t
        WHERE t.name = 'growth_drop_first_from')
        THEN 1
      ELSE 2
    END AS first_counted
  FROM stored_module_starts m
  WHERE m.executions >= (SELECT t.setting FROM settings t WHERE t.name = 'growth_min_executions')
),
-- Only where in-use rises at all. Windows, not GROUP BY: after one SQLite takes the rows for so few
-- that it compares each with each in the joins to come. Subqueries would be evaluated again at
-- every mention.
stepped AS (
  SELECT
    s.capture_id, s.device_id, s.module_id, s.allocator_id, s.executions, s.first_start_ns,
    s.last_start_ns, s.first_in_use_bytes, s.second_in_use_bytes, s.last_in_use_bytes,
    s.rise_bytes, s.low_rise_bytes, s.median_bytes, s.survivor_bytes, s.own_output_bytes,
    s.executions - s.first_counted AS counted_count,
    CAST((s.executions - s.executions % 2) / 2 AS BIGINT) AS later_count,
    SUM(CASE
      WHEN k.place >= s.first_counted
        AND 100 * ABS(k.step_bytes - s.median_bytes)
          <= (SELECT t.setting FROM settings t WHERE t.name = 'growth_tolerance_percent')
            * s.median_bytes
        THEN 1
      ELSE 0
    END) OVER w AS near_count,
    SUM(CASE
      WHEN 2 * k.place > s.executions - 1
        AND k.kept_bytes >= (SELECT t.setting FROM settings t WHERE t.name = 'growth_min_bytes')
        THEN 1
      ELSE 0
    END) OVER w AS kept_count,
    SUM(CASE WHEN 2 * k.place > s.executions - 1 THEN k.kept_bytes END) OVER w
      AS later_kept_bytes,
    k.place,
    MIN(k.place) OVER w AS first_place
  FROM starts s
  LEFT JOIN stored_start_steps k ON k.device_id = s.device_id AND k.module_id = s.module_id
  WHERE s.rise_bytes > 0
    OR s.median_bytes >= (SELECT t.setting FROM settings t WHERE t.name = 'growth_min_bytes')
  WINDOW w AS (PARTITION BY s.capture_id, s.device_id, s.module_id)
),
-- Steady: the steps are near their median. Unsteady: many of the later intervals keep bytes to the
-- end, and in-use rises with them. A ring of prefetched batches keeps bytes too, but in-use does
-- not rise; an operation that runs at several places of an eager step sees a saw-tooth, whose low
-- points do not rise.
judged AS (
  SELECT
    s.capture_id,
    s.device_id,
    s.module_id,
    s.allocator_id,
    s.executions,
    s.first_start_ns,
    s.last_start_ns,
    s.first_in_use_bytes,
    s.second_in_use_bytes,
    s.last_in_use_bytes,
    s.later_count,
    s.rise_bytes,
    s.median_bytes,
    s.survivor_bytes,
    s.own_output_bytes,
    CASE
      WHEN s.median_bytes >= (SELECT t.setting FROM settings t WHERE t.name = 'growth_min_bytes')
        AND 100 * s.near_count
          >= (SELECT t.setting FROM settings t WHERE t.name = 'growth_near_percent')
            * s.counted_count
        THEN 1
      WHEN s.rise_bytes > 0
        AND s.low_rise_bytes >= (SELECT t.setting FROM settings t WHERE t.name = 'growth_min_bytes')
        AND s.kept_count >= (SELECT t.setting FROM settings t WHERE t.name = 'growth_min_kept')
        AND 100 * s.kept_count
          >= (SELECT t.setting FROM settings t WHERE t.name = 'growth_kept_percent') * s.later_count
        AND 100 * s.rise_bytes
          >= (SELECT t.setting FROM settings t WHERE t.name = 'growth_rise_percent')
            * s.later_kept_bytes
        THEN 0
    END AS steady
  FROM stepped s
  WHERE (s.place = s.first_place OR (s.place IS NULL AND s.first_place IS NULL))
)
SELECT
  j.capture_id,
  j.device_id,
  j.module_id,
  j.allocator_id,
  j.executions,
  j.first_start_ns,
  j.last_start_ns,
  j.first_in_use_bytes,
  j.last_in_use_bytes,
  -- Unsteady: the mean over all but the first step; over the later half alone where it began with a
  -- fall.
  CASE
    WHEN j.steady = 1 THEN j.median_bytes
    WHEN j.last_in_use_bytes > j.second_in_use_bytes THEN
      CAST((j.last_in_use_bytes - j.second_in_use_bytes
        - (j.last_in_use_bytes - j.second_in_use_bytes) % NULLIF(j.executions - 2, 0))
        / NULLIF(j.executions - 2, 0) AS BIGINT)
    ELSE CAST((j.rise_bytes - j.rise_bytes % NULLIF(j.later_count, 0)) / NULLIF(j.later_count,
      0) AS BIGINT)
  END AS growth_bytes,
  j.steady,
  j.survivor_bytes,
  j.own_output_bytes
FROM judged j
WHERE j.steady IS NOT NULL;
