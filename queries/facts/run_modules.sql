-- id: run_modules
-- title: The different plans of every run, the largest of a name first
-- columns:
--   run: the run
--   module_name: the module
--   place: 1 for its largest plan; several programs may share a name
--   module_id: one module with that plan; the hosts of a job have one each
--   plan_bytes: parameters, outputs, constants and temps (bytes)
--   peak_bytes: parameters, outputs, constants and the heap peak (bytes)
--   parameter_bytes: parameters (bytes)
--   output_bytes: non-donated outputs (bytes)
--   temp_bytes: temps (bytes)
--   remat_instruction_count: instructions that XLA rematerialized
--   shape_signature: hash of the shapes of its parameters and result
CREATE VIEW run_modules AS
WITH ranked AS (
  SELECT
    c.run, m.name AS module_name, m.module_id, m.plan_bytes, m.peak_bytes, m.parameter_bytes,
    m.output_bytes, m.temp_bytes, m.remat_instruction_count, m.shape_signature,
    DENSE_RANK() OVER (
      PARTITION BY c.run, m.name
      ORDER BY m.plan_bytes DESC NULLS LAST, m.parameter_bytes DESC NULLS LAST,
        m.output_bytes DESC NULLS LAST, m.temp_bytes DESC NULLS LAST,
        m.instruction_count DESC NULLS LAST, m.shape_signature NULLS FIRST
    ) AS place,
    ROW_NUMBER() OVER (
      PARTITION BY c.run, m.name, m.plan_bytes, m.parameter_bytes, m.output_bytes, m.temp_bytes,
        m.instruction_count, m.shape_signature
      ORDER BY c.capture_id, m.module_id
    ) AS copy
  FROM modules m
  JOIN captures c ON c.capture_id = m.capture_id
  WHERE m.plan_bytes IS NOT NULL AND c.run IS NOT NULL
)
SELECT
  r.run,
  r.module_name,
  r.place,
  r.module_id,
  r.plan_bytes,
  r.peak_bytes,
  r.parameter_bytes,
  r.output_bytes,
  r.temp_bytes,
  r.remat_instruction_count,
  r.shape_signature
FROM ranked r
WHERE r.copy = 1;
