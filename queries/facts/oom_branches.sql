-- id: oom_branches
-- title: Which kind of failure an error log tells of, and on what evidence
-- empty without: oom_events
-- words remarks: [ Before that, rematerialization could only get to {remat_bytes:bytes}; the
--   compiler wanted {remat_limit_bytes:bytes}.][ Arguments and results alone, {fixed_bytes:bytes},
--   are above the compiler's limit of {fixed_limit_bytes:bytes}: nothing is left for
--   temps.][ Arguments and results alone are {above_limit_bytes:bytes} above the compiler's limit:
--   nothing is left for temps.](rematerialized? XLA has rematerialized already: expect the fix
--   from the program.)
-- columns:
--   oom_event_id: the event
--   capture_id: the error log
--   run: its run
--   host: its host
--   device: ordinal of the device; NULL when the error log names none
--   device_id: NULL: an error log has no row of devices
--   module_id: the module of the same run that it is about, where one matches
--   module_name: its name, by the error log or by the match
--   execution_id: NULL: an error log knows nothing of executions
--   severity: error; warning where the error log does not say that it failed
--   evidence: read
--   stage: compile, run, host or chip
--   branch: for compile: sparse_core, absurd, arguments, padding, activation, one_allocation,
--     accumulated, unlisted; for run: engine_start, engine_cache, outside_pool, fragmentation,
--     absurd, ungrown, remat_contradicted, equal_chunks, eager, full_chip, program_load, victim,
--     second_copy, outputs, temps, shortage, unlisted; for host: fragmentation, absurd, pinned,
--     driver, array, killed, cpu, machine; for chip: the memory space
--   kind: which message it is (oom_kinds)
--   memory_space: as the error log says
--   allocator: the allocator's name
--   matched_by: name and size, name, size, shapes or failure; NULL without a match
--   message: the line
--   needed_bytes: what did not fit: of a compile the whole program, else the request (bytes)
--   capacity_bytes: what there is of it (bytes)
--   capacity_times: how many times that is needed, rounded down; NULL without a capacity
--   short_bytes: what is missing, as printed, else the difference (bytes)
--   requested_bytes: the request (bytes)
--   used_bytes: in use (bytes)
--   free_bytes: free (bytes)
--   largest_free_bytes: the largest free block (bytes)
--   total_bytes: the program as a whole (bytes)
--   arguments_bytes: arguments (bytes)
--   temp_bytes: temps (bytes)
--   output_bytes: outputs (bytes)
--   alias_bytes: outputs that share an argument's memory (bytes)
--   tensor_core_bytes: what the TensorCores need (bytes)
--   sparse_core_bytes: what the SparseCores need (bytes)
--   allocation_bytes: the largest single allocation that is known, else the request (bytes)
--   fixed_bytes: arguments and results, where the compiler remarked that they are above its limit
--     (bytes)
--   first_bytes: bytes of the largest group of alike buffers (bytes); NULL when none is known
--   first_padding_bytes: of these padding (bytes)
--   temp_padding_bytes: of the temps padding (bytes); NULL when it is not known
--   largest: the three largest groups of buffers; NULL when none is known
--   chunk_bytes: bytes of the largest group of equal chunks in use (bytes); NULL without a dump
--   chunk_count: how many they are
--   chunk_each_bytes: bytes of one of them (bytes)
--   library: the library or part of the driver that failed outside of any pool (oom_signs); NULL
--   async_pool: 1 for a pool of cudaMallocAsync, else 0
--   serving: 1 when a serving engine holds a key-value cache beside it, else 0
--   eager: 1 when the program is a single operation, run outside of any jit, else 0
--   full_chip: 1 when a single TPU chip is named and it is full, else 0
--   pool_bytes: what the pool holds, in use or free (bytes)
--   pool_free_bytes: of that free (bytes)
--   same_chunk_bytes: a chunk in use that is as large as the request (bytes); NULL: none
--   counted_bytes: what rematerialization counted for the program, where the request contradicts
--     it (bytes)
--   wide_bytes: what its listed buffers of 64-bit numbers take (bytes)
--   device_bytes: the device's memory (bytes)
--   device_free_bytes: free on the device, outside of the pool (bytes)
--   peak_bytes: most that was ever in use (bytes)
--   remarks: what the compiler remarked on the way, each sentence after a blank; empty without any
--   failed: 1 when the error log says that it failed, else 0
--   nameless: 1 when the module has no name, else 0
CREATE VIEW oom_branches AS
WITH limits AS (
  SELECT
    MAX(CASE WHEN s.name = 'absurd_times' THEN s.setting END) AS absurd_times,
    MAX(CASE WHEN s.name = 'absurd_bytes' THEN s.setting END) AS absurd_bytes,
    MAX(CASE WHEN s.name = 'large_allocation_percent' THEN s.setting END) AS large_percent,
    MAX(CASE WHEN s.name = 'tiny_request_bytes' THEN s.setting END) AS tiny_bytes,
    MAX(CASE WHEN s.name = 'tiny_program_bytes' THEN s.setting END) AS tiny_program_bytes,
    MAX(CASE WHEN s.name = 'outputs_lead_percent' THEN s.setting END) AS outputs_percent,
    MAX(CASE WHEN s.name = 'equal_chunks_percent' THEN s.setting END) AS chunks_percent
  FROM settings s
),
largest AS (
  SELECT
    k.oom_event_id,
    MAX(k.each_bytes) AS each_bytes,
    -- Values of a gradient: what the forward pass keeps, and what is made of it going back.
    MAX(CASE WHEN k.forward + k.backward + k.stacked > 0 THEN k.each_bytes END)
      AS gradient_each_bytes,
    MAX(k.rematerialized) AS rematerialized,
    MAX(CASE WHEN k.position = 1 THEN k.padding_bytes END) AS first_padding_bytes,
    MAX(CASE WHEN k.position = 1 THEN k.bytes END) AS first_bytes,
    MAX(CASE WHEN k.position = 1 THEN k.words END)
      || COALESCE(', ' || MAX(CASE WHEN k.position = 2 THEN k.words END), '')
      || COALESCE(', ' || MAX(CASE WHEN k.position = 3 THEN k.words END), '') AS largest
  FROM oom_part_kinds k
  GROUP BY k.oom_event_id
),
-- Chunks of one size are the same array, kept more than once. An event without chunks has one row
-- here: joined as it is, not by LEFT JOIN, an engine looks at the capture that is asked for alone.
sizes AS (
  SELECT
    o.capture_id, o.oom_event_id, c.bytes AS each_bytes, NULLIF(COUNT(c.bytes), 0) AS count,
    SUM(c.bytes) AS bytes
  FROM oom_events o
  LEFT JOIN oom_chunks c ON c.oom_event_id = o.oom_event_id AND c.in_use = 1
  GROUP BY o.capture_id, o.oom_event_id, c.bytes
),
ordered_sizes AS (
  SELECT
    z.capture_id,
    z.oom_event_id,
    z.each_bytes,
    z.count,
    CAST(z.bytes AS BIGINT) AS bytes,
    ROW_NUMBER() OVER (
      PARTITION BY z.capture_id, z.oom_event_id
      ORDER BY z.bytes DESC NULLS LAST, z.each_bytes DESC NULLS LAST
    ) AS place
  FROM sizes z
),
-- What the compiler remarked on the way: its rematerialization stopped short, or arguments and
-- results alone are above its limit. The last one counts.
ordered_remarks AS (
  SELECT
    o.capture_id, o.kind, o.used_bytes, o.arguments_bytes, o.capacity_bytes, o.exceeded_bytes,
    ROW_NUMBER() OVER (
      PARTITION BY o.capture_id, o.kind ORDER BY o.line DESC NULLS LAST, o.oom_event_id DESC
    ) AS place
  FROM oom_events o
  WHERE o.kind IN ('rematerialization_stopped', 'arguments_above_limit')
    AND (o.capacity_bytes > 0 OR o.exceeded_bytes > 0)
),
remarks AS (
  SELECT
    r.capture_id,
    MAX(CASE WHEN r.kind = 'rematerialization_stopped' AND r.capacity_bytes > 0 THEN r.used_bytes
      END) AS remat_bytes,
    MAX(CASE WHEN r.kind = 'rematerialization_stopped' THEN r.capacity_bytes END)
      AS remat_limit_bytes,
    MAX(CASE WHEN r.kind = 'rematerialization_stopped' THEN r.exceeded_bytes END)
      AS above_limit_bytes,
    MAX(CASE WHEN r.kind = 'arguments_above_limit' THEN r.arguments_bytes END) AS fixed_bytes,
    MAX(CASE WHEN r.kind = 'arguments_above_limit' THEN r.capacity_bytes END) AS fixed_limit_bytes
  FROM ordered_remarks r
  WHERE r.place = 1
  GROUP BY r.capture_id
),
chosen AS (
  SELECT
    f.*,
    g.each_bytes,
    g.gradient_each_bytes,
    g.first_padding_bytes,
    g.first_bytes,
    g.largest,
    g.rematerialized,
    h.bytes AS chunk_bytes,
    h.count AS chunk_count,
    h.each_bytes AS chunk_each_bytes,
    s.outside_pool,
    s.library,
    s.async_pool,
    s.program_load,
    s.serving,
    s.full_chip,
    s.eager,
    s.pool_bytes,
    s.pool_free_bytes,
    s.same_chunk_bytes,
    s.counted_bytes,
    s.wide_bytes,
    s.device_bytes,
    s.device_free_bytes,
    s.peak_bytes,
    s.host_cause,
    f.temp_bytes - e.temp_unpadded_bytes AS temp_padding_bytes,
    -- Said of the count itself where the request contradicts it.
    CASE WHEN s.counted_bytes IS NULL THEN k.remat_bytes END AS remat_bytes,
    k.remat_limit_bytes,
    k.above_limit_bytes,
    k.fixed_bytes,
    k.fixed_limit_bytes,
    CASE
      WHEN f.needed_bytes >= l.absurd_bytes OR f.needed_bytes > l.absurd_times * f.capacity_bytes
        THEN 1
      ELSE 0
    END AS is_absurd,
    CASE
      WHEN 100 * g.each_bytes > l.large_percent * f.capacity_bytes
        OR f.kind = 'tpu_allocation_exceeded' THEN 1
      ELSE 0
    END AS is_large,
    CASE
      WHEN f.requested_bytes <= l.tiny_bytes
        AND COALESCE(f.total_bytes, 0) <= l.tiny_program_bytes THEN 1
      ELSE 0
    END AS is_tiny,
    CASE
      WHEN h.count > 1 AND 100 * h.bytes >= l.chunks_percent * f.used_bytes THEN 1
      ELSE 0
    END AS has_equal_chunks,
    CASE
      -- What returns as much as it is given updates it, or is a single operation.
      WHEN 100 * f.output_bytes >= l.outputs_percent * f.total_bytes
        AND f.output_bytes > COALESCE(f.arguments_bytes, 0) THEN 1
      ELSE 0
    END AS outputs_lead
  FROM oom_failures f
  JOIN ordered_sizes h
    ON h.capture_id = f.capture_id AND h.oom_event_id = f.oom_event_id AND h.place = 1
  JOIN oom_signs s ON s.oom_event_id = f.oom_event_id
  JOIN oom_events e ON e.oom_event_id = f.oom_event_id
  CROSS JOIN limits l
  LEFT JOIN largest g ON g.oom_event_id = f.oom_event_id
  LEFT JOIN remarks k ON k.capture_id = f.capture_id AND f.stage IN ('compile', 'run')
)
SELECT
  c.*,
  CAST(NULL AS BIGINT) AS execution_id,
  CASE WHEN c.fatal = 1 THEN 'error' ELSE 'warning' END AS severity,
  'read' AS evidence,
  CASE c.stage
    WHEN 'chip' THEN c.memory_space
    WHEN 'host' THEN
      CASE
        WHEN c.requested_bytes <= c.free_bytes AND c.requested_bytes > c.largest_free_bytes
          THEN 'fragmentation'
        WHEN c.is_absurd = 1 AND c.host_cause IN ('array', 'cpu') THEN 'absurd'
        ELSE c.host_cause
      END
    WHEN 'compile' THEN
      CASE
        WHEN c.sparse_core_bytes > c.tensor_core_bytes THEN 'sparse_core'
        WHEN c.is_absurd = 1 THEN 'absurd'
        WHEN c.arguments_bytes > c.capacity_bytes
          OR 2 * c.arguments_bytes > COALESCE(c.used_bytes, c.total_bytes) THEN 'arguments'
        WHEN 2 * c.first_padding_bytes > c.first_bytes
          OR 2 * c.temp_padding_bytes > c.temp_bytes THEN 'padding'
        -- The largest is a value of the gradient, of a loop's steps or of its own: it grows with
        -- what is trained on, and no mesh is wrong.
        WHEN c.is_large = 1 AND c.gradient_each_bytes = c.each_bytes THEN 'activation'
        WHEN c.is_large = 1 THEN 'one_allocation'
        WHEN c.largest IS NOT NULL THEN 'accumulated'
        ELSE 'unlisted'
      END
    ELSE
      CASE
        WHEN c.kind = 'serving_memory_short' THEN
          CASE WHEN LOWER(c.message) LIKE '%on startup%' THEN 'engine_start' ELSE 'engine_cache' END
        WHEN c.outside_pool = 1 THEN 'outside_pool'
        WHEN c.requested_bytes <= c.pool_free_bytes
          AND c.requested_bytes > COALESCE(c.largest_free_bytes, 0) THEN 'fragmentation'
        -- The pool may hold that much, but does not: the device did not give it.
        WHEN c.requested_bytes <= c.free_bytes AND c.requested_bytes > c.pool_free_bytes
          THEN 'ungrown'
        WHEN c.requested_bytes <= c.free_bytes AND c.requested_bytes > c.largest_free_bytes
          THEN 'fragmentation'
        WHEN c.is_absurd = 1 THEN 'absurd'
        WHEN c.requested_bytes <= c.free_bytes AND c.largest_free_bytes IS NULL THEN 'ungrown'
        WHEN c.counted_bytes IS NOT NULL THEN 'remat_contradicted'
        WHEN c.has_equal_chunks = 1 THEN 'equal_chunks'
        WHEN c.program_load = 1 AND c.requested_bytes > COALESCE(c.free_bytes, 0)
          THEN 'program_load'
        WHEN c.full_chip = 1 THEN 'full_chip'
        WHEN c.is_tiny = 1 THEN 'victim'
        WHEN c.eager = 1 THEN 'eager'
        WHEN c.same_chunk_bytes IS NOT NULL THEN 'second_copy'
        WHEN c.outputs_lead = 1 THEN 'outputs'
        WHEN c.temp_bytes > 0 OR c.largest IS NOT NULL OR c.remat_bytes IS NOT NULL THEN 'temps'
        WHEN c.requested_bytes > c.free_bytes THEN 'shortage'
        ELSE 'unlisted'
      END
  END AS branch,
  CAST((c.needed_bytes - c.needed_bytes % NULLIF(c.capacity_bytes, 0))
    / NULLIF(c.capacity_bytes, 0) AS BIGINT) AS capacity_times,
  COALESCE(c.each_bytes, c.requested_bytes) AS allocation_bytes,
  CASE WHEN c.fatal = 1 THEN 1 ELSE 0 END AS failed,
  CASE WHEN c.module_name IS NULL THEN 1 ELSE 0 END AS nameless
FROM chosen c;
