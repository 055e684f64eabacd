-- id: listed_modules
-- title: The compiled modules with their runs and hosts
-- columns:
--   capture_id: the capture
--   run: its run
--   host: its host
--   module_id: the module
--   name: its name
--   program_id: tells modules of one name apart, as recorded
--   executions: executions in the capture
--   parameter_bytes: parameters (bytes)
--   donated_bytes: of these, donated (bytes)
--   output_bytes: outputs that are not aliased to a parameter (bytes)
--   temp_bytes: temporaries (bytes)
--   plan_bytes: what must fit beside everything else (bytes); NULL without a plan
--   peak_bytes: the most of it at once (bytes)
CREATE VIEW listed_modules AS
SELECT
  m.capture_id, c.run, c.host, m.module_id, m.name, m.program_id,
  m.execution_count AS executions, m.parameter_bytes, m.donated_bytes, m.output_bytes,
  m.temp_bytes, m.plan_bytes, m.peak_bytes
FROM modules m
JOIN captures c ON c.capture_id = m.capture_id;
