-- id: runtime_oom
-- title: An allocation failed while the program ran
-- rank: 30
-- verdict: pool full
-- incident: device
-- explained by: step_does_not_fit, grows_per_execution, other_arrays_take_room, fragmentation,
--   no_donation
-- symptom: yes
-- asks: Which device allocation failed, by the error log, and what was in the way?
-- needs: the run time's error log; an allocator's dump or a plan of the same run adds who holds the
--   memory
-- empty without: oom_events
-- tags: oom, runtime, log
-- severity: error; warning where the error log has the numbers but not the error
-- cause: The request is larger than what is free. The program may be too large, something else may
--   hold the memory, or the free memory is in pieces.
-- how to read: A request of a few megabytes is a victim: the one who holds the memory is to be
--   found. One of many times the device is a mistake in a shape. A request that is as large as the
--   program's temps means that the program itself is too large. Where enough was free but in
--   pieces, see the rule fragmentation.
-- next: oomdb query --db oom.db "SELECT label, bytes, count FROM finding_items WHERE finding_id
--   LIKE 'runtime_oom%'"
-- words what by story:
--   outside: [{module_name}: {library_name}](nameless?{library_name}) found no device memory
--     outside the allocator's pool
--   engine: The serving engine did not start: (cache?no room is left for its key-value cache|its
--     share of the device is not free)[: it wants {bytes:bytes}][, {free_bytes:bytes} are free]
--   load: [{module_name}](nameless?A program) found no room to be loaded: it needs
--     {bytes:bytes}[, {free_bytes:bytes} were free]
--   chip: One chip is full: a request of {bytes:bytes} failed on {allocator}
--   held: [{allocator}](poolless?The device) held {used_bytes:bytes}[ of {capacity_bytes:bytes}]
--   ran_out: [{module_name}](nameless?[{allocator}](poolless?The program)) ran out of device memory
--   request: [{module_name}: a](nameless?A) request of {bytes:bytes} failed
-- words why by reason:
--   victim: it is the victim, others hold the memory
--   absurd: a mistake in a shape, not a matter of tuning
--   equal_chunks: {chunk_count:n} arrays of one size hold the memory
--   second_copy: an array of this size is already there
--   eager: it is a single operation outside of jit
--   remat_contradicted: the compiler had counted {counted_bytes:bytes}
--   ungrown: the pool may grow, but the device had no room
--   chip: {free_bytes:bytes} are left there
--   free: {free_bytes:bytes} were free
-- words library_name by library:
--   nccl: NCCL
--   graph: A CUDA graph (command buffer)
--   code: A program's code
--   kernel: The launch of a kernel
--   cudnn: cuDNN
--   cublas: cuBLAS
--   solver: A library of the device
--   autotuning: Autotuning
--   driver: The driver
-- words because by branch:
--   engine_start: Other processes, or an earlier one of the same engine, have what it asks for by
--     its memory utilization.
--   engine_cache: What is left after the weights and the programs' own memory does not hold the
--     cache that the longest sequence needs.
--   outside_pool: The pool takes its share of the device when the program starts; libraries,
--     programs' code and CUDA graphs need what is left.
--   ungrown: The pool may hold {capacity_bytes:bytes}[ and holds {pool_bytes:bytes}]: the
--     {bytes:bytes} would be within its limit, but the device did not give them. Another process
--     or a library has that memory, or the free memory is in pieces.
--   remat_contradicted: XLA's rematerialization said that it had the program down to
--     {counted_bytes:bytes}, but a single request of it is {bytes:bytes}: its count is wrong.
--   eager: A single operation holds its arguments and its result whole, with nothing fused around
--     it.[ {wide_bytes:bytes} of it are 64-bit numbers.]
--   full_chip: Arrays are put on one chip as they are made or loaded: the others may be empty.
--   program_load: (serving?A serving engine's key-value cache takes what is left after the weights,
--     and this program was loaded after it[: {missing_bytes:bytes} are missing].|Arrays that live
--     while the program is loaded leave too little room[: {missing_bytes:bytes} are missing].)
--   second_copy: [An array of {same_chunk_bytes:bytes} is in use, and as much was asked for: the
--     program returns it updated, or copies it, beside the one that it was given.]
--   absurd: [That is more than {capacity_times:n} times what there is](unlimited?No device has that
--     much): a shape or sharding mistake, not a matter of tuning.
--   equal_chunks: {chunk_count:n} chunks of {chunk_each_bytes:bytes} hold {chunk_bytes:bytes} of
--     the {used_bytes:bytes} in use(one_more?, and one more was asked for: earlier results are
--     still referenced.|: the same array, kept again and again.)
--   victim: So small a request is the victim, not the cause: look for who holds the memory.
--   outputs: {output_bytes:bytes} of the program's {total_bytes:bytes} are outputs: it returns more
--     than it needs on the way.
--   temps: [The program needs {total_bytes:bytes}, {temp_bytes:bytes} of it for
--     temps.](unsummed?The program itself is large.)
--   shortage: {free_bytes:bytes} were free; {missing_bytes:bytes} must be freed.
-- says: {what}[: {why}]
-- detail: (unmeasured?[The device may use {capacity_bytes:bytes} (read). ]|In use
--   {used_bytes:bytes}[ of {capacity_bytes:bytes}] (read). )[{because}]{remarks:list}[ The plan
--   comes from this run, matched by {matched_by}.](failed?| The error log does not say whether it
--   failed.)[ Largest: {largest:list}.]
-- columns:
--   capture_id: the error log
--   device: ordinal of the device; NULL when the error log names none
--   device_id: always NULL
--   module_id: the module of a dump or capture of the same run, where one matches
--   module_name: its name, by the error log or by the match
--   execution_id: NULL: an error log knows nothing of executions
--   bytes: the request that failed (bytes)
--   story: engine (a serving engine did not start), outside (of any pool), load (of a program),
--     chip (one is full), held (no request is known), ran_out (its size is not), or request
--   reason: what the title gives as the reason: victim, absurd, equal_chunks, second_copy, eager,
--     remat_contradicted, ungrown, chip or free; NULL: none
--   branch: engine_start, engine_cache, outside_pool, ungrown, remat_contradicted, absurd,
--     equal_chunks, program_load, full_chip, victim, eager, second_copy, outputs, temps, shortage
--     or unlisted
--   verdict: outside the pool, second copy, too large, leak, other arrays or pool full;
--     can't tell where the log does not say that it failed
--   library: what failed outside of the pool: nccl, graph, code, kernel, cudnn, cublas, solver,
--     autotuning or driver; NULL
--   allocator: the allocator's name
--   capacity_bytes: what the device may use (bytes)
--   capacity_times: how many times that was asked for, rounded down
--   used_bytes: in use (bytes)
--   free_bytes: free (bytes)
--   pool_bytes: what the pool holds, in use or free (bytes)
--   device_free_bytes: free on the device, outside of the pool (bytes)
--   counted_bytes: what rematerialization had counted for the program (bytes)
--   same_chunk_bytes: an array in use that is as large as the request (bytes)
--   wide_bytes: what its listed buffers of 64-bit numbers take (bytes)
--   serving: 1 when a serving engine holds a key-value cache beside it, else 0
--   missing_bytes: how much more than that was asked for (bytes)
--   total_bytes: the program as a whole (bytes)
--   temp_bytes: its temps (bytes)
--   output_bytes: its outputs (bytes)
--   chunk_bytes: the largest group of equal chunks in use (bytes); NULL without a dump
--   chunk_count: how many they are
--   chunk_each_bytes: bytes of one of them (bytes)
--   largest: the three largest groups of buffers; NULL when none is known
--   remarks: what the compiler remarked on the way
--   matched_by: how the module was found: name and size, name, size, shapes or failure; NULL
--     without one
--   failed: 1 when the error log says that it failed, else 0
--   nameless: 1 when the module has no name, else 0
--   poolless: 1 when the allocator has no name, else 0
--   unlimited: 1 when the capacity or the request is not known, else 0
--   unmeasured: 1 when it is not known what is in use, else 0
--   unsummed: 1 when the program or its temps are not known, else 0
--   cache: 1 when it is the key-value cache of a serving engine that found no room, else 0
--   one_more: 1 when one more such chunk was asked for, else 0
CREATE VIEW runtime_oom AS
SELECT
  b.*,
  b.requested_bytes AS bytes,
  CASE
    -- Figures without a failure.
    WHEN b.failed = 0 THEN 'can''t tell'
    WHEN b.branch IN ('outside_pool', 'ungrown') THEN 'outside the pool'
    WHEN b.branch = 'equal_chunks' THEN 'leak'
    WHEN b.branch = 'program_load' THEN 'other arrays'
    WHEN b.branch = 'second_copy' THEN 'second copy'
    WHEN b.branch IN ('absurd', 'temps', 'outputs', 'remat_contradicted') THEN 'too large'
    ELSE 'pool full'
  END AS verdict,
  CASE
    WHEN b.branch IN ('engine_start', 'engine_cache') THEN 'engine'
    WHEN b.branch = 'outside_pool' THEN 'outside'
    WHEN b.branch = 'program_load' THEN 'load'
    WHEN b.branch = 'full_chip' THEN 'chip'
    WHEN b.failed = 0 AND b.used_bytes IS NOT NULL THEN 'held'
    WHEN b.requested_bytes IS NULL THEN 'ran_out'
    ELSE 'request'
  END AS story,
  CASE
    WHEN b.branch IN (
      'victim', 'absurd', 'equal_chunks', 'second_copy', 'eager', 'remat_contradicted', 'ungrown'
    ) THEN b.branch
    WHEN b.branch = 'full_chip' THEN 'chip'
    WHEN b.branch IN ('program_load', 'engine_start', 'engine_cache') THEN NULL
    WHEN b.free_bytes IS NOT NULL THEN 'free'
  END AS reason,
  b.requested_bytes - b.free_bytes AS missing_bytes,
  CASE WHEN b.allocator IS NULL THEN 1 ELSE 0 END AS poolless,
  CASE WHEN b.capacity_times IS NULL THEN 1 ELSE 0 END AS unlimited,
  CASE WHEN b.used_bytes IS NULL THEN 1 ELSE 0 END AS unmeasured,
  CASE WHEN b.total_bytes IS NULL OR b.temp_bytes IS NULL THEN 1 ELSE 0 END AS unsummed,
  CASE WHEN b.branch = 'engine_cache' THEN 1 ELSE 0 END AS cache,
  CASE WHEN b.chunk_each_bytes = b.requested_bytes THEN 1 ELSE 0 END AS one_more
FROM oom_branches b
WHERE b.stage = 'run' AND b.branch <> 'fragmentation'
  AND (b.failed = 1 OR b.used_bytes IS NOT NULL OR b.largest IS NOT NULL);

-- title: Who holds the memory where a request failed, and what the failing program is made of
-- words kind by source:
--   chunks: chunks in use
--   text: listed in the error log
--   plan: at the plan's peak
-- words label: (chunked?[{op_name}, ]{each_bytes:bytes} each|{what}[ {made_by}])
-- columns:
--   kind: chunks in use, listed in the error log, or at the plan's peak
--   label: who holds them, or shape, operation and Python line
--   op_name: who holds them, or the JAX operation
--   each_bytes: bytes of one of them (bytes)
--   what: their shape, else the instruction
--   made_by: the JAX operation and its Python line
--   chunked: 1 for chunks in use, else 0
CREATE VIEW runtime_oom_items AS
-- From the events to their chunks: SQLite keeps to the order of a CROSS JOIN.
WITH chunks AS (
  SELECT
    c.oom_event_id,
    c.op_name,
    c.bytes AS each_bytes,
    COUNT(*) AS count,
    CAST(SUM(c.bytes) AS BIGINT) AS bytes
  FROM oom_events o
  CROSS JOIN oom_chunks c
  WHERE c.oom_event_id = o.oom_event_id AND c.in_use = 1
  GROUP BY c.oom_event_id, c.op_name, c.bytes
),
listed AS (
  SELECT
    c.oom_event_id,
    1 AS part,
    ROW_NUMBER() OVER (
      PARTITION BY c.oom_event_id
      ORDER BY c.bytes DESC NULLS LAST, c.each_bytes DESC NULLS LAST, c.op_name NULLS LAST
    ) AS place,
    'chunks' AS source,
    c.op_name,
    c.each_bytes,
    CAST(NULL AS VARCHAR(1)) AS what,
    CAST(NULL AS VARCHAR(1)) AS made_by,
    c.bytes,
    c.count
  FROM chunks c
  UNION ALL
  SELECT
    p.oom_event_id,
    2,
    p.position,
    p.source,
    p.op_name,
    p.each_bytes,
    p.what,
    p.made_by,
    p.bytes,
    p.count
  FROM oom_parts p
)
SELECT
  f.capture_id,
  f.device_id,
  f.module_id,
  ROW_NUMBER() OVER (PARTITION BY f.oom_event_id ORDER BY l.part, l.place) AS position,
  l.bytes,
  l.count,
  l.source,
  l.op_name,
  l.each_bytes,
  l.what,
  l.made_by,
  CASE WHEN l.source = 'chunks' THEN 1 ELSE 0 END AS chunked
FROM oom_failures f
JOIN listed l ON l.oom_event_id = f.oom_event_id
WHERE f.stage = 'run'
  AND l.place <= (SELECT s.setting FROM settings s WHERE s.name = 'items_max');

-- title: What could make the program fit, as far as the error log and the plan support it
-- columns:
--   position: from 1, those that make it fit first, then those that save most; of equals those
--     first that change no results; last resorts last
--   needs_low_bytes: the low end of the range in which that lies (bytes); NULL: open
--   needs_high_bytes: its high end (bytes); NULL: open
--   likely: 1 when needs_bytes is within the capacity, 0 when not
CREATE VIEW runtime_oom_remedies AS
SELECT
  r.capture_id,
  r.device_id,
  r.module_id,
  r.remedy,
  r.position,
  r.fix,
  r.saving_bytes,
  r.needs_bytes,
  r.fits,
  r.likely,
  r.needs_low_bytes,
  r.needs_high_bytes,
  r.cost,
  r.changes_results,
  'inferred' AS evidence
FROM oom_remedies r
WHERE r.stage = 'run' AND r.branch <> 'fragmentation';
