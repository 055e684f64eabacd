-- id: profile_growth
-- title: From each device memory profile of a run to the next: which Python lines hold more or less
-- columns:
--   run: the run
--   host: the host
--   base_capture_id: a profile
--   new_capture_id: the one that follows it in the run, by when it was taken, else by its path
--   device: the device, as the profiles name it; NULL for executables
--   kind: buffer or executable
--   source_file: the file of the innermost frame outside installed packages; NULL when none is
--   source_line: its line
--   function_name: its function
--   base_bytes: what it held in the first (bytes); 0 when it is not in it
--   new_bytes: what it held in the second (bytes); 0 when it is not in it
--   grown_bytes: the difference (bytes); negative when it holds less
--   base_count: buffers or executables in the first
--   new_count: buffers or executables in the second
-- how to read: Lines that grow from every profile to the next keep arrays that nothing frees. Lines
--   whose bytes are not known, and profiles that are cut, are left out.
CREATE VIEW profile_growth AS
WITH snapshots AS (
  SELECT
    c.capture_id, c.run, c.host,
    ROW_NUMBER() OVER (
      PARTITION BY c.run, c.host
      ORDER BY c.started_unix_ns NULLS LAST, c.path NULLS FIRST, c.capture_id
    ) AS place
  FROM captures c
  WHERE c.kind = 'device_memory_profile' AND c.status = 'complete' AND c.run IS NOT NULL
),
pairs AS (
  SELECT
    b.run, b.host, b.capture_id AS base_capture_id, n.capture_id AS new_capture_id
  FROM snapshots b
  JOIN snapshots n
    ON n.run = b.run
    AND (n.host = b.host OR (n.host IS NULL AND b.host IS NULL))
    AND n.place = b.place + 1
),
-- The samples of the two, not profile_lines: an engine sums those up for all profiles.
samples AS (
  SELECT
    p.run, p.host, p.base_capture_id, p.new_capture_id, 0 AS is_new, x.device, x.kind,
    x.source_file, x.source_line, x.function_name, x.bytes, x.count
  FROM pairs p
  JOIN profile_samples x ON x.capture_id = p.base_capture_id
  UNION ALL
  SELECT
    p.run, p.host, p.base_capture_id, p.new_capture_id, 1 AS is_new, x.device, x.kind,
    x.source_file, x.source_line, x.function_name, x.bytes, x.count
  FROM pairs p
  JOIN profile_samples x ON x.capture_id = p.new_capture_id
),
sides AS (
  SELECT
    a.run, a.host, a.base_capture_id, a.new_capture_id, a.is_new, a.device, a.kind, a.source_file,
    a.source_line, a.function_name, SUM(a.bytes) AS bytes, COALESCE(SUM(a.count), 0) AS count
  FROM samples a
  GROUP BY
    a.run, a.host, a.base_capture_id, a.new_capture_id, a.is_new, a.device, a.kind, a.source_file,
    a.source_line, a.function_name
)
SELECT
  s.run,
  s.host,
  s.base_capture_id,
  s.new_capture_id,
  s.device,
  s.kind,
  s.source_file,
  s.source_line,
  s.function_name,
  CAST(SUM(CASE WHEN s.is_new = 0 THEN s.bytes ELSE 0 END) AS BIGINT) AS base_bytes,
  CAST(SUM(CASE WHEN s.is_new = 1 THEN s.bytes ELSE 0 END) AS BIGINT) AS new_bytes,
  CAST(SUM(CASE WHEN s.is_new = 1 THEN s.bytes ELSE -s.bytes END) AS BIGINT) AS grown_bytes,
  CAST(SUM(CASE WHEN s.is_new = 0 THEN s.count ELSE 0 END) AS BIGINT) AS base_count,
  CAST(SUM(CASE WHEN s.is_new = 1 THEN s.count ELSE 0 END) AS BIGINT) AS new_count
FROM sides s
WHERE s.bytes IS NOT NULL
GROUP BY
  s.run, s.host, s.base_capture_id, s.new_capture_id, s.device, s.kind, s.source_file,
  s.source_line, s.function_name;
