-- id: oom_branches
-- title: Which kind of failure an error text tells of, and on what evidence
-- empty without: oom_events
-- columns:
--   oom_event_id: the event
--   capture_id: the log
--   stage: compile, run, host or chip
--   branch: for compile: sparse_core, absurd, arguments, padding, one_allocation, accumulated,
--     unlisted; for run: fragmentation, absurd, victim, equal_chunks, outputs, temps, shortage,
--     unlisted; for host: fragmentation, pinned, machine; for chip: the memory space
--   because: one sentence that says why, with its numbers; empty when there is nothing to say
--   largest_words: the three largest groups of buffers; NULL when none is known
--   chunk_bytes: bytes of the largest group of equal chunks in use (bytes); NULL without a dump
--   chunk_count: how many they are
--   chunk_each_bytes: bytes of one of them (bytes)
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
    MAX(k.rematerialized) AS rematerialized,
    MAX(CASE WHEN k.position = 1 THEN k.padding_bytes END) AS padding_bytes,
    MAX(CASE WHEN k.position = 1 THEN k.bytes END) AS first_bytes,
    MAX(CASE WHEN k.position = 1 THEN k.words END)
      || COALESCE(', ' || MAX(CASE WHEN k.position = 2 THEN k.words END), '')
      || COALESCE(', ' || MAX(CASE WHEN k.position = 3 THEN k.words END), '') AS words
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
-- results alone are above its limit.
remarks AS (
  SELECT
    o.capture_id,
    MAX(CASE WHEN o.kind = 'M1' THEN
      ' Before, rematerialization could only get to ' || CAST(o.used_bytes AS VARCHAR(20))
        || ' bytes; the compiler wanted ' || CAST(o.capacity_bytes AS VARCHAR(20)) || ' bytes.' END)
      AS remat_words,
    MAX(CASE WHEN o.kind = 'M2' THEN
      ' Arguments and results alone, ' || CAST(o.arguments_bytes AS VARCHAR(20))
        || ' bytes, are above the compiler''s limit of ' || CAST(o.capacity_bytes AS VARCHAR(20))
        || ' bytes: nothing is left for temps.' END) AS arguments_words
  FROM oom_events o
  WHERE o.kind IN ('M1', 'M2') AND o.capacity_bytes > 0
  GROUP BY o.capture_id
),
chosen AS (
  SELECT
    f.oom_event_id,
    f.capture_id,
    f.stage,
    f.kind,
    f.memory_space,
    f.needed_bytes,
    f.capacity_bytes,
    f.requested_bytes,
    f.used_bytes,
    f.total_bytes,
    f.arguments_bytes,
    f.temp_bytes,
    f.output_bytes,
    f.free_bytes,
    f.largest_free_bytes,
    f.tensor_core_bytes,
    f.sparse_core_bytes,
    g.each_bytes,
    g.padding_bytes,
    g.first_bytes,
    g.words,
    h.bytes AS chunk_bytes,
    h.count AS chunk_count,
    h.each_bytes AS chunk_each_bytes,
    COALESCE(k.remat_words, '') || COALESCE(k.arguments_words, '')
      || CASE WHEN g.rematerialized = 1 THEN
        ' XLA has rematerialized already: expect the fix from the program.' ELSE '' END AS remarks,
    CASE WHEN k.remat_words IS NULL THEN 0 ELSE 1 END AS is_remarked,
    CASE
      WHEN f.needed_bytes >= l.absurd_bytes OR f.needed_bytes > l.absurd_times * f.capacity_bytes
        THEN 1
      ELSE 0
    END AS is_absurd,
    CASE
      WHEN 100 * g.each_bytes > l.large_percent * f.capacity_bytes OR f.kind = 'T7' THEN 1
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
      WHEN 100 * f.output_bytes >= l.outputs_percent * f.total_bytes AND f.output_bytes > 0 THEN 1
      ELSE 0
    END AS outputs_lead
  FROM oom_failures f
  JOIN ordered_sizes h
    ON h.capture_id = f.capture_id AND h.oom_event_id = f.oom_event_id AND h.place = 1
  CROSS JOIN limits l
  LEFT JOIN largest g ON g.oom_event_id = f.oom_event_id
  LEFT JOIN remarks k ON k.capture_id = f.capture_id AND f.stage IN ('compile', 'run')
),
branched AS (
  SELECT
    c.oom_event_id,
    c.capture_id,
    c.stage,
    c.needed_bytes,
    c.capacity_bytes,
    c.requested_bytes,
    c.used_bytes,
    c.total_bytes,
    c.arguments_bytes,
    c.temp_bytes,
    c.output_bytes,
    c.free_bytes,
    c.largest_free_bytes,
    c.tensor_core_bytes,
    c.sparse_core_bytes,
    c.each_bytes,
    c.padding_bytes,
    c.first_bytes,
    c.words,
    c.chunk_bytes,
    c.chunk_count,
    c.chunk_each_bytes,
    c.remarks,
    CASE c.stage
      WHEN 'chip' THEN c.memory_space
      WHEN 'host' THEN
        CASE
          WHEN c.requested_bytes <= c.free_bytes AND c.requested_bytes > c.largest_free_bytes
            THEN 'fragmentation'
          WHEN c.kind = 'H1' THEN 'pinned'
          ELSE 'machine'
        END
      WHEN 'compile' THEN
        CASE
          WHEN c.sparse_core_bytes > c.tensor_core_bytes THEN 'sparse_core'
          WHEN c.is_absurd = 1 THEN 'absurd'
          WHEN c.arguments_bytes > c.capacity_bytes
            OR 2 * c.arguments_bytes > COALESCE(c.used_bytes, c.total_bytes) THEN 'arguments'
          WHEN 2 * c.padding_bytes > c.first_bytes THEN 'padding'
          WHEN c.is_large = 1 THEN 'one_allocation'
          WHEN c.words IS NOT NULL THEN 'accumulated'
          ELSE 'unlisted'
        END
      ELSE
        CASE
          WHEN c.requested_bytes <= c.free_bytes AND c.requested_bytes > c.largest_free_bytes
            THEN 'fragmentation'
          WHEN c.is_absurd = 1 THEN 'absurd'
          WHEN c.has_equal_chunks = 1 THEN 'equal_chunks'
          WHEN c.is_tiny = 1 THEN 'victim'
          WHEN c.outputs_lead = 1 THEN 'outputs'
          WHEN c.temp_bytes > 0 OR c.words IS NOT NULL OR c.is_remarked = 1 THEN 'temps'
          WHEN c.requested_bytes > c.free_bytes THEN 'shortage'
          ELSE 'unlisted'
        END
    END AS branch
  FROM chosen c
)
SELECT
  b.oom_event_id,
  b.capture_id,
  b.stage,
  b.branch,
  CASE b.branch
    WHEN 'sparse_core' THEN
      'The SparseCores need ' || CAST(b.sparse_core_bytes AS VARCHAR(20))
        || ' bytes, the TensorCores ' || CAST(b.tensor_core_bytes AS VARCHAR(20))
        || ' bytes: the embedding tables lead, not the dense model.'
    WHEN 'absurd' THEN
      COALESCE(
        'That is more than '
          || CAST(CAST((b.needed_bytes - b.needed_bytes % NULLIF(b.capacity_bytes, 0))
            / NULLIF(b.capacity_bytes, 0) AS BIGINT) AS VARCHAR(20))
          || ' times what there is: ', 'No device has that much: ')
        || 'a shape or sharding mistake, not a matter of tuning.'
    WHEN 'arguments' THEN
      'Its arguments are ' || CAST(b.arguments_bytes AS VARCHAR(20)) || ' bytes'
        || CASE WHEN b.arguments_bytes > b.capacity_bytes THEN ', more than there is:'
          ELSE ', most of it:' END
        || ' parameters and inputs lead, not temps.'
    WHEN 'padding' THEN
      'Of the ' || CAST(b.first_bytes AS VARCHAR(20)) || ' bytes of the largest buffers '
        || CAST(b.padding_bytes AS VARCHAR(20)) || ' bytes are padding to the tile.'
    WHEN 'one_allocation' THEN
      'A single allocation of '
        || CAST(COALESCE(b.each_bytes, b.requested_bytes) AS VARCHAR(20))
        || ' bytes takes more than half of the memory: almost always a wrong mesh shape, a'
        || ' missing sharding annotation, or a value that should not exist whole.'
    WHEN 'accumulated' THEN 'No single allocation leads: what is live at once adds up.'
    WHEN 'fragmentation' THEN
      CAST(b.free_bytes AS VARCHAR(20)) || ' bytes were free, the largest block '
        || CAST(b.largest_free_bytes AS VARCHAR(20)) || ' bytes.'
    WHEN 'equal_chunks' THEN
      CAST(b.chunk_count AS VARCHAR(20)) || ' chunks of ' || CAST(b.chunk_each_bytes AS VARCHAR(20))
        || ' bytes hold ' || CAST(b.chunk_bytes AS VARCHAR(20)) || ' bytes of the '
        || CAST(b.used_bytes AS VARCHAR(20)) || ' bytes in use'
        || CASE WHEN b.chunk_each_bytes = b.requested_bytes THEN
          ', and one more was asked for: earlier results are still referenced.'
          ELSE ': the same array, kept again and again.' END
    WHEN 'victim' THEN
      'So small a request is the victim, not the cause: look for who holds the memory.'
    WHEN 'outputs' THEN
      'Of the program''s ' || CAST(b.total_bytes AS VARCHAR(20)) || ' bytes, '
        || CAST(b.output_bytes AS VARCHAR(20)) || ' bytes are outputs: it returns more than it'
        || ' needs on the way.'
    WHEN 'temps' THEN
      COALESCE('The program needs ' || CAST(b.total_bytes AS VARCHAR(20)) || ' bytes, of these '
        || CAST(b.temp_bytes AS VARCHAR(20)) || ' bytes temps.', 'The program itself is large.')
    WHEN 'shortage' THEN
      CAST(b.free_bytes AS VARCHAR(20)) || ' bytes were free: '
        || CAST(b.requested_bytes - b.free_bytes AS VARCHAR(20)) || ' bytes must be freed.'
    ELSE ''
  END || b.remarks AS because,
  b.words AS largest_words,
  b.chunk_bytes,
  b.chunk_count,
  b.chunk_each_bytes
FROM branched b;
