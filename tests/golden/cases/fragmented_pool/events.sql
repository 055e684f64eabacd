SELECT line, kind, fatal, memory_space, allocator, requested_bytes, capacity_bytes, used_bytes, free_bytes, largest_free_bytes, repeat_count, message
FROM oom_events
ORDER BY line
