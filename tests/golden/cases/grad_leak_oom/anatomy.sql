SELECT m.module_name, m.memory_space, m.kind, m.bytes, m.parameter_bytes, m.output_bytes,
  m.temp_bytes, m.count, m.largest_name
FROM memory_anatomy m
WHERE m.memory_space = 0 AND m.bytes >= 1048576
ORDER BY m.module_name, m.module_id, m.position
