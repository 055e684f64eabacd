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
--   survivor_bytes: allocated from the first start on and live at the last (bytes); NULL on a truncated capture
--   own_output_bytes: of these, outputs of this module (bytes)
CREATE VIEW growing_modules AS
WITH starts AS (
  SELECT
    e.capture_id,
    e.device_id,
    e.module_id,
    e.execution_id,
    e.start_ns,
    e.in_use_at_start_bytes AS in_use_bytes,
    ROW_NUMBER() OVER (
      PARTITION BY e.device_id, e.module_id
      ORDER BY e.start_ns, e.execution_id
    ) AS place,
    COUNT(*) OVER (PARTITION BY e.device_id, e.module_id) AS executions
  FROM executions e
  WHERE e.device_id IS NOT NULL AND e.module_id IS NOT NULL AND e.in_use_at_start_bytes IS NOT NULL
),
steps AS (
  SELECT
    s.capture_id,
    s.device_id,
    s.module_id,
    s.place,
    s.executions,
    s.start_ns,
    s.in_use_bytes,
    LEAD(s.start_ns) OVER (PARTITION BY s.device_id, s.module_id ORDER BY s.place) AS next_start_ns,
    LEAD(s.in_use_bytes) OVER (PARTITION BY s.device_id, s.module_id ORDER BY s.place)
      - s.in_use_bytes AS step_bytes
  FROM starts s
  WHERE s.executions >= (SELECT t.setting FROM settings t WHERE t.name = 'growth_min_executions')
),
spans AS (
  SELECT
    s.capture_id,
    s.device_id,
    s.module_id,
    s.executions,
    MIN(s.start_ns) AS first_start_ns,
    MAX(s.start_ns) AS last_start_ns,
    MIN(CASE WHEN s.place = 1 THEN s.in_use_bytes END) AS first_in_use_bytes,
    MIN(CASE WHEN s.place = 2 THEN s.in_use_bytes END) AS second_in_use_bytes,
    MIN(CASE WHEN s.place = s.executions THEN s.in_use_bytes END) AS last_in_use_bytes
  FROM steps s
  GROUP BY s.capture_id, s.device_id, s.module_id, s.executions
),
-- Steady: the differences between starts are near their median. The first is a warm-up (compiling, tuning,
-- the first outputs) once there are enough others.
differences AS (
  SELECT
    s.device_id,
    s.module_id,
    s.step_bytes,
    ROW_NUMBER() OVER (
      PARTITION BY s.device_id, s.module_id
      ORDER BY s.step_bytes, s.place
    ) AS place,
    COUNT(*) OVER (PARTITION BY s.device_id, s.module_id) AS differences
  FROM steps s
  WHERE s.step_bytes IS NOT NULL
    AND (s.place > 1
      OR s.executions - 1 < (SELECT t.setting FROM settings t WHERE t.name = 'growth_drop_first_from'))
),
medians AS (
  SELECT d.device_id, d.module_id, d.step_bytes AS median_bytes
  FROM differences d
  WHERE 2 * d.place = d.differences OR 2 * d.place = d.differences + 1
),
steady AS (
  SELECT d.device_id, d.module_id, m.median_bytes
  FROM differences d
  JOIN medians m ON m.device_id = d.device_id AND m.module_id = d.module_id
  WHERE m.median_bytes >= (SELECT t.setting FROM settings t WHERE t.name = 'growth_min_bytes')
  GROUP BY d.device_id, d.module_id, m.median_bytes
  HAVING 100 * SUM(CASE
      WHEN 100 * ABS(d.step_bytes - m.median_bytes)
        <= (SELECT t.setting FROM settings t WHERE t.name = 'growth_tolerance_percent') * m.median_bytes
        THEN 1
      ELSE 0
    END) >= (SELECT t.setting FROM settings t WHERE t.name = 'growth_near_percent') * COUNT(*)
),
-- Unsteady: of the later half of the intervals many keep bytes to the end, and in-use rises with them. A ring
-- of prefetched batches keeps bytes too, but in-use does not rise. Only risen spans are looked at.
later AS (
  SELECT
    s.capture_id,
    s.device_id,
    s.module_id,
    s.place,
    s.start_ns,
    s.next_start_ns,
    p.last_start_ns,
    p.last_in_use_bytes,
    s.in_use_bytes
  FROM steps s
  JOIN spans p ON p.device_id = s.device_id AND p.module_id = s.module_id
  WHERE s.next_start_ns IS NOT NULL AND 2 * s.place > s.executions - 1
),
rises AS (
  SELECT
    l.device_id,
    l.module_id,
    COUNT(*) AS intervals,
    MIN(l.place) AS first_place,
    MAX(l.last_in_use_bytes) AS last_in_use_bytes
  FROM later l
  GROUP BY l.device_id, l.module_id
),
risen AS (
  SELECT r.device_id, r.module_id, r.intervals, r.last_in_use_bytes - l.in_use_bytes AS rise_bytes
  FROM rises r
  JOIN later l
    ON l.device_id = r.device_id AND l.module_id = r.module_id AND l.place = r.first_place
  WHERE r.last_in_use_bytes > l.in_use_bytes
),
kept AS (
  SELECT l.device_id, l.module_id, l.place, SUM(x.bytes) AS kept_bytes
  FROM risen r
  JOIN later l ON l.device_id = r.device_id AND l.module_id = r.module_id
  JOIN captures c ON c.capture_id = l.capture_id AND c.status = 'complete'
  JOIN effective_capacity p ON p.device_id = l.device_id
  JOIN allocations x
    ON x.allocator_id = p.allocator_id
    AND x.alloc_ns >= l.start_ns
    AND x.alloc_ns < l.next_start_ns
  WHERE x.free_ns IS NULL OR x.free_ns >= l.last_start_ns
  GROUP BY l.device_id, l.module_id, l.place
),
unsteady AS (
  SELECT r.device_id, r.module_id, r.intervals, r.rise_bytes
  FROM risen r
  JOIN kept k ON k.device_id = r.device_id AND k.module_id = r.module_id
  WHERE k.kept_bytes >= (SELECT t.setting FROM settings t WHERE t.name = 'growth_min_bytes')
  GROUP BY r.device_id, r.module_id, r.intervals, r.rise_bytes
  HAVING COUNT(*) >= (SELECT t.setting FROM settings t WHERE t.name = 'growth_min_kept')
    AND 100 * COUNT(*)
      >= (SELECT t.setting FROM settings t WHERE t.name = 'growth_kept_percent') * r.intervals
    AND 100 * r.rise_bytes
      >= (SELECT t.setting FROM settings t WHERE t.name = 'growth_rise_percent') * SUM(k.kept_bytes)
),
grown AS (
  SELECT p.device_id, p.module_id, s.median_bytes AS growth_bytes, 1 AS steady
  FROM spans p
  JOIN steady s ON s.device_id = p.device_id AND s.module_id = p.module_id
  UNION ALL
  -- The mean over all but the first difference; over the later half alone where the start was a fall.
  SELECT
    p.device_id,
    p.module_id,
    CASE
      WHEN p.last_in_use_bytes > p.second_in_use_bytes THEN
        CAST((p.last_in_use_bytes - p.second_in_use_bytes
          - (p.last_in_use_bytes - p.second_in_use_bytes) % NULLIF(p.executions - 2, 0))
          / NULLIF(p.executions - 2, 0) AS BIGINT)
      ELSE CAST((u.rise_bytes - u.rise_bytes % u.intervals) / u.intervals AS BIGINT)
    END AS growth_bytes,
    0 AS steady
  FROM spans p
  JOIN unsteady u ON u.device_id = p.device_id AND u.module_id = p.module_id
  WHERE NOT EXISTS (
    SELECT 1 FROM steady s WHERE s.device_id = p.device_id AND s.module_id = p.module_id
  )
),
survivors AS (
  SELECT
    g.device_id,
    g.module_id,
    CAST(SUM(x.bytes) AS BIGINT) AS survivor_bytes,
    CAST(SUM(CASE WHEN x.purpose = 'output' AND x.module_id = g.module_id THEN x.bytes ELSE 0 END)
      AS BIGINT) AS own_output_bytes
  FROM grown g
  JOIN spans p ON p.device_id = g.device_id AND p.module_id = g.module_id
  JOIN captures c ON c.capture_id = p.capture_id AND c.status = 'complete'
  JOIN effective_capacity o ON o.device_id = g.device_id
  JOIN allocations x
    ON x.allocator_id = o.allocator_id
    AND x.alloc_ns >= p.first_start_ns
    AND x.alloc_ns < p.last_start_ns
  WHERE x.free_ns IS NULL OR x.free_ns >= p.last_start_ns
  GROUP BY g.device_id, g.module_id
)
SELECT
  p.capture_id,
  p.device_id,
  p.module_id,
  o.allocator_id,
  p.executions,
  p.first_start_ns,
  p.last_start_ns,
  p.first_in_use_bytes,
  p.last_in_use_bytes,
  g.growth_bytes,
  g.steady,
  v.survivor_bytes,
  v.own_output_bytes
FROM grown g
JOIN spans p ON p.device_id = g.device_id AND p.module_id = g.module_id
LEFT JOIN effective_capacity o ON o.device_id = g.device_id
LEFT JOIN survivors v ON v.device_id = g.device_id AND v.module_id = g.module_id;
