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
WITH starts AS (
  SELECT
    e.capture_id,
    e.device_id,
    e.module_id,
    e.start_ns,
    e.in_use_at_start_bytes AS in_use_bytes,
    c.status,
    p.allocator_id,
    ROW_NUMBER() OVER w AS place,
    COUNT(*) OVER (PARTITION BY e.device_id, e.module_id) AS executions,
    LEAD(e.start_ns) OVER w AS next_start_ns,
    LEAD(e.in_use_at_start_bytes) OVER w - e.in_use_at_start_bytes AS step_bytes
  FROM executions e
  JOIN captures c ON c.capture_id = e.capture_id
  LEFT JOIN effective_capacity p ON p.capture_id = e.capture_id AND p.device_id = e.device_id
  WHERE e.device_id IS NOT NULL AND e.module_id IS NOT NULL AND e.in_use_at_start_bytes IS NOT NULL
  WINDOW w AS (PARTITION BY e.device_id, e.module_id ORDER BY e.start_ns, e.execution_id)
),
-- The first step is a warm-up (compiling, tuning, the first outputs) once there are enough others.
-- The later half of the intervals is looked at for growth that is not steady.
steps AS (
  SELECT
    s.capture_id,
    s.device_id,
    s.module_id,
    s.start_ns,
    s.in_use_bytes,
    s.status,
    s.allocator_id,
    s.place,
    s.executions,
    s.next_start_ns,
    s.step_bytes,
    CASE
      WHEN s.step_bytes IS NULL THEN 0
      WHEN s.place > 1
        OR s.executions - 1 < (SELECT t.setting FROM settings t
          WHERE t.name = 'growth_drop_first_from')
        THEN 1
      ELSE 0
    END AS counted,
    CASE WHEN s.next_start_ns IS NOT NULL AND 2 * s.place > s.executions - 1 THEN 1
      ELSE 0 END AS later
  FROM starts s
  WHERE s.executions >= (SELECT t.setting FROM settings t WHERE t.name = 'growth_min_executions')
),
spans AS (
  SELECT
    s.capture_id,
    s.device_id,
    s.module_id,
    s.start_ns,
    s.status,
    s.allocator_id,
    s.place,
    s.executions,
    s.next_start_ns,
    s.step_bytes,
    s.counted,
    s.later,
    MIN(s.start_ns) OVER w AS first_start_ns,
    MAX(s.start_ns) OVER w AS last_start_ns,
    MAX(CASE WHEN s.place = 1 THEN s.in_use_bytes END) OVER w AS first_in_use_bytes,
    MAX(CASE WHEN s.place = 2 THEN s.in_use_bytes END) OVER w AS second_in_use_bytes,
    MAX(CASE WHEN s.place = s.executions THEN s.in_use_bytes END) OVER w AS last_in_use_bytes,
    MAX(CASE
      WHEN s.later = 1 AND 2 * (s.place - 1) <= s.executions - 1 THEN s.in_use_bytes
    END) OVER w AS later_in_use_bytes,
    MIN(CASE WHEN s.later = 0 AND s.next_start_ns IS NOT NULL THEN s.in_use_bytes END) OVER w
      AS earlier_low_bytes,
    MIN(CASE WHEN s.later = 1 OR s.next_start_ns IS NULL
      THEN s.in_use_bytes END) OVER w AS later_low_bytes,
    SUM(s.later) OVER w AS later_count,
    SUM(s.counted) OVER w AS counted_count,
    ROW_NUMBER() OVER (
      PARTITION BY s.device_id, s.module_id, s.counted
      ORDER BY s.step_bytes NULLS LAST, s.place
    ) AS step_place
  FROM steps s
  WINDOW w AS (PARTITION BY s.device_id, s.module_id)
),
medians AS (
  SELECT
    p.capture_id,
    p.device_id,
    p.module_id,
    p.start_ns,
    p.status,
    p.allocator_id,
    p.place,
    p.executions,
    p.next_start_ns,
    p.step_bytes,
    p.counted,
    p.later,
    p.first_start_ns,
    p.last_start_ns,
    p.first_in_use_bytes,
    p.second_in_use_bytes,
    p.last_in_use_bytes,
    p.later_count,
    p.counted_count,
    p.last_in_use_bytes - p.later_in_use_bytes AS rise_bytes,
    p.later_low_bytes - p.earlier_low_bytes AS low_rise_bytes,
    MAX(CASE
      WHEN p.counted = 1
        AND (2 * p.step_place = p.counted_count OR 2 * p.step_place = p.counted_count + 1)
        THEN p.step_bytes
    END) OVER (PARTITION BY p.device_id, p.module_id) AS median_bytes
  FROM spans p
),
-- What was allocated in each interval and is live at the last start; only looked for where in-use
-- rises at all. An interval that keeps nothing has only the first of these rows.
kept AS (
  SELECT
    m.capture_id, m.device_id, m.module_id, m.allocator_id, m.place, m.executions, m.step_bytes,
    m.counted, m.later, m.first_start_ns, m.last_start_ns, m.first_in_use_bytes,
    m.second_in_use_bytes, m.last_in_use_bytes, m.later_count, m.counted_count, m.rise_bytes,
    m.low_rise_bytes, m.median_bytes,
    0 AS kept_bytes,
    0 AS own_output_bytes
  FROM medians m
  WHERE m.rise_bytes > 0
    OR m.median_bytes >= (SELECT t.setting FROM settings t WHERE t.name = 'growth_min_bytes')
  UNION ALL
  SELECT
    m.capture_id, m.device_id, m.module_id, m.allocator_id, m.place, m.executions, m.step_bytes,
    m.counted, m.later, m.first_start_ns, m.last_start_ns, m.first_in_use_bytes,
    m.second_in_use_bytes, m.last_in_use_bytes, m.later_count, m.counted_count, m.rise_bytes,
    m.low_rise_bytes, m.median_bytes,
    x.bytes,
    CASE WHEN x.purpose = 'output' AND x.module_id = m.module_id THEN x.bytes ELSE 0 END
  FROM medians m
  JOIN allocations x
    ON x.allocator_id = m.allocator_id
    AND x.alloc_ns >= m.start_ns
    AND x.alloc_ns < m.next_start_ns
    AND (x.free_ns IS NULL OR x.free_ns >= m.last_start_ns)
  WHERE m.status = 'complete'
    AND (m.rise_bytes > 0
      OR m.median_bytes >= (SELECT t.setting FROM settings t WHERE t.name = 'growth_min_bytes'))
),
intervals AS (
  SELECT
    k.capture_id, k.device_id, k.module_id, k.allocator_id, k.place, k.executions, k.step_bytes,
    k.counted, k.later, k.first_start_ns, k.last_start_ns, k.first_in_use_bytes,
    k.second_in_use_bytes, k.last_in_use_bytes, k.later_count, k.counted_count, k.rise_bytes,
    k.low_rise_bytes, k.median_bytes,
    SUM(k.kept_bytes) AS kept_bytes,
    SUM(k.own_output_bytes) AS own_output_bytes
  FROM kept k
  GROUP BY
    k.capture_id, k.device_id, k.module_id, k.allocator_id, k.place, k.executions, k.step_bytes,
    k.counted, k.later, k.first_start_ns, k.last_start_ns, k.first_in_use_bytes,
    k.second_in_use_bytes, k.last_in_use_bytes, k.later_count, k.counted_count, k.rise_bytes,
    k.low_rise_bytes, k.median_bytes
),
sums AS (
  SELECT
    i.capture_id,
    i.device_id,
    i.module_id,
    i.allocator_id,
    i.executions,
    i.first_start_ns,
    i.last_start_ns,
    i.first_in_use_bytes,
    i.second_in_use_bytes,
    i.last_in_use_bytes,
    i.later_count,
    i.counted_count,
    i.rise_bytes,
    i.low_rise_bytes,
    i.median_bytes,
    SUM(CASE
      WHEN i.counted = 1
        AND 100 * ABS(i.step_bytes - i.median_bytes)
          <= (SELECT t.setting FROM settings t WHERE t.name = 'growth_tolerance_percent')
            * i.median_bytes
        THEN 1
      ELSE 0
    END) AS near_count,
    SUM(CASE
      WHEN i.later = 1
        AND i.kept_bytes >= (SELECT t.setting FROM settings t WHERE t.name = 'growth_min_bytes')
          THEN 1
      ELSE 0
    END) AS kept_count,
    SUM(CASE WHEN i.later = 1 THEN i.kept_bytes END) AS later_kept_bytes,
    CAST(SUM(i.kept_bytes) AS BIGINT) AS survivor_bytes,
    CAST(SUM(i.own_output_bytes) AS BIGINT) AS own_output_bytes
  FROM intervals i
  GROUP BY
    i.capture_id, i.device_id, i.module_id, i.allocator_id, i.executions, i.first_start_ns,
      i.last_start_ns,
    i.first_in_use_bytes, i.second_in_use_bytes, i.last_in_use_bytes, i.later_count,
      i.counted_count,
    i.rise_bytes, i.low_rise_bytes, i.median_bytes
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
  FROM sums s
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
  CASE WHEN c.status = 'complete' THEN j.survivor_bytes END AS survivor_bytes,
  CASE WHEN c.status = 'complete' THEN j.own_output_bytes END AS own_output_bytes
FROM judged j
JOIN captures c ON c.capture_id = j.capture_id
WHERE j.steady IS NOT NULL;
