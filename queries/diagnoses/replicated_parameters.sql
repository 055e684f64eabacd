-- id: replicated_parameters
-- title: Every partition holds large parameters whole
-- asks: Could parameters of a partitioned program be split over its devices?
-- needs: a plan of more than one partition with the shardings of its parameters
-- tags: plan, sharding
-- severity: error when it explains a failure: an execution failed, its plan does not fit, and with
--   these parameters split it would; warning when the plan does not fit and then would, or when
--   the rest of the state is split and they take a quarter of the plan; else info
-- cause: Without a sharding of its own an array is laid down whole on every device: a missing
--   annotation, an axis name that the mesh lacks, or data parallelism by design.
-- columns:
--   capture_id: the capture
--   run: its run
--   host: its host
--   device: ordinal of the device; NULL without devices
--   device_id: the device
--   module_id: the module
--   module_name: its name
--   execution_id: the first execution that launched nothing
--   severity: error, warning or info
--   evidence: read: the plan says how each parameter is sharded
--   title: one sentence
--   detail: how many parameters, how much of the plan, and how the others are sharded
--   bytes: what replication costs on each device: their bytes less one part of them (bytes)
-- how to read: Small parameters (biases, counters) don't count: it costs little to hold them whole.
--   Gradients and results of these shapes shrink with them, so more may be saved than is said. When
--   all of the state is held whole, that is data parallelism, and no mistake as long as it fits.
-- next: oomdb query --db oom.db "SELECT parameter_number, shape, bytes, sharding FROM
--   plan_allocations WHERE shard_count = 1 ORDER BY bytes DESC"
CREATE VIEW replicated_parameters AS
WITH judged AS (
  SELECT
    d.capture_id,
    d.run,
    d.host,
    d.device,
    d.device_id,
    d.module_id,
    d.module_name,
    f.execution_id,
    d.plan_bytes,
    s.num_partitions,
    s.replicated_count,
    s.replicated_bytes,
    s.sharded_count,
    s.saving_bytes,
    CASE
      WHEN s.sharded_state_count > 0 OR s.sharded_count > s.replicated_count THEN 0
      ELSE 1
    END AS by_design,
    CASE
      WHEN d.launched_count = 0 AND d.plan_bytes > d.capacity_bytes THEN 1
      ELSE 0
    END AS misfit,
    CASE
      WHEN d.plan_bytes + COALESCE(f.others_bytes, 0) - s.saving_bytes <= d.capacity_bytes THEN 1
      ELSE 0
    END AS would_fit
  FROM replicated_plans s
  JOIN modules m ON m.plan_id = s.plan_id
  JOIN module_devices d ON d.module_id = m.module_id
  LEFT JOIN failed_executions f
    ON f.module_id = d.module_id AND f.device_id IS NOT DISTINCT FROM d.device_id AND f.place = 1
  WHERE 100 * s.saving_bytes
    >= (SELECT t.setting FROM settings t WHERE t.name = 'replicated_min_percent') * d.plan_bytes
)
SELECT
  j.capture_id,
  j.run,
  j.host,
  j.device,
  j.device_id,
  j.module_id,
  j.module_name,
  j.execution_id,
  CASE
    WHEN j.execution_id IS NOT NULL AND j.misfit = 1 AND j.would_fit = 1 THEN 'error'
    WHEN j.misfit = 1 AND j.would_fit = 1 THEN 'warning'
    WHEN (j.by_design = 0 OR j.misfit = 1) AND 100 * j.saving_bytes
      >= (SELECT t.setting FROM settings t WHERE t.name = 'replicated_warning_percent')
        * j.plan_bytes
      THEN 'warning'
    ELSE 'info'
  END AS severity,
  'read' AS evidence,
  j.module_name || ' holds ' || CAST(j.replicated_bytes AS VARCHAR(20))
    || ' bytes of parameters whole on each of ' || CAST(j.num_partitions AS VARCHAR(20))
    || ' partitions: sharding them saves ' || CAST(j.saving_bytes AS VARCHAR(20)) || ' bytes'
    AS title,
  CAST(j.replicated_count AS VARCHAR(20)) || ' of '
    || CAST(j.replicated_count + j.sharded_count AS VARCHAR(20))
    || ' large parameters are {replicated} (read). Split over '
    || CAST(j.num_partitions AS VARCHAR(20)) || ' partitions they would take '
    || CAST(j.replicated_bytes - j.saving_bytes AS VARCHAR(20))
    || ' bytes on each device: ' || CAST(j.saving_bytes AS VARCHAR(20)) || ' bytes less, '
    || CAST(CAST((100 * j.saving_bytes - 100 * j.saving_bytes % NULLIF(j.plan_bytes, 0))
      / NULLIF(j.plan_bytes, 0) AS BIGINT) AS VARCHAR(20))
    || ' % of the plan of ' || CAST(j.plan_bytes AS VARCHAR(20)) || ' bytes (read).'
    || CASE WHEN j.by_design = 1
      THEN ' No state of the program is sharded: data parallelism, it seems (inferred).'
      ELSE ' The rest of the state is sharded: an annotation may be missing here (inferred).'
      END
    || CASE
      WHEN j.misfit = 0 THEN ''
      WHEN j.would_fit = 1 THEN ' The plan does not fit; with them sharded it would (inferred).'
      ELSE ' The plan does not fit; sharding them alone would not make it fit (inferred).'
    END AS detail,
  j.saving_bytes AS bytes
FROM judged j;
