-- id: padding_waste
-- title: Memory goes into the padding of tiles
-- asks: How much of a TPU program's memory is padding?
-- needs: a plan with padded and unpadded sizes, or an error text that lists buffers
-- tags: plan, tpu, layout
-- severity: warning when a quarter of the program or more is padding, else info
-- cause: TPU layouts are tiled: the minor-most dimension is padded to a multiple of 128, the one
--   before it to one of 8 (or less, for the small tiles). A minor dimension of 1 to 16 wastes most.
-- columns:
--   capture_id: the log, the dump or the capture
--   run: its run
--   host: its host
--   device: NULL
--   device_id: NULL
--   module_id: the module; NULL for a text without a matching one
--   module_name: its name
--   execution_id: NULL
--   severity: warning or info
--   evidence: read
--   title: one sentence
--   detail: the largest of them
--   bytes: the padding (bytes)
-- how to read: Of a plan all buffers at the peak are counted, of an error text only those that it
--   lists. Where the text does not print the unpadded size, it is computed from shape and layout.
-- next: oomdb query --db oom.db "SELECT label, bytes, count FROM finding_items WHERE finding_id
--   LIKE 'padding_waste%'"
CREATE VIEW padding_waste AS
WITH worded AS (
  SELECT
    p.capture_id,
    p.module_id,
    p.module_name,
    p.source,
    p.program_bytes,
    p.bytes,
    p.padding_bytes,
    CAST(p.count AS VARCHAR(20)) || ' × ' || p.shape || COALESCE(' in ' || p.layout, '') || ': '
      || CAST(p.padding_bytes AS VARCHAR(20)) || ' bytes of ' || CAST(p.bytes AS VARCHAR(20))
      || ' bytes' || COALESCE(', ' || p.op_name, '')
      || COALESCE(', ' || p.source_file
        || COALESCE(':' || CAST(p.source_line AS VARCHAR(20)), ''), '') AS words,
    p.position
  FROM padding_parts p
),
summed AS (
  SELECT
    o.capture_id,
    o.module_id,
    MAX(o.module_name) AS module_name,
    MAX(o.source) AS source,
    MAX(o.program_bytes) AS program_bytes,
    CAST(SUM(o.bytes) AS BIGINT) AS bytes,
    CAST(SUM(o.padding_bytes) AS BIGINT) AS padding_bytes,
    MAX(CASE WHEN o.position = 1 THEN o.words END) AS words
  FROM worded o
  GROUP BY o.capture_id, o.module_id
)
SELECT
  s.capture_id,
  c.run,
  c.host,
  CAST(NULL AS BIGINT) AS device,
  CAST(NULL AS BIGINT) AS device_id,
  s.module_id,
  s.module_name,
  CAST(NULL AS BIGINT) AS execution_id,
  CASE
    WHEN 100 * s.padding_bytes
      >= (SELECT t.setting FROM settings t WHERE t.name = 'padding_warning_percent')
        * COALESCE(s.program_bytes, s.bytes) THEN 'warning'
    ELSE 'info'
  END AS severity,
  'read' AS evidence,
  COALESCE(s.module_name, 'The program') || ' holds ' || CAST(s.padding_bytes AS VARCHAR(20))
    || ' bytes of padding' || CASE s.source WHEN 'text' THEN ' in the buffers that the text lists'
      ELSE ' at its peak' END AS title,
  'The most: ' || s.words || '.' AS detail,
  s.padding_bytes AS bytes
FROM summed s
JOIN captures c ON c.capture_id = s.capture_id
WHERE s.padding_bytes >= (SELECT t.setting FROM settings t WHERE t.name = 'padding_min_bytes')
  AND 100 * s.padding_bytes
    >= (SELECT t.setting FROM settings t WHERE t.name = 'padding_min_percent')
      * COALESCE(s.program_bytes, s.bytes);
