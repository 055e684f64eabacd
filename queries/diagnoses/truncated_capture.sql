-- id: truncated_capture
-- title: The capture ends in the middle
-- asks: Was the file cut, so that what is missing may only be missing from it?
-- needs: nothing
-- tags: data
-- severity: warning
-- cause: The process was killed while it wrote the profile, or the copy was cut.
-- columns:
--   capture_id: the capture
--   run: its run
--   host: its host
--   device: ordinal of the device: always NULL
--   device_id: the device
--   module_id: always NULL
--   module_name: its name
--   execution_id: always NULL
--   severity: warning
--   evidence: read
--   title: one sentence
--   detail: what that means for the other findings
--   bytes: size of what is there (bytes)
-- how to read: Only planes that were whole are used. No finding on this capture says that something
--   did not happen.
-- next: oomdb query --db oom.db "SELECT severity, what, detail, count FROM ingest_issues"
CREATE VIEW truncated_capture AS
SELECT
  c.capture_id,
  c.run,
  c.host,
  CAST(NULL AS BIGINT) AS device,
  CAST(NULL AS BIGINT) AS device_id,
  CAST(NULL AS BIGINT) AS module_id,
  CAST(NULL AS VARCHAR(20)) AS module_name,
  CAST(NULL AS BIGINT) AS execution_id,
  'warning' AS severity,
  'read' AS evidence,
  'The capture ends in the middle after ' || CAST(c.bytes AS VARCHAR(20)) || ' bytes' AS title,
  'The file stops inside a message (read): the recording process was killed while writing, or the'
    || ' copy was cut. Only what was whole is stored, and nothing here says that something did not'
    || ' happen. Record again, and stop'
    || ' the trace before the program fails.' AS detail,
  c.bytes AS bytes
FROM captures c
WHERE c.status = 'truncated';
