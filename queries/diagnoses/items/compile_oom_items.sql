-- id: compile_oom_items
-- title: The largest buffers of a program that the compiler refused
-- columns:
--   capture_id: the log
--   device_id: NULL
--   module_id: the matched module
--   position: from 1, most bytes first
--   kind: listed in the text, or at the plan's peak
--   label: shape, padding, operation and Python line
--   bytes: bytes of the group (bytes)
--   count: buffers in it
CREATE VIEW compile_oom_items AS
SELECT
  f.capture_id,
  f.device_id,
  f.module_id,
  p.position,
  CASE p.source WHEN 'text' THEN 'listed in the text' ELSE 'at the plan''s peak' END AS kind,
  COALESCE(p.shape, p.label, 'one block')
    || CASE WHEN p.padding_bytes > 0 THEN
      ' (' || CAST(p.padding_bytes AS VARCHAR(20)) || ' bytes padding)' ELSE '' END
    || COALESCE(' ' || p.op_name, '')
    || COALESCE(' ' || p.source_file || COALESCE(':' || CAST(p.source_line AS VARCHAR(20)), ''), '')
    AS label,
  p.bytes,
  p.count
FROM oom_failures f
JOIN oom_parts p ON p.oom_event_id = f.oom_event_id
WHERE f.stage = 'compile'
  AND p.position <= (SELECT s.setting FROM settings s WHERE s.name = 'items_max');
