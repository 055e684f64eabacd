SELECT base_run, new_run, stage, kind, name, change, base_bytes, new_bytes, delta_bytes, base_count, new_count, base_shape, new_shape, source_file, source_line
FROM failure_comparison WHERE base_run = 'before' AND new_run IN ('after', 'running')
ORDER BY new_run, stage, kind, name, base_shape, new_shape
