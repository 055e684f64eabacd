-- id: sweep_points
-- title: Every labelled run of a sweep, with what its modules need and whether that fits
-- columns:
--   name: the label's name, such as batch
--   label: its text
--   run: the run
--   module_name: the module
--   plan_bytes: the largest plan of that module in the run (bytes)
--   peak_bytes: the largest peak of that module in the run (bytes)
--   capacity_bytes: the smallest capacity of the run's devices; NULL when nothing says it (bytes)
--   fits: 1 when plan_bytes <= capacity_bytes, 0 when not, NULL without a capacity
-- how to read: Labels come from `oomdb ingest --label name=label`. One row per label, run and module name.
CREATE VIEW sweep_points AS
WITH capacities AS (
  SELECT c.run, MIN(e.capacity_bytes) AS capacity_bytes
  FROM effective_capacity e
  JOIN captures c ON c.capture_id = e.capture_id
  GROUP BY c.run
),
plans AS (
  SELECT c.run, m.name AS module_name, MAX(m.plan_bytes) AS plan_bytes, MAX(m.peak_bytes) AS peak_bytes
  FROM modules m
  JOIN captures c ON c.capture_id = m.capture_id
  WHERE m.plan_bytes IS NOT NULL
  GROUP BY c.run, m.name
)
SELECT
  l.name,
  l.label,
  l.run,
  p.module_name,
  p.plan_bytes,
  p.peak_bytes,
  s.capacity_bytes,
  CASE
    WHEN p.plan_bytes <= s.capacity_bytes THEN 1
    WHEN p.plan_bytes > s.capacity_bytes THEN 0
  END AS fits
FROM run_labels l
JOIN plans p ON p.run = l.run
LEFT JOIN capacities s ON s.run = l.run;
