SELECT w.kind, w.bytes, w.weight_bytes, w.count, w.label
FROM waste w
ORDER BY w.module_id, w.position
