-- id: truncated_capture
-- title: The capture ends in the middle
-- rank: 180
-- verdict: can't tell
-- asks: Was the file cut, so that what is missing may only be missing from it?
-- needs: nothing
-- tags: data
-- severity: warning
-- cause: The process was killed while it wrote the profile, or the copy was cut.
-- how to read: Only planes that were whole are used. No finding on this capture says that something
--   did not happen.
-- next: oomdb query --db oom.db "SELECT severity, what, detail, count FROM ingest_issues"
-- says: The capture ends in the middle after {bytes:bytes}
-- detail: The file stops inside a message (read): the recording process was killed while writing,
--   or the copy was cut. Only what was whole is stored, and nothing here says that something did
--   not happen. Record again, and stop the trace before the program fails.
-- columns:
--   bytes: size of what is there (bytes)
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
  c.bytes
FROM captures c
WHERE c.status = 'truncated';
