-- id: profile_lines
-- title: What each Python line holds on the devices, by the device memory profiles
-- columns:
--   capture_id: the profile
--   run: its run
--   host: its host
--   device: the device, as the profile names it; NULL for executables
--   kind: buffer, or executable for the code of compiled programs
--   source_file: the file of the innermost frame outside installed packages; NULL when none is
--   source_line: its line
--   function_name: its function
--   bytes: what it holds (bytes); NULL when not known
--   count: buffers or executables
-- how to read: The line that made the arrays that live now. What a running program needs for its
--   temporaries is in no profile.
CREATE VIEW profile_lines AS
SELECT
  c.capture_id,
  c.run,
  c.host,
  p.device,
  p.kind,
  p.source_file,
  p.source_line,
  p.function_name,
  CAST(SUM(p.bytes) AS BIGINT) AS bytes,
  CAST(SUM(p.count) AS BIGINT) AS count
FROM profile_samples p
JOIN captures c ON c.capture_id = p.capture_id
GROUP BY
  c.capture_id, c.run, c.host, p.device, p.kind, p.source_file, p.source_line, p.function_name;
