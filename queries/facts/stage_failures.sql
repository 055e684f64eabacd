-- id: stage_failures
-- title: The failure that counts of every run and stage: of its captures and hosts the one shortest
--   of memory
-- empty without: oom_events
-- columns:
--   run: the run
--   stage: compile, run, host or chip, as in oom_failures
--   oom_event_id: the failure; the columns below are its, as in oom_failures
--   host: its host
--   module_name: the module that did not fit
--   needed_bytes: what was needed (bytes)
--   capacity_bytes: what there is (bytes)
--   short_bytes: what is missing (bytes)
--   requested_bytes: what was asked for (bytes)
--   used_bytes: in use (bytes)
--   total_bytes: all of the program's memory (bytes)
--   program_bytes: the program without its arguments (bytes)
--   arguments_bytes: its arguments (bytes)
--   temp_bytes: its temporaries (bytes)
--   output_bytes: its outputs (bytes)
--   alias_bytes: outputs in the memory of arguments (bytes)
--   free_bytes: free when it failed (bytes)
--   largest_free_bytes: the largest free block (bytes)
--   tensor_core_bytes: what the tensor core needs (bytes)
--   sparse_core_bytes: what the sparse core needs (bytes)
--   failure_count: failures of the run in this stage
--   ends_run: 1 when the last failure of the run, which ended the program, is of this stage, else 0
CREATE VIEW stage_failures AS
-- One kind of window a select: SQLite looks no further down for the run that is asked for.
WITH ranked AS (
  SELECT
    f.*,
    ROW_NUMBER() OVER (
      PARTITION BY f.run, f.stage
      ORDER BY f.short_bytes DESC NULLS LAST, f.needed_bytes DESC NULLS LAST,
        f.line DESC NULLS LAST, f.oom_event_id DESC
    ) AS place
  FROM oom_failures f
  WHERE f.run IS NOT NULL
),
ended AS (
  SELECT
    r.*,
    ROW_NUMBER() OVER (
      PARTITION BY r.run
      ORDER BY COALESCE(r.fatal, 0) DESC, r.line DESC NULLS LAST, r.oom_event_id DESC
    ) AS last_place
  FROM ranked r
),
counted AS (
  SELECT e.*, COUNT(*) OVER w AS failure_count, MIN(e.last_place) OVER w AS stage_last_place
  FROM ended e
  WINDOW w AS (PARTITION BY e.run, e.stage)
)
SELECT
  c.run, c.stage, c.oom_event_id, c.host, c.module_name, c.needed_bytes, c.capacity_bytes,
  c.short_bytes, c.requested_bytes, c.used_bytes, c.total_bytes, c.program_bytes,
  c.arguments_bytes, c.temp_bytes, c.output_bytes, c.alias_bytes, c.free_bytes,
  c.largest_free_bytes, c.tensor_core_bytes, c.sparse_core_bytes, c.failure_count,
  CASE WHEN c.stage_last_place = 1 THEN 1 ELSE 0 END AS ends_run
FROM counted c
WHERE c.place = 1;
