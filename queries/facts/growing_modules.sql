-- id: growing_modules
-- title: Modules whose device has ever more in use that is never given back, and how much more
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
--   growth_bytes: growth per execution (bytes): the floor's rise from its first rise to its last,
--     over the executions between
--   steady: 1 when the floor rises with every execution, by about the same each time
--   rise_count: starts whose floor rose
--   rise_distance: executions from one rise to the next, the median
--   first_rise: the execution that left the first rise behind, from 1
--   few_rises: 1 when there are only two rises, which may be chance
--   may_be_flushed: 1 when in-use fell by as much before: a list may be flushed again
--   survivor_bytes: allocated from the first start on and live at the last (bytes); NULL on a
--     truncated capture
--   own_output_bytes: outputs of this module among these (bytes)
CREATE VIEW growing_modules AS
-- The floor of a start is the least in use from it on. Its rises are computed as a capture is
-- stored; what they mean depends on the settings. Windows, not GROUP BY: after one SQLite takes the
-- rows for so few that it compares each with each in the joins to come.
WITH risen AS (
  SELECT
    m.capture_id,
    m.device_id,
    m.module_id,
    k.place,
    k.rise_bytes,
    COUNT(*) OVER w AS rise_count,
    MIN(k.place) OVER w AS first_place,
    MAX(k.place) OVER w AS last_place,
    SUM(k.rise_bytes) OVER w AS rise_sum,
    SUM(k.kept_bytes) OVER w AS kept_bytes,
    k.place - LAG(k.place) OVER (
      PARTITION BY m.capture_id, m.device_id, m.module_id ORDER BY k.place
    ) AS distance
  FROM stored_module_starts m
  JOIN stored_start_rises k ON k.device_id = m.device_id AND k.module_id = m.module_id
  WHERE m.executions >= (SELECT t.setting FROM settings t WHERE t.name = 'growth_min_executions')
    AND k.rise_bytes >= (SELECT t.setting FROM settings t WHERE t.name = 'growth_min_bytes')
  WINDOW w AS (PARTITION BY m.capture_id, m.device_id, m.module_id)
),
-- The first rise has no distance and stands first. The first is also the one that a warm-up makes
-- larger or smaller than the others.
ranked AS (
  SELECT
    r.capture_id,
    r.device_id,
    r.module_id,
    r.rise_count,
    r.first_place,
    r.last_place,
    r.rise_sum,
    r.kept_bytes,
    r.distance,
    SUM(CASE WHEN r.place > r.first_place THEN r.rise_bytes ELSE 0 END) OVER w AS later_bytes,
    MIN(CASE WHEN r.place > r.first_place OR r.rise_count = 2 THEN r.rise_bytes END) OVER w
      AS least_bytes,
    MAX(CASE WHEN r.place > r.first_place OR r.rise_count = 2 THEN r.rise_bytes END) OVER w
      AS most_bytes,
    ROW_NUMBER() OVER (
      PARTITION BY r.capture_id, r.device_id, r.module_id
      ORDER BY r.distance NULLS FIRST, r.place
    ) AS position
  FROM risen r
  WINDOW w AS (PARTITION BY r.capture_id, r.device_id, r.module_id)
),
judged AS (
  SELECT
    r.capture_id,
    r.device_id,
    r.module_id,
    r.rise_count,
    r.first_place,
    r.last_place,
    r.rise_sum,
    r.kept_bytes,
    r.later_bytes,
    r.distance,
    CASE
      WHEN 100 * (r.most_bytes - r.least_bytes)
        <= (SELECT t.setting FROM settings t WHERE t.name = 'growth_tolerance_percent')
          * r.most_bytes
        THEN 1
      ELSE 0
    END AS equal
  FROM ranked r
  -- The lower of two distances in the middle.
  WHERE 2 * (r.position - 2) = r.rise_count - 2 - r.rise_count % 2
)
SELECT
  m.capture_id,
  m.device_id,
  m.module_id,
  m.allocator_id,
  m.executions,
  m.first_start_ns,
  m.last_start_ns,
  m.first_in_use_bytes,
  m.last_in_use_bytes,
  CAST((j.later_bytes - j.later_bytes % NULLIF(j.last_place - j.first_place, 0))
    / NULLIF(j.last_place - j.first_place, 0) AS BIGINT) AS growth_bytes,
  CASE WHEN j.equal = 1 AND j.last_place - j.first_place = j.rise_count - 1 THEN 1 ELSE 0 END
    AS steady,
  j.rise_count,
  j.distance AS rise_distance,
  j.first_place AS first_rise,
  CASE
    WHEN j.rise_count < (SELECT t.setting FROM settings t WHERE t.name = 'growth_min_rises') THEN 1
    ELSE 0
  END AS few_rises,
  m.fell_before AS may_be_flushed,
  m.survivor_bytes,
  m.own_output_bytes
FROM judged j
JOIN stored_module_starts m ON m.device_id = j.device_id AND m.module_id = j.module_id
-- Two rises tell something only when they are equal; a saw-tooth that is cut in mid-ramp is not a
-- growth.
WHERE (j.rise_count >= (SELECT t.setting FROM settings t WHERE t.name = 'growth_min_rises')
    OR j.equal = 1)
  AND m.recurs = 0
  -- It has not stopped.
  AND 100 * (m.executions - 1 - j.last_place)
    <= (SELECT t.setting FROM settings t WHERE t.name = 'growth_stopped_percent') * j.distance
  -- What these executions allocated is what rises. A ring that fills with what is made elsewhere,
  -- or from other sizes, keeps nothing of its own.
  -- Where hardly any allocation is recorded for what stays, events were lost: that tells nothing.
  AND (j.kept_bytes IS NULL
    OR 100 * j.kept_bytes
      >= (SELECT t.setting FROM settings t WHERE t.name = 'growth_kept_percent') * j.rise_sum
    OR 100 * m.survivor_bytes
      < (SELECT t.setting FROM settings t WHERE t.name = 'growth_kept_percent')
        * m.floor_rise_bytes);
