-- id: on_chip_oom
-- title: A kernel needs more on-chip memory than there is
-- asks: Does an error text speak of vmem, smem or shared memory, which is no device memory?
-- needs: the compiler's error text
-- tags: oom, compile, kernel
-- severity: error; warning where the text does not say that it failed
-- cause: One kernel, or one operation of the compiler, asks for more of the small memory beside the
--   cores than there is. How much device memory (HBM) is free plays no part.
-- empty without: oom_events
-- columns:
--   capture_id: the log
--   run: its run
--   host: its host
--   device: ordinal of the device; NULL when the text names none
--   device_id: NULL
--   module_id: the module of the same run, where one has its name
--   module_name: its name
--   execution_id: NULL: nothing ran
--   severity: error or warning
--   evidence: read
--   title: one sentence
--   detail: the numbers, and what they are not
--   bytes: what it needs (bytes); NULL when the text does not say it in bytes
-- how to read: The status is RESOURCE_EXHAUSTED as of device memory, but batch size, sharding and
--   donation change nothing here: block sizes, stages and the formulation do.
-- next: oomdb query --db oom.db "SELECT line, memory_space, message FROM oom_events"
CREATE VIEW on_chip_oom AS
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
  CASE f.memory_space
    WHEN 'gpu_shared' THEN 'A kernel needs more shared memory than the GPU has'
    WHEN 'vmem' THEN 'A kernel needs more vector memory (vmem) than the core has'
    WHEN 'smem' THEN 'A kernel needs more scalar memory (smem) than the core has'
    ELSE 'A kernel needs more on-chip memory (' || f.memory_space || ') than there is'
  END
    -- Rounded, both can be the same.
    || CASE
      WHEN f.needed_bytes > f.capacity_bytes THEN
        ': ' || CAST(f.needed_bytes AS VARCHAR(20)) || ' bytes of '
          || CAST(f.capacity_bytes AS VARCHAR(20)) || ' bytes'
      WHEN f.short_bytes > 0 THEN ': short by ' || CAST(f.short_bytes AS VARCHAR(20)) || ' bytes'
      ELSE ''
    END AS title,
  'This is memory on the chip, not device memory (HBM): batch size, sharding and free memory change'
    || ' nothing.'
    || COALESCE(' Largest: ' || b.largest_words || '.', '') AS detail,
  f.needed_bytes AS bytes
FROM oom_failures f
JOIN oom_branches b ON b.oom_event_id = f.oom_event_id
WHERE f.stage = 'chip';
