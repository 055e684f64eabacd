-- id: live_at_end
-- title: What was live in each allocator when the capture ended, by origin
-- columns:
--   capture_id: the capture
--   allocator_id: the allocator
--   origin: where the live bytes came from; NULL: unknown
--   bytes: live bytes of that origin (bytes)
--   count: allocations they are made of
CREATE VIEW live_at_end AS
SELECT
  p.capture_id,
  a.allocator_id,
  o.content AS origin,
  CAST(SUM(a.bytes) AS BIGINT) AS bytes,
  COUNT(*) AS count
FROM allocators p
JOIN stored_allocations a ON a.allocator_id = p.allocator_id
LEFT JOIN strings o ON o.string_id = a.origin_id
WHERE a.free_ns IS NULL
GROUP BY p.capture_id, a.allocator_id, o.content;
