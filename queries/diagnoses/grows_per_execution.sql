-- id: grows_per_execution
-- title: Memory grows with every execution
-- asks: Does the memory in use at the start of a module's executions rise, and what is left behind?
-- needs: allocator events and at least three executions of a module
-- tags: oom, leak, runtime
-- severity: error when an execution failed for it, warning from five executions on, else info
-- cause: The program keeps a reference to something new on the device in every step: a list of
--   losses or gradients, a metric that is never fetched, a cache. The state of a JAX program exists
--   before its first step, so later growth is not the state.
-- columns:
--   capture_id: the capture
--   run: its run
--   host: its host
--   device: ordinal of the device
--   device_id: the device, one finding each
--   module_id: the module whose outputs are kept, else the one that ran most
--   module_name: its name
--   execution_id: the first execution that failed for it
--   severity: error, warning or info
--   evidence: measured
--   title: one sentence
--   detail: how fast, what survives, and what held it
--   bytes: growth per execution (bytes)
-- how to read: A growth of 1.00 times the outputs means that every step's outputs are kept. The
--   holder is guessed from what the launching thread did between the last two executions: calls
--   that put something into a container come first.
-- next: oomdb query --db oom.db "SELECT kind, label, bytes, count FROM finding_items WHERE
--   finding_id LIKE 'grows_per_execution%'"
CREATE VIEW grows_per_execution AS
WITH survivors AS (
  SELECT
    s.device_id,
    s.position,
    s.origin,
    s.own_sequence,
    s.bytes,
    s.count,
    CASE WHEN s.own_sequence IS NULL THEN 0 ELSE 1 END AS own,
    ROW_NUMBER() OVER (
      PARTITION BY s.device_id, CASE WHEN s.own_sequence IS NULL THEN 0 ELSE 1 END
      ORDER BY s.own_sequence NULLS LAST, s.position
    ) AS own_place,
    COUNT(s.own_sequence) OVER (PARTITION BY s.device_id) AS sequences
  FROM growth_survivors s
),
-- The executions whose outputs live on, and all groups by size for when it is something else that
-- does.
survivor_words AS (
  SELECT
    s.device_id,
    MAX(CASE WHEN s.own = 1 AND s.own_place = 1 THEN CAST(s.own_sequence AS VARCHAR(20)) END)
      || COALESCE(', ' || MAX(CASE
          WHEN s.own = 1 AND s.own_place = 2 THEN CAST(s.own_sequence AS VARCHAR(20)) END), '')
      || COALESCE(', ' || MAX(CASE
          WHEN s.own = 1 AND s.own_place = 3 THEN CAST(s.own_sequence AS VARCHAR(20)) END), '')
      || CASE WHEN MAX(s.sequences) > 4 THEN ', …' ELSE '' END
      || COALESCE(', ' || MAX(CASE
          WHEN s.own = 1 AND s.own_place > 3 AND s.own_place = s.sequences
            THEN CAST(s.own_sequence AS VARCHAR(20)) END), '') AS sequences,
    MAX(CASE WHEN s.position = 1 THEN s.origin || ' (' || CAST(s.count AS VARCHAR(20)) || ' live, '
      || CAST(s.bytes AS VARCHAR(20)) || ' bytes)' END)
      || COALESCE(MAX(CASE WHEN s.position = 2 THEN ', ' || s.origin || ' ('
        || CAST(s.count AS VARCHAR(20)) || ' live, ' || CAST(s.bytes AS VARCHAR(20))
          || ' bytes)' END), '')
      || COALESCE(MAX(CASE WHEN s.position = 3 THEN ', ' || s.origin || ' ('
        || CAST(s.count AS VARCHAR(20)) || ' live, ' || CAST(s.bytes AS VARCHAR(20))
          || ' bytes)' END), '')
      AS origins
  FROM survivors s
  GROUP BY s.device_id
),
holder_words AS (
  SELECT
    h.device_id,
    MAX(CASE WHEN h.position = 1 THEN h.event END)
      || COALESCE(MAX(CASE WHEN h.position = 2 THEN ', ' || h.event END), '')
      || COALESCE(MAX(CASE WHEN h.position = 3 THEN ', ' || h.event END), '')
      || COALESCE(MAX(CASE WHEN h.position = 4 THEN ', ' || h.event END), '')
      || COALESCE(MAX(CASE WHEN h.position = 5 THEN ', ' || h.event END), '') AS events
  FROM growth_holders h
  GROUP BY h.device_id
),
sized AS (
  SELECT
    g.capture_id,
    g.device_id,
    g.module_id,
    g.executions,
    g.first_in_use_bytes,
    g.last_in_use_bytes,
    g.growth_bytes,
    g.steady,
    g.survivor_bytes,
    g.own_output_bytes,
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
  c.capture_id,
  c.run,
  c.host,
  z.device,
  z.device_id,
  z.module_id,
  z.module_name,
  f.execution_id,
  CASE
    WHEN f.execution_id IS NOT NULL THEN 'error'
    WHEN z.executions >= (SELECT t.setting FROM settings t
      WHERE t.name = 'growth_warning_executions')
      THEN 'warning'
    ELSE 'info'
  END AS severity,
  'measured' AS evidence,
  'Every execution of ' || z.module_name || ' leaves ' || CAST(z.growth_bytes AS VARCHAR(20))
    || ' bytes behind'
    || CASE WHEN z.steady = 1 THEN '' ELSE ' on average' END
    || CASE WHEN f.execution_id IS NOT NULL THEN ', until one found no room' ELSE '' END AS title,
  'In use at the start rose from ' || CAST(z.first_in_use_bytes AS VARCHAR(20)) || ' bytes to '
    || CAST(z.last_in_use_bytes AS VARCHAR(20)) || ' bytes over '
    || CAST(z.executions AS VARCHAR(20)) || ' executions (measured), '
    || CASE WHEN z.steady = 1 THEN 'by the same step each time' ELSE 'unevenly' END
    || COALESCE(': '
      || CAST(CAST((z.hundredths - z.hundredths % 100) / 100 AS BIGINT) AS VARCHAR(20)) || '.'
      || CASE WHEN z.hundredths % 100 < 10 THEN '0' ELSE '' END
      || CAST(z.hundredths % 100 AS VARCHAR(20)) || ' × its outputs of '
      || CAST(z.output_bytes AS VARCHAR(20)) || ' bytes that are no donated parameter (read)', '')
    || '.'
    || CASE
      WHEN ABS(z.hundredths - 100)
        <= (SELECT t.setting FROM settings t WHERE t.name = 'growth_outputs_percent')
        AND w.sequences IS NOT NULL THEN ' The program keeps the outputs of every execution:'
      ELSE ''
    END
    || CASE
      WHEN 2 * z.own_output_bytes >= z.survivor_bytes AND w.sequences IS NOT NULL
        THEN CASE
            WHEN ABS(z.hundredths - 100)
              <= (SELECT t.setting FROM settings t WHERE t.name = 'growth_outputs_percent') THEN ''
            ELSE ' What survives:'
          END
          || ' outputs of ' || z.module_name || ' execution ' || w.sequences || ' still live.'
      ELSE COALESCE(' Still live at the last start: ' || w.origins || '.', '')
    END
    || COALESCE(' Between the last two executions the launching thread ran ' || h.events
      || ' (the holder is inferred).', '')
    || CASE
      WHEN f.execution_id IS NOT NULL THEN ' An execution launched nothing (measured).'
      WHEN z.left_bytes IS NULL THEN ''
      WHEN z.left_bytes < z.growth_bytes THEN ' There is no room for one more execution (inferred).'
      ELSE ' At this rate the ' || CAST(z.capacity_bytes AS VARCHAR(20)) || ' bytes run out after '
        || CAST(CAST((z.left_bytes - z.left_bytes % NULLIF(z.growth_bytes, 0))
          / NULLIF(z.growth_bytes, 0) AS BIGINT)
          AS VARCHAR(20)) || ' more executions (inferred).'
    END AS detail,
  z.growth_bytes AS bytes
FROM sized z
JOIN captures c ON c.capture_id = z.capture_id
LEFT JOIN growth_failures f ON f.device_id = z.device_id AND f.place = 1
LEFT JOIN survivor_words w ON w.device_id = z.device_id
LEFT JOIN holder_words h ON h.device_id = z.device_id;
