-- id: host_skew
-- title: One host of a job stands out
-- asks: Does a host or a device of a run use, keep or wait for more memory than its peers, or have
--   less of it?
-- needs: allocator events of two hosts of a run, or of three devices of its one host
-- tags: hosts, leak, runtime
-- severity: error when an execution failed there, else warning
-- cause: Every process of a job runs the same program, so memory that only one holds comes from
--   what only that one does: logging, metrics, checkpoints, evaluation, a data loader, or another
--   process on its device.
-- columns:
--   capture_id: the capture of the host that stands out, one finding each
--   run: its run
--   host: its host
--   device: ordinal of the device when a single one stands out
--   device_id: that device
--   module_id: the module whose executions were compared; NULL when none ran
--   module_name: its name
--   execution_id: always NULL
--   severity: error or warning
--   evidence: measured
--   title: one sentence
--   detail: each figure beside the median of the peers
--   bytes: how far the first of the figures is from the median (bytes); NULL for waits
-- how to read: Peers are the devices in the same place on every host; a device stands out when a
--   figure is beyond the median by several times the median deviation, and by a share of it that
--   matters (settings skew_…). Of two hosts the one that is worse off is named.
-- next: oomdb hosts
CREATE VIEW host_skew AS
WITH worded AS (
  SELECT
    o.capture_id,
    o.device_id,
    o.device,
    o.module_id,
    o.module_name,
    o.importance,
    CASE WHEN o.metric <> 'waits' THEN o.excess END AS bytes,
    CASE o.metric
      WHEN 'growth' THEN 'grows by ' || CAST(o.amount AS VARCHAR(20)) || ' bytes per execution of '
        || COALESCE(o.module_name, 'its module')
      WHEN 'capacity' THEN 'has a pool of ' || CAST(o.amount AS VARCHAR(20)) || ' bytes'
      WHEN 'in use' THEN 'has ' || CAST(o.amount AS VARCHAR(20)) || ' bytes in use when execution '
        || CAST(o.common_place AS VARCHAR(20)) || ' of ' || o.module_name || ' starts'
      ELSE 'waited ' || CAST(o.amount AS VARCHAR(20)) || ' ns for memory'
    END AS what,
    'the median of ' || CAST(o.peers AS VARCHAR(20))
      || CASE WHEN o.job_hosts > 1 THEN ' hosts' ELSE ' devices' END || ' is '
      || CAST(o.median AS VARCHAR(20))
      || CASE WHEN o.metric = 'waits' THEN ' ns' ELSE ' bytes' END AS beside,
    MIN(o.importance) OVER (PARTITION BY o.capture_id) AS first_importance,
    -- Of several devices the worst speaks.
    ROW_NUMBER() OVER (
      PARTITION BY o.capture_id, o.metric ORDER BY o.excess DESC NULLS LAST, o.device_id NULLS FIRST
    ) AS place
  FROM host_oddities o
),
odd AS (
  SELECT
    w.capture_id,
    COUNT(DISTINCT w.device_id) AS devices,
    MIN(w.device_id) AS device_id,
    MIN(w.device) AS device,
    MIN(w.module_id) AS module_id,
    MIN(w.module_name) AS module_name,
    MAX(CASE WHEN w.place = 1 AND w.importance = w.first_importance THEN w.bytes END) AS bytes,
    MAX(CASE WHEN w.place = 1 AND w.importance = w.first_importance
      THEN w.what || ', ' || w.beside END) AS first_words,
    COALESCE(MAX(CASE WHEN w.place = 1 AND w.importance = 2 AND w.first_importance < 2
      THEN '. It also ' || w.what || ' (measured), ' || w.beside END), '')
      || COALESCE(MAX(CASE WHEN w.place = 1 AND w.importance = 3 AND w.first_importance < 3
        THEN '. It also ' || w.what || ' (measured), ' || w.beside END), '')
      || COALESCE(MAX(CASE WHEN w.place = 1 AND w.importance = 4 AND w.first_importance < 4
        THEN '. It also ' || w.what || ' (measured), ' || w.beside END), '') AS other_words
  FROM worded w
  GROUP BY w.capture_id
),
counted AS (
  SELECT
    o.capture_id,
    o.devices,
    o.device_id,
    o.device,
    o.module_id,
    o.module_name,
    o.bytes,
    o.first_words,
    o.other_words,
    (SELECT COUNT(*) FROM devices d WHERE d.capture_id = o.capture_id) AS all_devices,
    (SELECT COUNT(*) FROM executions e WHERE e.capture_id = o.capture_id AND e.failed = 1)
      AS failed_count
  FROM odd o
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
  CASE WHEN o.devices = 1 AND o.all_devices > 1
      THEN 'Device ' || CAST(o.device AS VARCHAR(20)) || ' of ' ELSE '' END
    || COALESCE(c.host, 'a host without a name') || ' stands out: it ' || o.first_words AS title,
  CASE
    WHEN o.devices = 1 AND o.all_devices > 1
      THEN 'One of ' || CAST(o.all_devices AS VARCHAR(20)) || ' devices of the host stands out'
    WHEN o.devices = 1 THEN 'Its only device stands out'
    ELSE CAST(o.devices AS VARCHAR(20)) || ' of ' || CAST(o.all_devices AS VARCHAR(20))
      || ' devices of the host stand out'
  END
    || o.other_words || '.'
    || CASE
      WHEN o.failed_count = 1 THEN ' 1 execution there launched nothing (measured).'
      WHEN o.failed_count > 1 THEN ' ' || CAST(o.failed_count AS VARCHAR(20))
        || ' executions there launched nothing (measured).'
      ELSE ''
    END AS detail,
  o.bytes
FROM counted o
JOIN captures c ON c.capture_id = o.capture_id;
