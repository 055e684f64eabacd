-- id: host_skew
-- title: One host of a job stands out
-- rank: 10
-- verdict: odd host
-- incident: device
-- asks: Does a host or a device of a run use, keep or wait for more memory than its peers, or have
--   less of it?
-- needs: allocator events of two hosts of a run, or of three devices of its one host
-- tags: hosts, leak, runtime
-- severity: error when an execution failed there, else warning
-- cause: Every process of a job runs the same program, so memory that only one holds comes from
--   what only that one does: logging, metrics, checkpoints, evaluation, a data loader, or another
--   process on its device.
-- how to read: Peers are the devices in the same place on every host; a device stands out when a
--   figure is beyond the median by several times the median deviation, and by a share of it that
--   matters (settings skew_…). Between two hosts, the one that is worse off is named.
-- next: oomdb hosts
-- says: (one_of_many?Device {device:n} of )[{host}](hostless?a host without a name) stands out: it
--   {figure:list}, {beside:list}
-- detail: (one_of_many?One of {all_devices:n} devices of the host stands out|(one_device?Its only
--   device stands out|{devices:n} of {all_devices:n} devices of the host stand out))[. It also
--   {capacity_figure:list} (measured), {capacity_beside:list}][. It also {in_use_figure:list}
--   (measured), {in_use_beside:list}][. It also {waits_figure:list} (measured),
--   {waits_beside:list}].[ Between its executions only this host called {lone_event}[ at
--   {lone_caller}], in {lone_gaps:n} of {all_gaps:n} gaps (measured): look there
--   first.](one_failed? 1 execution there failed before launch (measured).|(any_failed?
--   {failed_count:n} executions there failed before launch (measured).))
-- columns:
--   capture_id: the capture of the host that stands out, one finding each
--   device: ordinal of the device when a single one stands out
--   device_id: that device
--   module_id: the module whose executions were compared; NULL when none ran
--   bytes: how far the first of the figures is from the median (bytes); NULL for waits
--   figure: what the worst device does, by the figure that explains most
--   beside: the median of its peers
--   capacity_figure: its pool, where that is odd too; NULL where not
--   capacity_beside: the median of its peers
--   in_use_figure: what it has in use, where that is odd too
--   in_use_beside: the median of its peers
--   waits_figure: how long it waited, where that is odd too
--   waits_beside: the median of its peers
--   lone_event: where memory grows or more is in use: what only this host of the job called between
--     executions, containers' calls first; NULL: nothing, or not recorded
--   lone_caller: who called it, where its name has no file
--   lone_gaps: gaps between two executions in which it was called
--   all_gaps: gaps that there are
--   devices: devices of the host that stand out
--   all_devices: devices that it has
--   failed_count: executions there that are known to have failed
--   hostless: 1 when the host has no name, else 0
--   one_device: 1 when one device stands out, else 0
--   one_of_many: 1 when it is one of several, else 0
--   one_failed: 1 when one execution failed
--   any_failed: 1 when any did
CREATE VIEW host_skew AS
WITH ordered AS (
  SELECT
    o.capture_id, o.device_id, o.device, o.module_id, o.module_name, o.importance, o.figure,
    o.beside,
    CASE WHEN o.metric <> 'waits' THEN o.excess END AS bytes,
    MIN(o.importance) OVER (PARTITION BY o.capture_id) AS first_importance,
    -- The worst of several devices speaks.
    ROW_NUMBER() OVER (
      PARTITION BY o.capture_id, o.metric ORDER BY o.excess DESC NULLS LAST, o.device_id NULLS FIRST
    ) AS place
  FROM host_oddities o
),
-- What the first figure says is not said again.
chosen AS (
  SELECT
    r.capture_id, r.device_id, r.device, r.module_id, r.module_name, r.importance, r.figure,
    r.beside, r.bytes,
    CASE
      WHEN r.place > 1 THEN 0
      WHEN r.importance = r.first_importance THEN 1
      ELSE r.importance
    END AS choice
  FROM ordered r
),
odd AS (
  SELECT
    h.capture_id,
    COUNT(DISTINCT h.device_id) AS devices,
    MIN(h.device_id) AS device_id,
    MIN(h.device) AS device,
    MIN(h.module_id) AS module_id,
    MIN(h.module_name) AS module_name,
    MAX(CASE WHEN h.choice = 1 THEN h.bytes END) AS bytes,
    MAX(CASE WHEN h.choice = 1 THEN h.figure END) AS figure,
    MAX(CASE WHEN h.choice = 1 THEN h.beside END) AS beside,
    MAX(CASE WHEN h.choice = 2 THEN h.figure END) AS capacity_figure,
    MAX(CASE WHEN h.choice = 2 THEN h.beside END) AS capacity_beside,
    MAX(CASE WHEN h.choice = 3 THEN h.figure END) AS in_use_figure,
    MAX(CASE WHEN h.choice = 3 THEN h.beside END) AS in_use_beside,
    MAX(CASE WHEN h.choice = 4 THEN h.figure END) AS waits_figure,
    MAX(CASE WHEN h.choice = 4 THEN h.beside END) AS waits_beside,
    -- Growth or in use: something is kept.
    MAX(CASE WHEN h.importance IN (1, 3) THEN 1 ELSE 0 END) AS keeps
  FROM chosen h
  GROUP BY h.capture_id
),
-- What only one host called is the best suspect for what only that one keeps.
lone AS (
  SELECT
    g.capture_id, g.module_id, g.event, g.caller, g.gaps, g.all_gaps,
    ROW_NUMBER() OVER (
      PARTITION BY g.capture_id, g.module_id
      ORDER BY g.container DESC, g.encloses, g.gaps DESC NULLS LAST, g.depth NULLS FIRST,
        g.last_start_ns DESC NULLS LAST, g.event NULLS FIRST
    ) AS place
  FROM gap_calls g
  WHERE g.only_host = 1
),
counted AS (
  SELECT
    o.*,
    l.event AS lone_event,
    l.caller AS lone_caller,
    l.gaps AS lone_gaps,
    l.all_gaps,
    (SELECT COUNT(*) FROM devices d WHERE d.capture_id = o.capture_id) AS all_devices,
    (SELECT COUNT(*) FROM executions e WHERE e.capture_id = o.capture_id AND e.failed = 1)
      AS failed_count
  FROM odd o
  LEFT JOIN lone l
    ON l.capture_id = o.capture_id AND l.module_id = o.module_id AND l.place = 1 AND o.keeps = 1
)
SELECT
  c.capture_id,
  c.run,
  c.host,
  CASE WHEN o.devices = 1 THEN o.device END AS device,
  CASE WHEN o.devices = 1 THEN o.device_id END AS device_id,
  o.module_id,
  o.module_name,
  CAST(NULL AS BIGINT) AS execution_id,
  CASE WHEN o.failed_count > 0 THEN 'error' ELSE 'warning' END AS severity,
  'measured' AS evidence,
  o.bytes,
  o.figure,
  o.beside,
  o.capacity_figure,
  o.capacity_beside,
  o.in_use_figure,
  o.in_use_beside,
  o.waits_figure,
  o.waits_beside,
  o.lone_event,
  o.lone_caller,
  o.lone_gaps,
  o.all_gaps,
  o.devices,
  o.all_devices,
  o.failed_count,
  CASE WHEN c.host IS NULL THEN 1 ELSE 0 END AS hostless,
  CASE WHEN o.devices = 1 THEN 1 ELSE 0 END AS one_device,
  CASE WHEN o.devices = 1 AND o.all_devices > 1 THEN 1 ELSE 0 END AS one_of_many,
  CASE WHEN o.failed_count = 1 THEN 1 ELSE 0 END AS one_failed,
  CASE WHEN o.failed_count > 0 THEN 1 ELSE 0 END AS any_failed
FROM counted o
JOIN captures c ON c.capture_id = o.capture_id;

-- title: The figures of the devices that stand out, and the median of their peers
-- words label: (is_median?median of {peers:n} peers|[{host}] device {device:n})[: {wait_ns:ns}]
-- columns:
--   kind: growth, capacity, in use or waits
--   label: the host and device, or the median
--   bytes: the figure (bytes); NULL for waits, whose label says it
--   count: always NULL
--   host: the host
--   device: the device's ordinal; NULL for the median
--   peers: how many were compared
--   wait_ns: the figure for waits (ns), else NULL
--   is_median: 1 for the median of the peers, else 0
CREATE VIEW host_skew_items AS
WITH parts AS (
  SELECT 1 AS part
  UNION ALL SELECT 2
),
figures AS (
  SELECT
    o.capture_id, o.importance, o.metric, p.part,
    CASE WHEN p.part = 1 THEN o.device END AS device,
    MIN(CASE WHEN p.part = 1 THEN o.amount ELSE o.median END) AS amount,
    MAX(o.peers) AS peers
  FROM host_oddities o
  CROSS JOIN parts p
  GROUP BY o.capture_id, o.importance, o.metric, p.part,
    CASE WHEN p.part = 1 THEN o.device END
)
SELECT
  s.capture_id,
  s.device_id,
  s.module_id,
  ROW_NUMBER() OVER (
    PARTITION BY s.capture_id ORDER BY f.importance, f.part, f.device NULLS LAST
  ) AS position,
  f.metric AS kind,
  CASE WHEN f.metric <> 'waits' THEN f.amount END AS bytes,
  CAST(NULL AS BIGINT) AS count,
  s.host,
  f.device,
  f.peers,
  CASE WHEN f.metric = 'waits' THEN f.amount END AS wait_ns,
  CASE WHEN f.part = 2 THEN 1 ELSE 0 END AS is_median
FROM host_skew s
JOIN figures f ON f.capture_id = s.capture_id;

-- title: Make the host like the others
-- words fix by remedy:
--   drop_reference: find what this process alone keeps: metrics, logging, checkpoints or evaluation
--     that run on one host only; fetch with jax.device_get what must be kept
--   raise_memory_fraction: give this host the memory fraction of the others, and free its device of
--     other processes
--   find_waiting_request: see which request waited on this host: the finding allocator_retry names
--     it
-- words cost by remedy:
--   drop_reference: a copy to the host
--   raise_memory_fraction: none
--   find_waiting_request: none
-- columns:
--   saving_bytes: what has piled up, where the device's memory grows, else how far the figure is
--     from the median (bytes); NULL: not in memory of the device
CREATE VIEW host_skew_remedies AS
WITH remedies AS (
  SELECT 1 AS preference, 'drop_reference' AS remedy
  UNION ALL SELECT 2, 'raise_memory_fraction'
  UNION ALL SELECT 3, 'find_waiting_request'
),
odd AS (
  SELECT
    o.capture_id, r.preference, r.remedy,
    MAX(CASE WHEN r.preference = 1 AND o.metric = 'in use' THEN o.excess END) AS saving_bytes
  FROM host_oddities o
  JOIN remedies r
    ON r.preference = CASE o.metric WHEN 'capacity' THEN 2 WHEN 'waits' THEN 3 ELSE 1 END
  GROUP BY o.capture_id, r.preference, r.remedy
)
SELECT
  s.capture_id,
  s.device_id,
  s.module_id,
  o.remedy,
  ROW_NUMBER() OVER (PARTITION BY s.capture_id ORDER BY o.preference) AS position,
  CASE WHEN o.preference = 1 AND g.device_id IS NOT NULL
    THEN g.last_in_use_bytes - g.first_in_use_bytes ELSE o.saving_bytes END AS saving_bytes,
  CAST(NULL AS BIGINT) AS needs_bytes,
  CAST(NULL AS BIGINT) AS fits,
  0 AS changes_results,
  'inferred' AS evidence
FROM host_skew s
JOIN odd o ON o.capture_id = s.capture_id
LEFT JOIN growth g ON g.device_id = s.device_id;
