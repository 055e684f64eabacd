-- id: profile_comparison
-- title: Two runs of device memory profiles side by side: which Python lines hold more or less
-- empty without: profile_samples
-- columns:
--   base_run: the run to compare with
--   new_run: the run that is compared
--   kind: buffer or executable
--   source_file: the file of the innermost frame outside installed packages; NULL when none is
--   source_line: its line
--   function_name: its function
--   base_bytes: what the line held in the base run (bytes); 0 when it is not in it
--   new_bytes: the same in the new run (bytes)
--   grown_bytes: the difference (bytes); negative when it holds less
--   base_count: buffers or executables in the base run
--   new_count: the same in the new run
-- how to read: Ask for one pair: WHERE base_run = … AND new_run = …. The last profile of each run
--   and host counts. Lines whose bytes are not known are left out.
CREATE VIEW profile_comparison AS
WITH last AS (
  SELECT
    c.run, c.capture_id,
    ROW_NUMBER() OVER (
      PARTITION BY c.run, c.host
      ORDER BY c.started_unix_ns DESC NULLS LAST, c.path DESC NULLS LAST, c.capture_id DESC
    ) AS place
  FROM captures c
  WHERE c.kind = 'device_memory_profile' AND c.run IS NOT NULL
),
runs AS (
  SELECT DISTINCT c.run FROM captures c WHERE c.kind = 'device_memory_profile'
),
-- The samples of the two, not profile_lines: an engine sums those up for all profiles.
samples AS (
  SELECT
    l.run AS base_run, r.run AS new_run, 0 AS is_new, l.capture_id, x.device, x.kind,
    x.source_file, x.source_line, x.function_name, x.bytes, x.count
  FROM last l
  JOIN runs r ON r.run <> l.run
  JOIN profile_samples x ON x.capture_id = l.capture_id
  WHERE l.place = 1
  UNION ALL
  SELECT
    r.run, l.run, 1, l.capture_id, x.device, x.kind, x.source_file, x.source_line,
    x.function_name, x.bytes, x.count
  FROM last l
  JOIN runs r ON r.run <> l.run
  JOIN profile_samples x ON x.capture_id = l.capture_id
  WHERE l.place = 1
),
sides AS (
  SELECT
    a.base_run, a.new_run, a.is_new, a.kind, a.source_file, a.source_line, a.function_name,
    SUM(a.bytes) AS bytes, COALESCE(SUM(a.count), 0) AS count
  FROM samples a
  GROUP BY
    a.base_run, a.new_run, a.is_new, a.capture_id, a.device, a.kind, a.source_file, a.source_line,
    a.function_name
)
SELECT
  s.base_run,
  s.new_run,
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
GROUP BY s.base_run, s.new_run, s.kind, s.source_file, s.source_line, s.function_name;
