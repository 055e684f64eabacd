-- id: oom_failures
-- title: The failures that error logs tell of, one per capture and stage: the last one counts
-- empty without: oom_events
-- columns:
--   oom_event_id: the event
--   capture_id: the error log
--   run: its run
--   host: its host
--   stage: compile, run (an allocation while the program ran), host (the machine's own memory) or
--     chip (vmem, smem, a GPU's shared memory: never device memory)
--   line: its line in the error log
--   kind: which message it is (oom_kinds)
--   fatal: 1; NULL when the error log does not say that it failed
--   error_code: such as E1000
--   memory_space: as the error log says
--   device: ordinal of the device
--   device_id: NULL: an error log has no row of devices
--   allocator: the allocator's name
--   module_id: the module it is about, where one of the same run matches
--   module_name: its name, by the error log or by the match
--   matched_by: name and size, name, size, shapes or failure; NULL without a match
--   needed_bytes: what did not fit: of a compile the whole program, else the request (bytes)
--   capacity_bytes: what there is of it (bytes)
--   short_bytes: what is missing, as printed, else the difference (bytes)
--   requested_bytes: the request (bytes)
--   used_bytes: in use (bytes)
--   total_bytes: the program as a whole (bytes)
--   program_bytes: the program without its arguments (bytes)
--   arguments_bytes: arguments (bytes)
--   temp_bytes: temps (bytes)
--   output_bytes: outputs (bytes)
--   alias_bytes: outputs that share an argument's memory (bytes)
--   free_bytes: free (bytes)
--   largest_free_bytes: the largest free block (bytes)
--   tensor_core_bytes: what the TensorCores need (bytes)
--   sparse_core_bytes: what the SparseCores need (bytes)
--   repeat_count: how often the error log prints it
--   message: the line
CREATE VIEW oom_failures AS
WITH staged AS (
  SELECT
    o.oom_event_id,
    CASE
      WHEN COALESCE(o.memory_space, 'hbm') NOT IN ('hbm', 'gpu', 'host') THEN 'chip'
      WHEN o.memory_space = 'host' THEN 'host'
      WHEN LOWER(o.error_code) LIKE 'e1%'
        OR o.form IN (SELECT k.form FROM oom_kinds k WHERE k.stage = 'compile') THEN 'compile'
      ELSE 'run'
    END AS stage
  FROM oom_events o
  WHERE (o.fatal = 1 OR o.fatal IS NULL)
    -- IN, not a join: what the kinds are is looked up once, and the events keep their index.
    AND COALESCE(o.form, '') NOT IN (
      SELECT k.form FROM oom_kinds k WHERE k.says = 'remark' OR k.says = 'statistics'
    )
    -- Who was killed after a failure that says what it is was cleared away.
    AND NOT (COALESCE(o.form, '') = 'C4' AND EXISTS (
      SELECT 1 FROM oom_events x WHERE x.capture_id = o.capture_id AND x.fatal = 1
    ))
),
ordered AS (
  SELECT
    s.oom_event_id,
    s.stage,
    ROW_NUMBER() OVER (
      PARTITION BY o.capture_id, s.stage
      ORDER BY o.fatal DESC NULLS LAST, o.line DESC NULLS LAST, o.oom_event_id DESC
    ) AS place
  FROM staged s
  JOIN oom_events o ON o.oom_event_id = s.oom_event_id
),
-- Where the error log does not say what there is: another of its run, that is not an error log.
run_capacities AS (
  SELECT c.run, MIN(e.capacity_bytes) AS capacity_bytes
  FROM effective_capacity e
  JOIN captures c ON c.capture_id = e.capture_id
  WHERE e.capacity_source <> 'error log'
  GROUP BY c.run
),
sized AS (
  SELECT
    r.oom_event_id,
    r.stage,
    CASE
      WHEN r.stage = 'run' OR r.stage = 'host' THEN o.requested_bytes
      ELSE COALESCE(
        CASE WHEN o.sparse_core_bytes IS NOT NULL THEN o.requested_bytes END, o.used_bytes,
          o.requested_bytes, o.total_bytes)
    END AS needed_bytes,
    COALESCE(o.capacity_bytes, CASE WHEN r.stage <> 'chip' AND r.stage <> 'host' THEN
      e.capacity_bytes END) AS capacity_bytes
  FROM ordered r
  JOIN oom_events o ON o.oom_event_id = r.oom_event_id
  JOIN captures c ON c.capture_id = o.capture_id
  LEFT JOIN run_capacities e ON e.run = c.run
  WHERE r.place = 1
)
SELECT
  z.oom_event_id,
  o.capture_id,
  c.run,
  c.host,
  z.stage,
  o.line,
  o.kind,
  o.fatal,
  o.error_code,
  o.memory_space,
  o.device,
  CAST(NULL AS BIGINT) AS device_id,
  o.allocator,
  m.module_id,
  COALESCE(o.module_name, m.module_name) AS module_name,
  m.matched_by,
  z.needed_bytes,
  z.capacity_bytes,
  COALESCE(
    o.exceeded_bytes,
    CASE WHEN z.needed_bytes > z.capacity_bytes THEN z.needed_bytes - z.capacity_bytes END
  ) AS short_bytes,
  o.requested_bytes,
  o.used_bytes,
  o.total_bytes,
  o.program_bytes,
  o.arguments_bytes,
  o.temp_bytes,
  o.output_bytes,
  o.alias_bytes,
  o.free_bytes,
  o.largest_free_bytes,
  o.tensor_core_bytes,
  o.sparse_core_bytes,
  o.repeat_count,
  o.message
FROM sized z
JOIN oom_events o ON o.oom_event_id = z.oom_event_id
JOIN captures c ON c.capture_id = o.capture_id
LEFT JOIN oom_event_modules m ON m.oom_event_id = z.oom_event_id;
