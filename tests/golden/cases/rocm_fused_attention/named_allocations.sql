SELECT x.purpose, x.allocation_index, p.class, p.bytes AS planned_bytes, COUNT(*) AS times, SUM(x.bytes) AS given_bytes
FROM allocations x
JOIN plan_allocations p ON p.module_id = x.module_id AND p.allocation_index = x.allocation_index
GROUP BY x.purpose, x.allocation_index, p.class, p.bytes
ORDER BY x.allocation_index
