-- id: grows_per_execution
-- title: Memory grows with every execution
-- rank: 70
-- verdict: leak
-- incident: device
-- explained by: host_skew
-- asks: Does the memory in use at the start of a module's executions rise, and what is left behind?
-- needs: allocator events and at least three executions of a module
-- tags: oom, leak, runtime
-- severity: error when an execution failed for it; info when only two rises were seen, or when a
--   fall before says that it may be flushed again; warning from five executions on, else info
-- cause: The program keeps a reference to something new on the device in every step: a list of
--   losses or gradients, a metric that is never fetched, a cache. The state of a JAX program exists
--   before its first step, so later growth is not the state.
-- how to read: A growth of 1.00 times the outputs means that every step's outputs are kept. The
--   holder is guessed from what the launching thread called between executions: what no other host
--   of the job called comes first, then calls that put something into a container.
-- next: oomdb query --db oom.db "SELECT kind, label, bytes, count FROM finding_items WHERE
--   finding_id LIKE 'grows_per_execution%'"
-- says: Every execution of {module_name} leaves {bytes:bytes} behind(steady?| on average)(failed?,
--   until one found no room)(may_be_flushed?; it may be flushed again)(few_rises?; seen twice only)
-- detail: In use at the start rose from {first_in_use_bytes:bytes} to {last_in_use_bytes:bytes}
--   over {executions:n} executions (measured), (steady?by the same step each time|unevenly)[, from
--   execution {late_rise:n} on][, about every {rise_period:n} executions][:
--   {hundredths:x} × its non-donated outputs of {output_bytes:bytes} (read)].(may_be_flushed? In
--   use fell by as much before: what is kept may be flushed again (inferred).)(few_rises? It rose
--   only twice: a cache that fills looks the same (inferred).)(keeps_outputs? The
--   program keeps the outputs of every execution:)(own_outputs?(keeps_outputs?| What survives:)
--   outputs of {module_name} execution {sequences} still live.|[ Still live at the last start:
--   {origins:list}.])[ Between executions the launching thread called {events} (the holder is
--   inferred).](failed? An execution failed before launch (measured).)(is_full? There is
--   no room for one more execution (inferred).)[ At this rate the {capacity_bytes:bytes} run out
--   after {executions_left:n} more executions (inferred).]
-- quiet: no growth over {execution_count:n} executions
-- columns:
--   device_id: the device, one finding each
--   module_id: the module whose outputs are kept, else the one that ran most
--   execution_id: the first execution that failed for it
--   evidence: measured
--   bytes: growth per execution (bytes)
--   executions: its executions
--   first_in_use_bytes: in use when the first started (bytes)
--   last_in_use_bytes: in use when the last started (bytes)
--   steady: 1 when every step is about the same
--   rise_count: starts whose floor, the least in use from there on, rose
--   rise_distance: executions from one rise to the next, the median
--   rise_period: the same where it is more than one, else NULL
--   first_rise: the execution that left the first rise behind, from 1
--   late_rise: the same where the growth begins in the later half, else NULL
--   few_rises: 1 when there are only two rises, which may be chance
--   may_be_flushed: 1 when in-use fell by as much before: a list may be flushed again
--   output_bytes: non-donated outputs (bytes)
--   hundredths: growth, in hundredths of these outputs
--   keeps_outputs: 1 when that is all of them, else 0
--   own_outputs: 1 when most of what survives are outputs of the module, else 0
--   sequences: executions of the module whose outputs live on; NULL: none
--   origins: the largest of what survives
--   events: what the launching thread called between executions
--   failed: 1 when an execution failed for it, else 0
--   capacity_bytes: what the device may use (bytes)
--   is_full: 1 when one more execution would find no room, else 0
--   executions_left: how many more will; NULL when one failed, or that is unknown
CREATE VIEW grows_per_execution AS
WITH sized AS (
  SELECT
    g.*,
    p.device,
    p.capacity_bytes,
    m.name AS module_name,
    m.output_bytes,
    -- Hundredths of the outputs, rounded.
    CAST((200 * g.growth_bytes + m.output_bytes
      - (200 * g.growth_bytes + m.output_bytes) % NULLIF(2 * m.output_bytes, 0))
      / NULLIF(2 * m.output_bytes, 0) AS BIGINT) AS hundredths,
    p.capacity_bytes - g.last_in_use_bytes - m.temp_bytes - m.output_bytes AS left_bytes
  FROM growth g
  JOIN modules m ON m.module_id = g.module_id
  LEFT JOIN effective_capacity p ON p.device_id = g.device_id
)
SELECT
  z.*,
  c.run,
  c.host,
  f.execution_id,
  CASE
    WHEN f.execution_id IS NOT NULL THEN 'error'
    WHEN z.few_rises = 1 OR z.may_be_flushed = 1 THEN 'info'
    WHEN z.executions >= (SELECT t.setting FROM settings t
      WHERE t.name = 'growth_warning_executions')
      THEN 'warning'
    ELSE 'info'
  END AS severity,
  'measured' AS evidence,
  z.growth_bytes AS bytes,
  CASE WHEN z.rise_distance > 1 THEN z.rise_distance END AS rise_period,
  CASE WHEN 2 * z.first_rise > z.executions THEN z.first_rise END AS late_rise,
  w.sequences,
  w.origins,
  h.events,
  CASE
    WHEN w.sequences IS NOT NULL AND ABS(z.hundredths - 100)
      <= (SELECT t.setting FROM settings t WHERE t.name = 'growth_outputs_percent')
      THEN 1
    ELSE 0
  END AS keeps_outputs,
  CASE
    WHEN w.sequences IS NOT NULL AND 2 * z.own_output_bytes >= z.survivor_bytes THEN 1
    ELSE 0
  END AS own_outputs,
  CASE WHEN f.execution_id IS NOT NULL THEN 1 ELSE 0 END AS failed,
  CASE WHEN f.execution_id IS NULL AND z.left_bytes < z.growth_bytes THEN 1 ELSE 0 END AS is_full,
  CASE
    WHEN f.execution_id IS NULL AND z.left_bytes >= z.growth_bytes
      THEN CAST((z.left_bytes - z.left_bytes % NULLIF(z.growth_bytes, 0))
        / NULLIF(z.growth_bytes, 0) AS BIGINT)
  END AS executions_left
FROM sized z
JOIN captures c ON c.capture_id = z.capture_id
LEFT JOIN growth_failures f ON f.device_id = z.device_id AND f.place = 1
LEFT JOIN growth_survivor_list w ON w.device_id = z.device_id
LEFT JOIN growth_holder_list h ON h.device_id = z.device_id;

-- title: What survives a growing module's executions, and what may hold it
-- columns:
--   module_id: the module that grows
--   position: from 1
--   kind: still live, or holder
--   label: the origin of live bytes, or the event
--   bytes: live bytes (bytes); NULL for a holder
--   count: allocations, or events
CREATE VIEW grows_per_execution_items AS
WITH listed AS (
  SELECT s.capture_id, s.device_id, s.module_id, 2 AS part, s.position, 'still live' AS kind,
    s.origin AS label,
    s.bytes, s.count
  FROM growth_survivors s
  WHERE s.position <= (SELECT t.setting FROM settings t WHERE t.name = 'items_max')
  UNION ALL
  SELECT h.capture_id, h.device_id, h.module_id, 1, h.position, 'holder', h.event, NULL, h.count
  FROM growth_holders h
)
SELECT
  r.capture_id,
  r.device_id,
  r.module_id,
  ROW_NUMBER() OVER (
    PARTITION BY r.capture_id, r.device_id ORDER BY r.part, r.position
  ) AS position,
  r.kind,
  r.label,
  r.bytes,
  r.count
FROM listed r;

-- title: How to stop a module from leaving memory behind
-- words fix by remedy:
--   drop_reference: drop the reference that keeps (own?outputs of {module_name}|{origin})[, see
--     {event}][ at {caller}]
--   return_less: return less from the step: a norm or a mean instead of the whole tree
--   fetch_to_host: keep a copy on the host: jax.device_get before it is stored
--   raise_memory_fraction: a larger pool only delays it: {growth_bytes:bytes} more last one
--     execution
-- words cost by remedy:
--   drop_reference: none
--   return_less: the values themselves are no longer at hand
--   fetch_to_host: a transfer each time, and host memory
--   raise_memory_fraction: it fails later
-- columns:
--   module_id: the module that grows
--   saving_bytes: what had piled up by the last start (bytes); NULL when nothing is saved
--   needs_bytes: in use, temps and outputs without it (bytes)
--   changes_results: 0
--   evidence: inferred
CREATE VIEW grows_per_execution_remedies AS
-- Grouped by device, so that an engine looks them up by it.
WITH survivors AS (
  SELECT s.device_id, MAX(CASE WHEN s.position = 1 THEN s.origin END) AS origin
  FROM growth_survivors s
  GROUP BY s.device_id
),
holders AS (
  SELECT
    h.device_id,
    MAX(CASE
      WHEN h.position = 1 AND (h.container = 1 OR h.only_host = 1) THEN h.event
    END) AS event,
    MAX(CASE WHEN h.position = 1 THEN h.caller END) AS caller
  FROM growth_holders h
  GROUP BY h.device_id
),
sized AS (
  SELECT
    g.capture_id,
    g.device_id,
    g.module_id,
    g.growth_bytes,
    g.last_in_use_bytes - g.first_in_use_bytes AS saving_bytes,
    g.first_in_use_bytes + m.temp_bytes + m.output_bytes AS needs_bytes,
    p.capacity_bytes,
    m.name AS module_name,
    COALESCE(s.origin, 'what is left behind') AS origin,
    CASE WHEN 2 * g.own_output_bytes >= g.survivor_bytes THEN 1 ELSE 0 END AS own,
    h.event,
    h.caller
  FROM growth g
  JOIN modules m ON m.module_id = g.module_id
  LEFT JOIN effective_capacity p ON p.device_id = g.device_id
  LEFT JOIN survivors s ON s.device_id = g.device_id
  LEFT JOIN holders h ON h.device_id = g.device_id
),
remedies AS (
  SELECT 'drop_reference' AS remedy, 1 AS preference
  UNION ALL SELECT 'return_less', 2
  UNION ALL SELECT 'fetch_to_host', 3
  UNION ALL SELECT 'raise_memory_fraction', 4
)
SELECT
  z.capture_id,
  z.device_id,
  z.module_id,
  ROW_NUMBER() OVER (PARTITION BY z.device_id ORDER BY r.preference) AS position,
  r.remedy,
  z.module_name,
  z.origin,
  z.own,
  z.event,
  z.caller,
  z.growth_bytes,
  CASE WHEN r.preference < 4 THEN z.saving_bytes END AS saving_bytes,
  CASE WHEN r.preference < 4 THEN z.needs_bytes END AS needs_bytes,
  CASE
    WHEN r.preference = 4 THEN 0
    WHEN z.capacity_bytes IS NULL OR z.needs_bytes IS NULL THEN NULL
    WHEN z.needs_bytes <= z.capacity_bytes THEN 1
    ELSE 0
  END AS fits,
  0 AS changes_results,
  'inferred' AS evidence
FROM sized z
CROSS JOIN remedies r
WHERE r.remedy <> 'return_less' OR z.own = 1;

-- title: Modules that ran often enough to see whether they grow
-- columns:
--   execution_count: executions whose in-use at the start is known
CREATE VIEW grows_per_execution_quiet AS
SELECT m.capture_id, m.device_id, m.module_id, m.executions AS execution_count
FROM stored_module_starts m
WHERE m.executions >= (SELECT t.setting FROM settings t WHERE t.name = 'growth_min_executions');

-- title: Captures that can't tell whether memory grows from step to step
-- words title by reason:
--   no_executions: whether memory grows from step to step: no execution of a compiled module is in
--     the capture
--   no_events: whether memory grows from step to step: the capture has no allocator events
--   few: whether memory grows from step to step: no module ran {needed:n} times in the capture
--   unsettled: whether this is a leak: memory rose too few times, or may be given back again
-- words tell by remedy:
--   profiles: two device memory profiles some steps apart
--     (jax.profiler.save_device_memory_profile), then oomdb compare FIRST SECOND
--   longer: a capture of more steps
--   steps: a capture that shows steps of a compiled program
--   events: a capture with allocator events: not of the platform's or the driver's own allocator
CREATE VIEW grows_per_execution_open AS
WITH limits AS (
  SELECT MAX(s.setting) AS needed FROM settings s WHERE s.name = 'growth_min_executions'
),
watched AS (
  SELECT
    c.capture_id,
    d.device_id,
    d.kind,
    (SELECT COUNT(*) FROM stored_executions e WHERE e.capture_id = c.capture_id) AS executions,
    (SELECT COUNT(*) FROM allocators a WHERE a.device_id = d.device_id) AS pools,
    (SELECT MAX(m.executions) FROM stored_module_starts m
      WHERE m.device_id = d.device_id) AS most_executions
  FROM captures c
  LEFT JOIN devices d ON d.capture_id = c.capture_id
  WHERE c.kind = 'xplane'
),
unknown AS (
  SELECT
    w.capture_id,
    w.device_id,
    CAST(NULL AS BIGINT) AS module_id,
    w.kind,
    CASE
      WHEN w.executions = 0 THEN 'no_executions'
      WHEN w.pools = 0 THEN 'no_events'
      ELSE 'few'
    END AS reason
  FROM watched w
  CROSS JOIN limits l
  WHERE w.executions = 0 OR w.pools = 0 OR COALESCE(w.most_executions, 0) < l.needed
  UNION ALL
  SELECT g.capture_id, g.device_id, g.module_id, 'gpu', 'unsettled'
  FROM grows_per_execution g
  WHERE g.severity = 'info'
)
SELECT
  u.*,
  l.needed,
  CASE
    WHEN u.reason = 'few' OR u.reason = 'unsettled' THEN 'longer'
    WHEN u.reason = 'no_executions' THEN 'steps'
    WHEN u.kind = 'gpu' AND u.reason = 'no_events' THEN 'events'
    ELSE 'profiles'
  END AS remedy
FROM unknown u
CROSS JOIN limits l;
