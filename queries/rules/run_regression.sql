-- id: run_regression
-- title: A run needs more memory than the one it is measured against
-- rank: 125
-- verdict: regressed
-- asks: Did the peak of a module rise from the run that the label `baseline` names?
-- needs: a run with the label baseline=RUN, that run, and plans of one module in both
-- tags: compare, plan
-- severity: warning
-- cause: A change of the program, of its sizes or of the compiler.
-- how to read: Nothing says by itself which of two runs is the measure, so the later one names it:
--   oomdb ingest --label baseline=RUN. Compared is the largest plan of each name, by the peak:
--   parameters, outputs, constants and the heap peak.
-- next: oomdb compare BASE NEW
-- says: {module_name} of {run} peaks {bytes:bytes} higher than in {base_run}
-- detail: From {base_peak_bytes:bytes} to {peak_bytes:bytes} (read): parameters
--   {base_parameter_bytes:bytes}, now {parameter_bytes:bytes}; outputs {base_output_bytes:bytes},
--   now {output_bytes:bytes}; temps {base_temp_bytes:bytes}, now {temp_bytes:bytes}.
-- columns:
--   capture_id: the capture of the run that needs more
--   bytes: how much more is needed at the peak (bytes)
--   base_run: the run it is measured against
--   peak_bytes: its peak (bytes)
--   base_peak_bytes: the peak in the base run (bytes)
--   parameter_bytes: its parameters (bytes)
--   base_parameter_bytes: those in the base run (bytes)
--   output_bytes: its outputs (bytes)
--   base_output_bytes: those in the base run (bytes)
--   temp_bytes: its temps (bytes)
--   base_temp_bytes: those in the base run (bytes)
CREATE VIEW run_regression AS
WITH compared AS (
  SELECT
    l.run AS new_run, l.label AS base_run, m.run, m.module_name, m.module_id, m.peak_bytes,
    m.parameter_bytes, m.output_bytes, m.temp_bytes
  FROM run_labels l
  JOIN run_modules m ON m.place = 1 AND (m.run = l.run OR m.run = l.label)
  WHERE l.name = 'baseline' AND l.run <> l.label
),
sides AS (
  SELECT
    c.new_run, c.base_run, c.module_name,
    MAX(CASE WHEN c.run = c.new_run THEN c.module_id END) AS module_id,
    MAX(CASE WHEN c.run = c.new_run THEN c.peak_bytes END) AS new_peak,
    MAX(CASE WHEN c.run = c.base_run THEN c.peak_bytes END) AS base_peak,
    MAX(CASE WHEN c.run = c.new_run THEN c.parameter_bytes END) AS new_parameters,
    MAX(CASE WHEN c.run = c.base_run THEN c.parameter_bytes END) AS base_parameters,
    MAX(CASE WHEN c.run = c.new_run THEN c.output_bytes END) AS new_outputs,
    MAX(CASE WHEN c.run = c.base_run THEN c.output_bytes END) AS base_outputs,
    MAX(CASE WHEN c.run = c.new_run THEN c.temp_bytes END) AS new_temps,
    MAX(CASE WHEN c.run = c.base_run THEN c.temp_bytes END) AS base_temps
  FROM compared c
  GROUP BY c.new_run, c.base_run, c.module_name
)
SELECT
  c.capture_id,
  c.run,
  c.host,
  CAST(NULL AS BIGINT) AS device,
  CAST(NULL AS BIGINT) AS device_id,
  s.module_id,
  s.module_name,
  CAST(NULL AS BIGINT) AS execution_id,
  'warning' AS severity,
  'read' AS evidence,
  s.new_peak - s.base_peak AS bytes,
  s.base_run,
  s.new_peak AS peak_bytes,
  s.base_peak AS base_peak_bytes,
  s.new_parameters AS parameter_bytes,
  s.base_parameters AS base_parameter_bytes,
  s.new_outputs AS output_bytes,
  s.base_outputs AS base_output_bytes,
  s.new_temps AS temp_bytes,
  s.base_temps AS base_temp_bytes
FROM sides s
JOIN modules m ON m.module_id = s.module_id
JOIN captures c ON c.capture_id = m.capture_id
WHERE s.new_peak - s.base_peak
    >= (SELECT t.setting FROM settings t WHERE t.name = 'regression_min_bytes')
  AND 100 * (s.new_peak - s.base_peak)
    > (SELECT t.setting FROM settings t WHERE t.name = 'regression_min_percent') * s.base_peak;
