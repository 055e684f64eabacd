SELECT e.line, e.kind, e.fatal, e.error_code, e.memory_space, e.capacity_bytes, e.used_bytes, j.module_name, j.matched_by
FROM oom_events e
LEFT JOIN oom_event_modules j ON j.oom_event_id = e.oom_event_id
ORDER BY e.line
