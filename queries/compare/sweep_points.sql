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
--   label_number: the label as a number where it is a whole one
--   other_labels: the run's other labels, as 'seq=64 '; only runs where these are equal are points
--     of one curve
--   remat_instruction_count: instructions that XLA rematerialized in that plan: where this jumps,
--     the curve has a kink
--   capture_id: the capture with that plan
--   module_id: the module with that plan
-- how to read: Labels come from `oomdb ingest --label name=label`. One row per label, run and
--   module name.
CREATE VIEW sweep_points AS
WITH capacities AS (
  SELECT c.run, MIN(e.capacity_bytes) AS capacity_bytes
  FROM effective_capacity e
  JOIN captures c ON c.capture_id = e.capture_id
  GROUP BY c.run
),
plans AS (
  SELECT
    c.run, c.capture_id, m.module_id, m.name AS module_name, m.plan_bytes,
    m.remat_instruction_count,
    MAX(m.peak_bytes) OVER (PARTITION BY c.run, m.name) AS peak_bytes,
    ROW_NUMBER() OVER (
      PARTITION BY c.run, m.name ORDER BY m.plan_bytes DESC NULLS LAST, m.module_id
    ) AS place
  FROM modules m
  JOIN captures c ON c.capture_id = m.capture_id
  WHERE m.plan_bytes IS NOT NULL
),
-- Beyond four other labels the rest is not told apart.
others AS (
  SELECT
    l.name,
    l.label,
    l.run,
    x.name || '=' || x.label || ' ' AS other,
    ROW_NUMBER() OVER (PARTITION BY l.name, l.run ORDER BY x.name NULLS FIRST) AS place
  FROM run_labels l
  LEFT JOIN run_labels x ON x.run = l.run AND x.name <> l.name
),
series AS (
  SELECT
    o.name,
    o.label,
    o.run,
    COALESCE(MAX(CASE WHEN o.place = 1 THEN o.other END), '')
      || COALESCE(MAX(CASE WHEN o.place = 2 THEN o.other END), '')
      || COALESCE(MAX(CASE WHEN o.place = 3 THEN o.other END), '')
      || COALESCE(MAX(CASE WHEN o.place = 4 THEN o.other END), '') AS other_labels
  FROM others o
  GROUP BY o.name, o.label, o.run
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
  END AS fits,
  -- Digits alone, and not so many that they overflow.
  CASE
    WHEN l.label <> '' AND LENGTH(l.label) < 19 AND REPLACE(REPLACE(REPLACE(REPLACE(REPLACE(
      REPLACE(REPLACE(REPLACE(REPLACE(REPLACE(l.label, '0', ''), '1', ''), '2', ''), '3', ''), '4',
      ''), '5', ''), '6', ''), '7', ''), '8', ''), '9', '') = ''
      THEN CAST(l.label AS BIGINT)
  END AS label_number,
  l.other_labels,
  p.remat_instruction_count,
  p.capture_id,
  p.module_id
FROM series l
JOIN plans p ON p.run = l.run AND p.place = 1
LEFT JOIN capacities s ON s.run = l.run;
