-- id: step_does_not_fit
-- title: The step itself does not fit
-- asks: Is the plan of a module larger than what its device may use, and did it never launch?
-- needs: a plan with a buffer assignment, and a capacity (allocator events, an error text,
--   --capacity)
-- tags: oom, plan, capacity
-- severity: error when an execution of it failed, warning when it never ran
-- cause: The compiled step needs more memory at once than the pool holds. Nothing else has to be on
--   the device for it to fail, so freeing other arrays does not help: the step must become smaller.
-- columns:
--   capture_id: the capture
--   run: its run
--   host: its host
--   device: ordinal of the device; NULL without devices
--   device_id: the device
--   module_id: the module
--   module_name: its name
--   execution_id: the first execution that launched nothing
--   severity: error or warning
--   evidence: measured when an execution failed, else read
--   title: one sentence
--   detail: what it is made of
--   bytes: what the module needs: its plan (bytes)
-- how to read: The plan is what XLA decided at compile time: parameters, outputs that are no
--   donated parameter, constants and one block of temps. The heap peak is the moment inside the
--   step with the most temps live; its largest groups are where a fix pays.
-- next: oomdb query --db oom.db "SELECT label, bytes, count FROM finding_items WHERE finding_id
--   LIKE 'step_does_not_fit%'"
CREATE VIEW step_does_not_fit AS
WITH by_shape AS (
  SELECT
    g.device_id,
    g.module_id,
    g.kind,
    g.shape,
    COUNT(*) AS buffers,
    CAST(SUM(g.bytes) AS BIGINT) AS bytes
  FROM misfit_parts g
  GROUP BY g.device_id, g.module_id, g.kind, g.shape
),
ordered AS (
  SELECT
    s.device_id,
    s.module_id,
    CAST(s.buffers AS VARCHAR(20)) || ' × ' || COALESCE(s.shape, 'one block') || ' (' || s.kind
      || ', '
      || CAST(s.bytes AS VARCHAR(20)) || ' bytes)' AS words,
    ROW_NUMBER() OVER (
      PARTITION BY s.module_id, s.device_id
      ORDER BY s.bytes DESC NULLS LAST, s.kind NULLS FIRST, s.shape NULLS FIRST
    ) AS place
  FROM by_shape s
),
largest AS (
  SELECT
    o.device_id,
    o.module_id,
    MAX(CASE WHEN o.place = 1 THEN o.words END) AS first_words,
    MAX(CASE WHEN o.place = 2 THEN o.words END) AS second_words,
    MAX(CASE WHEN o.place = 3 THEN o.words END) AS third_words
  FROM ordered o
  WHERE o.place <= 3
  GROUP BY o.device_id, o.module_id
)
SELECT
  f.capture_id,
  f.run,
  f.host,
  f.device,
  f.device_id,
  f.module_id,
  f.module_name,
  f.execution_id,
  CASE WHEN f.failed_count > 0 THEN 'error' ELSE 'warning' END AS severity,
  CASE WHEN f.failed_count > 0 THEN 'measured' ELSE 'read' END AS evidence,
  f.label || ' does not fit: it needs ' || CAST(f.plan_bytes AS VARCHAR(20)) || ' bytes, '
    || CASE f.capacity_source
      WHEN 'pool' THEN 'the pool holds '
      WHEN 'error text' THEN 'the error text says '
      WHEN 'setting' THEN 'the capacity was set to '
      ELSE 'the device has '
    END || CAST(f.capacity_bytes AS VARCHAR(20)) || ' bytes' AS title,
  'Short by ' || CAST(f.short_bytes AS VARCHAR(20)) || ' bytes (plan read, capacity '
    || f.capacity_evidence || '). '
    || CASE
      WHEN f.failed_count > 0 THEN
        CAST(f.failed_count AS VARCHAR(20)) || ' of '
        || CAST(f.execution_count AS VARCHAR(20)) || ' executions launched nothing (measured). '
      WHEN f.status = 'complete' AND f.execution_count = 0 THEN 'It never ran in this capture. '
      ELSE ''
    END
    || 'The plan (read): parameters ' || CAST(f.parameter_bytes AS VARCHAR(20))
      || ' bytes, outputs '
    || CAST(f.output_bytes AS VARCHAR(20)) || ' bytes, constants '
    || CAST(f.constant_bytes AS VARCHAR(20)) || ' bytes, temps '
    || CAST(f.temp_bytes AS VARCHAR(20)) || ' bytes.'
    || COALESCE(
      ' At the heap peak of ' || CAST(f.peak_bytes AS VARCHAR(20))
        || ' bytes (inferred roles): forward '
      || CAST(f.forward_percent AS VARCHAR(20)) || ' %, backward '
      || CAST(f.backward_percent AS VARCHAR(20)) || ' %, workspace '
      || CAST(f.workspace_percent AS VARCHAR(20)) || ' %.', '')
    || COALESCE(' Largest: ' || l.first_words, '')
    || COALESCE(', ' || l.second_words, '')
    || COALESCE(', ' || l.third_words, '')
    || CASE WHEN l.first_words IS NULL THEN '' ELSE '.' END AS detail,
  f.plan_bytes AS bytes
FROM misfit_peaks f
LEFT JOIN largest l
  ON l.module_id = f.module_id AND l.device_id IS NOT DISTINCT FROM f.device_id;
