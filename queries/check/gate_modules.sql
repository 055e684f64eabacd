-- id: gate_modules
-- title: What the modules of every run need, for limits
-- columns:
--   run: the run
--   module_name: the module
--   plan_bytes: its largest plan (bytes) among captures in which it ran, or in which no plan is
--     larger; NULL when there is none such
--   peak_bytes: its largest peak (bytes); NULL when it is not known
CREATE VIEW gate_modules AS
WITH ranked AS (
  SELECT
    c.run, m.name AS module_name, m.plan_bytes, m.peak_bytes, m.execution_count,
    ROW_NUMBER() OVER (
      PARTITION BY m.capture_id ORDER BY m.plan_bytes DESC NULLS LAST, m.module_id
    ) AS place
  FROM modules m
  JOIN captures c ON c.capture_id = m.capture_id
  WHERE m.plan_bytes IS NOT NULL
)
SELECT
  r.run,
  r.module_name,
  MAX(CASE WHEN r.execution_count > 0 OR r.place = 1 THEN r.plan_bytes END) AS plan_bytes,
  MAX(r.peak_bytes) AS peak_bytes
FROM ranked r
GROUP BY r.run, r.module_name;
