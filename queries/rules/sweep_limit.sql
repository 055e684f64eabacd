-- id: sweep_limit
-- title: Where a sweep stops fitting
-- rank: 210
-- verdict: too large
-- asks: Which is the largest value of a label that fits, and the smallest that does not?
-- needs: runs with a label, at least three of one module, and the devices' capacity
-- tags: sweep, plan, capacity
-- severity: warning when no point fits, else info
-- cause: Activations grow with batch and sequence, and so does the plan.
-- how to read: Labels are compared where they are whole numbers and where the runs agree in all
--   other labels. A smaller label that does not fit beside a larger one that does is not a mistake:
--   XLA rematerializes when it nears its limit, so the curve has kinks.
-- next: oomdb sweep --label batch
-- says: (none_fits?No {name} of the sweep fits: {name}={failing:n} needs {bytes:bytes}, the
--   capacity is {capacity_bytes:bytes}|{name}={fitting:n} is the largest that fits of
--   {point_count:n} points; {name}={failing:n} does not)
-- detail: {module_name} needs [{fitting_bytes:bytes} at {name}={fitting:n} and ]{bytes:bytes} at
--   {name}={failing:n} (read); the capacity is {capacity_bytes:bytes}[; all with
--   {other_labels}(labels)].[ At {name}={fitting:n} XLA already rematerializes
--   {fitting_remat_count:n} instructions to get there (read).](crossed? The larger one fits because
--   XLA rematerializes there (inferred).)
-- columns:
--   capture_id: the capture of the smallest label that does not fit
--   bytes: the plan of the smallest label that does not fit (bytes)
--   name: the label's name
--   point_count: labels that the sweep has
--   fitting: the largest label that fits; NULL when none does
--   fitting_bytes: its plan (bytes)
--   fitting_remat_count: instructions that XLA rematerialized in it; NULL when none
--   failing: the smallest label that does not fit
--   capacity_bytes: what may be used there (bytes)
--   other_labels: the other labels of these runs, as 'seq=64 '; NULL without any
--   none_fits: 1 when no label fits, else 0
--   crossed: 1 when a larger label fits than the smallest that does not, else 0
CREATE VIEW sweep_limit AS
WITH points AS (
  SELECT
    p.name, p.label_number, p.other_labels, p.module_name, p.plan_bytes, p.capacity_bytes, p.fits,
    p.remat_instruction_count, p.capture_id, p.module_id
  FROM sweep_points p
  WHERE p.label_number IS NOT NULL AND p.fits IS NOT NULL
),
limits AS (
  SELECT
    p.*,
    ROW_NUMBER() OVER (
      PARTITION BY p.name, p.other_labels, p.module_name, p.fits
      ORDER BY CASE WHEN p.fits = 1 THEN -p.label_number ELSE p.label_number END NULLS FIRST,
        p.plan_bytes NULLS FIRST, p.capture_id
    ) AS place,
    DENSE_RANK() OVER (
      PARTITION BY p.name, p.other_labels, p.module_name ORDER BY p.label_number NULLS FIRST
    ) AS label_place
  FROM points p
),
sweeps AS (
  SELECT
    l.name,
    l.other_labels,
    l.module_name,
    MAX(l.label_place) AS point_count,
    MAX(CASE WHEN l.fits = 1 AND l.place = 1 THEN l.label_number END) AS fitting,
    MAX(CASE WHEN l.fits = 1 AND l.place = 1 THEN l.plan_bytes END) AS fitting_bytes,
    MAX(CASE WHEN l.fits = 1 AND l.place = 1 THEN l.remat_instruction_count END) AS fitting_remat,
    MAX(CASE WHEN l.fits = 0 AND l.place = 1 THEN l.label_number END) AS failing,
    MAX(CASE WHEN l.fits = 0 AND l.place = 1 THEN l.plan_bytes END) AS failing_bytes,
    MAX(CASE WHEN l.fits = 0 AND l.place = 1 THEN l.capacity_bytes END) AS capacity_bytes,
    MAX(CASE WHEN l.fits = 0 AND l.place = 1 THEN l.capture_id END) AS capture_id,
    MAX(CASE WHEN l.fits = 0 AND l.place = 1 THEN l.module_id END) AS module_id
  FROM limits l
  GROUP BY l.name, l.other_labels, l.module_name
),
-- A point can end the curves of two labels: the longer one is named.
told AS (
  SELECT
    s.*,
    ROW_NUMBER() OVER (
      PARTITION BY s.capture_id, s.module_id
      ORDER BY s.point_count DESC NULLS LAST, s.name NULLS FIRST
    ) AS place
  FROM sweeps s
  WHERE s.failing IS NOT NULL
    AND s.point_count >= (SELECT t.setting FROM settings t WHERE t.name = 'sweep_min_points')
)
SELECT
  c.capture_id,
  c.run,
  c.host,
  CAST(NULL AS BIGINT) AS device,
  CAST(NULL AS BIGINT) AS device_id,
  t.module_id,
  t.module_name,
  CAST(NULL AS BIGINT) AS execution_id,
  CASE WHEN t.fitting IS NULL THEN 'warning' ELSE 'info' END AS severity,
  'read' AS evidence,
  t.failing_bytes AS bytes,
  t.name,
  t.point_count,
  t.fitting,
  t.fitting_bytes,
  NULLIF(t.fitting_remat, 0) AS fitting_remat_count,
  t.failing,
  t.capacity_bytes,
  NULLIF(t.other_labels, '') AS other_labels,
  CASE WHEN t.fitting IS NULL THEN 1 ELSE 0 END AS none_fits,
  CASE WHEN t.failing < t.fitting THEN 1 ELSE 0 END AS crossed
FROM told t
JOIN captures c ON c.capture_id = t.capture_id
WHERE t.place = 1;
