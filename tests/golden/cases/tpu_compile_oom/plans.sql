SELECT m.name, m.program_id, m.instruction_count, m.parameter_count, m.parameter_bytes, m.donated_parameter_count,
  m.donated_bytes, m.output_bytes, m.constant_bytes, m.temp_bytes, m.plan_bytes, m.heap_peak_bytes, m.peak_bytes
FROM modules m
ORDER BY m.name, m.program_id
