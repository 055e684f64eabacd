SELECT region, in_use, bytes, COUNT(*) AS count FROM oom_chunks GROUP BY region, in_use, bytes ORDER BY region, in_use, bytes
