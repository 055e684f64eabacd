-- id: runtime_oom_items
-- title: Who holds the memory where a request failed, and what the failing program is made of
-- columns:
--   capture_id: the log
--   device_id: NULL
--   module_id: the matched module
--   position: from 1
--   kind: chunks in use, listed in the text, or at the plan's peak
--   label: who holds them, or shape, operation and Python line
--   bytes: bytes of the group (bytes)
--   count: how many
CREATE VIEW runtime_oom_items AS
-- From the events to their chunks: SQLite keeps to the order of a CROSS JOIN.
WITH chunks AS (
  SELECT
    c.oom_event_id,
    c.op_name,
    c.bytes AS each_bytes,
    COUNT(*) AS count,
    CAST(SUM(c.bytes) AS BIGINT) AS bytes
  FROM oom_events o
  CROSS JOIN oom_chunks c
  WHERE c.oom_event_id = o.oom_event_id AND c.in_use = 1
  GROUP BY c.oom_event_id, c.op_name, c.bytes
),
listed AS (
  SELECT
    c.oom_event_id,
    1 AS part,
    ROW_NUMBER() OVER (
      PARTITION BY c.oom_event_id
      ORDER BY c.bytes DESC NULLS LAST, c.each_bytes DESC NULLS LAST, c.op_name NULLS LAST
    ) AS place,
    'chunks in use' AS kind,
    COALESCE(c.op_name || ', ', '') || CAST(c.each_bytes AS VARCHAR(20)) || ' bytes each' AS label,
    c.bytes,
    c.count
  FROM chunks c
  UNION ALL
  SELECT
    p.oom_event_id,
    2,
    p.position,
    CASE p.source WHEN 'text' THEN 'listed in the text' ELSE 'at the plan''s peak' END,
    COALESCE(p.shape, p.label, 'one block')
      || COALESCE(' ' || p.op_name, '')
      || COALESCE(' ' || p.source_file
        || COALESCE(':' || CAST(p.source_line AS VARCHAR(20)), ''), ''),
    p.bytes,
    p.count
  FROM oom_parts p
)
SELECT
  f.capture_id,
  f.device_id,
  f.module_id,
  ROW_NUMBER() OVER (PARTITION BY f.oom_event_id ORDER BY l.part, l.place) AS position,
  l.kind,
  l.label,
  l.bytes,
  l.count
FROM oom_failures f
JOIN listed l ON l.oom_event_id = f.oom_event_id
WHERE f.stage = 'run'
  AND l.place <= (SELECT s.setting FROM settings s WHERE s.name = 'items_max');
