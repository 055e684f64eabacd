-- id: replicated_parameters
-- title: Every partition holds large parameters whole
-- rank: 110
-- incident: device
-- explained by: step_does_not_fit, compile_oom
-- asks: Could parameters of a partitioned program be split over its devices?
-- needs: a plan of more than one partition with the shardings of its parameters
-- tags: plan, sharding
-- severity: error when it explains a failure: an execution failed, its plan does not fit, and with
--   these parameters split it would; warning when the plan does not fit and then would, or when the
--   rest of the state is split and they take a quarter of the plan; else info
-- cause: Without a sharding of its own an array is laid down whole on every device: a missing
--   annotation, an axis name that the mesh lacks, or data parallelism by design.
-- how to read: Small parameters (biases, counters) don't count: it costs little to hold them whole.
--   Gradients and results of these shapes shrink with them, so more may be saved than is said. When
--   all of the state is held whole, that is data parallelism, and not a mistake as long as it fits.
-- next: oomdb query --db oom.db "SELECT parameter_number, shape, bytes, sharding FROM
--   plan_allocations WHERE shard_count = 1 ORDER BY bytes DESC"
-- says: {module_name} holds {replicated_bytes:bytes} of parameters whole on each of
--   {num_partitions:n} partitions: sharding them saves {bytes:bytes}
-- detail: {replicated_count:n} of {large_count:n} large parameters are replicated (read). Split
--   over {num_partitions:n} partitions they would take {split_bytes:bytes} on each device:
--   {bytes:bytes} less, {plan_percent:%} of the plan of {plan_bytes:bytes} (read).(by_design? No
--   state of the program is sharded: data parallelism, it seems (inferred).| The rest of the state
--   is sharded: an annotation may be missing here (inferred).)(over_capacity?(would_fit? The
--   plan does not fit; with them sharded it would (inferred).| The plan does not fit; sharding
--   them alone would not make it fit (inferred).))
-- columns:
--   evidence: read: the plan says how each parameter is sharded
--   bytes: what replication costs on each device: their bytes less one part of them (bytes)
--   num_partitions: partitions of the program
--   replicated_count: large parameters that every partition holds whole
--   replicated_bytes: their size on each device (bytes)
--   large_count: large parameters
--   split_bytes: what they would take on each device, split over all partitions (bytes)
--   plan_bytes: the plan (bytes)
--   plan_percent: what replication costs, as a share of the plan (per cent, rounded down)
--   by_design: 1 when no state is split, or little of it: data parallelism, else 0
--   over_capacity: 1 when the plan does not fit, else 0
--   would_fit: 1 when it would with them split, else 0
CREATE VIEW replicated_parameters AS
WITH judged AS (
  SELECT
    d.capture_id, d.run, d.host, d.device, d.device_id, d.module_id, d.module_name, d.plan_bytes,
    f.execution_id, s.num_partitions, s.replicated_count, s.replicated_bytes, s.sharded_count,
    s.saving_bytes,
    CASE
      WHEN s.sharded_state_count > 0 OR s.sharded_count > s.replicated_count THEN 0
      ELSE 1
    END AS by_design,
    CASE
      WHEN d.launched_count = 0 AND d.plan_bytes > d.capacity_bytes THEN 1
      ELSE 0
    END AS over_capacity,
    CASE
      WHEN d.plan_bytes + COALESCE(f.others_bytes, 0) - s.saving_bytes <= d.capacity_bytes THEN 1
      ELSE 0
    END AS would_fit
  FROM replicated_plans s
  JOIN modules m ON m.plan_id = s.plan_id
  JOIN module_devices d ON d.module_id = m.module_id
  LEFT JOIN failed_executions f
    ON f.module_id = d.module_id
    AND (f.device_id = d.device_id OR (f.device_id IS NULL AND d.device_id IS NULL))
    AND f.place = 1
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
    WHEN j.execution_id IS NOT NULL AND j.over_capacity = 1 AND j.would_fit = 1 THEN 'error'
    WHEN j.over_capacity = 1 AND j.would_fit = 1 THEN 'warning'
    WHEN (j.by_design = 0 OR j.over_capacity = 1) AND 100 * j.saving_bytes
      >= (SELECT t.setting FROM settings t WHERE t.name = 'replicated_warning_percent')
        * j.plan_bytes
      THEN 'warning'
    ELSE 'info'
  END AS severity,
  'read' AS evidence,
  j.saving_bytes AS bytes,
  j.num_partitions,
  j.replicated_count,
  j.replicated_bytes,
  j.replicated_count + j.sharded_count AS large_count,
  j.replicated_bytes - j.saving_bytes AS split_bytes,
  j.plan_bytes,
  CAST((100 * j.saving_bytes - 100 * j.saving_bytes % NULLIF(j.plan_bytes, 0))
    / NULLIF(j.plan_bytes, 0) AS BIGINT) AS plan_percent,
  j.by_design,
  j.over_capacity,
  j.would_fit
FROM judged j;

-- title: The parameters that every partition holds whole
-- words label: {shape}(single?, parameter |, the first parameter ){parameter_number:n}
-- columns:
--   kind: replicated parameter
--   label: their shape, and the number of the first
--   bytes: what they take on each device (bytes)
--   shape: their shape
--   parameter_number: the number of the first
--   single: 1 when there is one, else 0
CREATE VIEW replicated_parameters_items AS
WITH grouped AS (
  SELECT
    r.capture_id,
    r.device_id,
    r.module_id,
    COALESCE(a.shape, 'unknown shape') AS shape,
    MIN(a.parameter_number) AS parameter_number,
    CAST(SUM(a.bytes) AS BIGINT) AS bytes,
    COUNT(*) AS count
  FROM replicated_parameters r
  JOIN plan_allocations a ON a.module_id = r.module_id
  WHERE a.class = 'parameter' AND a.memory_space = 0 AND a.is_tuple = 0 AND a.shard_count = 1
    AND a.bytes >= (SELECT s.setting FROM settings s WHERE s.name = 'replicated_min_bytes')
  GROUP BY r.capture_id, r.device_id, r.module_id, COALESCE(a.shape, 'unknown shape')
),
ordered AS (
  SELECT
    g.capture_id,
    g.device_id,
    g.module_id,
    ROW_NUMBER() OVER (
      PARTITION BY g.module_id, g.device_id
      ORDER BY g.bytes DESC NULLS LAST, g.shape NULLS FIRST
    ) AS position,
    g.shape,
    g.parameter_number,
    g.bytes,
    g.count
  FROM grouped g
)
SELECT
  o.capture_id,
  o.device_id,
  o.module_id,
  o.position,
  'replicated parameter' AS kind,
  o.bytes,
  o.count,
  o.shape,
  o.parameter_number,
  CASE WHEN o.count = 1 THEN 1 ELSE 0 END AS single
FROM ordered o
WHERE o.position <= (SELECT s.setting FROM settings s WHERE s.name = 'items_max');

-- title: Split the parameters that every partition holds whole
-- words fix: shard these parameters and their optimizer state (FSDP) over the {num_partitions:n}
--   partitions: a NamedSharding along a dimension that they divide
-- words cost: network traffic: they are gathered for use
-- columns:
--   saving_bytes: what it saves at least (bytes)
--   needs_bytes: plan and other arrays, less the saving (bytes)
--   num_partitions: partitions of the program
CREATE VIEW replicated_parameters_remedies AS
WITH sized AS (
  SELECT
    r.capture_id,
    r.device_id,
    r.module_id,
    r.bytes AS saving_bytes,
    m.num_partitions,
    d.plan_bytes + COALESCE(x.others_bytes, 0) - r.bytes AS needs_bytes,
    d.capacity_bytes
  FROM replicated_parameters r
  JOIN modules m ON m.module_id = r.module_id
  JOIN module_devices d
    ON d.module_id = r.module_id
    AND (d.device_id = r.device_id OR (d.device_id IS NULL AND r.device_id IS NULL))
  LEFT JOIN failed_executions x
    ON x.module_id = r.module_id
    AND (x.device_id = r.device_id OR (x.device_id IS NULL AND r.device_id IS NULL))
    AND x.place = 1
)
SELECT
  z.capture_id,
  z.device_id,
  z.module_id,
  'shard_parameters' AS remedy,
  1 AS position,
  z.saving_bytes,
  z.needs_bytes,
  CASE
    WHEN z.capacity_bytes IS NULL THEN NULL
    WHEN z.needs_bytes <= z.capacity_bytes THEN 1
    ELSE 0
  END AS fits,
  0 AS changes_results,
  'inferred' AS evidence,
  z.num_partitions
FROM sized z;
