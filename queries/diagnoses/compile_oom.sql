-- id: compile_oom
-- title: The program does not fit, said the compiler
-- asks: Did a compile stop because the program needs more device memory than there is?
-- needs: the compiler's error text; a dump of the same compile in the same run adds op names and
--   Python lines
-- tags: oom, compile, tpu
-- severity: error; warning where the text has the report but not the error
-- cause: The compiler adds up all that the program allocates (arguments, outputs, temps, code,
--   reserve) before anything runs, and stops when the sum is above the device's memory.
-- empty without: oom_events
-- columns:
--   capture_id: the log
--   run: its run
--   host: its host
--   device: ordinal of the device; NULL when the text names none
--   device_id: NULL
--   module_id: the module of a dump or capture of the same run, where one matches
--   module_name: its name, by the text or by the match
--   execution_id: NULL: nothing ran
--   severity: error or warning
--   evidence: read
--   title: one sentence
--   detail: which branch, on what evidence, and the largest buffers
--   bytes: what the program needs (bytes); NULL when the text does not say it
-- how to read: The branches are those of XLA's triage of error E1000: SparseCores or TensorCores,
--   a size that can't be meant, arguments that don't fit, one allocation above half of the memory,
--   or many that add up. Numbers are as exact as the text prints them.
-- next: oomdb query --db oom.db "SELECT label, bytes, count FROM finding_items WHERE finding_id
--   LIKE 'compile_oom%'"
CREATE VIEW compile_oom AS
SELECT
  f.capture_id,
  f.run,
  f.host,
  f.device,
  f.device_id,
  f.module_id,
  f.module_name,
  CAST(NULL AS BIGINT) AS execution_id,
  CASE WHEN f.fatal = 1 THEN 'error' ELSE 'warning' END AS severity,
  'read' AS evidence,
  COALESCE(f.module_name, 'The program')
    || CASE
      WHEN f.fatal = 1 THEN ' failed to compile: it needs '
        || CASE WHEN f.kind = 'T7' THEN 'at least ' ELSE '' END
      ELSE ' needs, by the compiler''s report, '
    END
    || COALESCE(CAST(f.needed_bytes AS VARCHAR(20)) || ' bytes', 'more than there is')
    || COALESCE(', the device has ' || CAST(f.capacity_bytes AS VARCHAR(20)) || ' bytes', '')
    AS title,
  COALESCE('Short by ' || CAST(f.short_bytes AS VARCHAR(20)) || ' bytes (read). ', '')
    || b.because
    || CASE WHEN b.branch = 'unlisted' THEN
      ' The text lists no buffers: a dump of this compile (--xla_dump_to,'
        || ' --xla_dump_hlo_as_proto) in the same run would.'
      ELSE '' END
    || COALESCE(' The plan is that of a dump in this run, matched by ' || f.matched_by || '.', '')
    || CASE WHEN f.fatal IS NULL THEN
      ' The text does not say whether it failed.' ELSE '' END
    || COALESCE(' Largest: ' || b.largest_words || '.', '') AS detail,
  f.needed_bytes AS bytes
FROM oom_failures f
JOIN oom_branches b ON b.oom_event_id = f.oom_event_id
WHERE f.stage = 'compile';
