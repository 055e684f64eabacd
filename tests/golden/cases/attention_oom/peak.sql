SELECT b.role, b.shape, b.source_file, b.source_line, b.function_name, COUNT(*) AS buffers, SUM(b.bytes) AS bytes
FROM buffers b
WHERE b.class = 'temp' AND b.at_peak = 1
GROUP BY b.role, b.shape, b.source_file, b.source_line, b.function_name
HAVING SUM(b.bytes) >= 50000000
ORDER BY bytes DESC, b.role, b.shape, b.source_line
