SELECT x.origin, COUNT(*) AS arrays, SUM(x.bytes) AS bytes
FROM allocations x
WHERE x.free_ns IS NULL
GROUP BY x.origin
ORDER BY bytes DESC, x.origin
