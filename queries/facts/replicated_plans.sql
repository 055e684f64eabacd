-- id: replicated_plans
-- title: Plans of partitioned programs: how much of their large parameters every partition holds
--   whole
-- columns:
--   plan_id: the plan, which modules of equal content share
--   num_partitions: partitions of the program
--   replicated_count: large parameters that every partition holds whole
--   replicated_bytes: their size on each device (bytes)
--   sharded_count: large parameters that are split
--   sharded_state_count: of these, donated or with a result of their shape: state, not a batch
--   saving_bytes: what splitting the replicated ones over all partitions saves on each (bytes)
-- how to read: Large is what is as large as the setting replicated_min_bytes when it is whole.
--   Parameters whose sharding is not recorded, or doesn't say what a device holds, are not counted.
CREATE VIEW replicated_plans AS
-- The captures of a job share plans: each is looked at once.
WITH plans AS (
  SELECT m.plan_id, MIN(m.module_id) AS module_id, MIN(m.num_partitions) AS num_partitions
  FROM modules m
  WHERE m.num_partitions > 1
  GROUP BY m.plan_id
),
results AS (
  SELECT DISTINCT p.plan_id, o.shape
  FROM plans p
  JOIN module_outputs o ON o.module_id = p.module_id
),
large AS (
  SELECT
    p.plan_id,
    p.num_partitions,
    a.bytes,
    a.shard_count,
    CASE
      WHEN a.shard_count > 1 AND (a.aliased_output = 1 OR r.shape IS NOT NULL) THEN 1
      ELSE 0
    END AS sharded_state
  FROM plans p
  JOIN plan_allocations a ON a.module_id = p.module_id
  LEFT JOIN results r ON r.plan_id = p.plan_id AND r.shape = a.shape
  WHERE a.class = 'parameter' AND a.memory_space = 0 AND a.is_tuple = 0
    AND 1e0 * a.bytes * a.shard_count
      >= (SELECT s.setting FROM settings s WHERE s.name = 'replicated_min_bytes')
),
summed AS (
  SELECT
    l.plan_id,
    l.num_partitions,
    CAST(SUM(CASE WHEN l.shard_count = 1 THEN 1 ELSE 0 END) AS BIGINT) AS replicated_count,
    CAST(SUM(CASE WHEN l.shard_count = 1 THEN l.bytes ELSE 0 END) AS BIGINT) AS replicated_bytes,
    CAST(SUM(CASE WHEN l.shard_count > 1 THEN 1 ELSE 0 END) AS BIGINT) AS sharded_count,
    CAST(SUM(l.sharded_state) AS BIGINT) AS sharded_state_count
  FROM large l
  GROUP BY l.plan_id, l.num_partitions
)
SELECT
  s.plan_id,
  s.num_partitions,
  s.replicated_count,
  s.replicated_bytes,
  s.sharded_count,
  s.sharded_state_count,
  s.replicated_bytes - CAST((s.replicated_bytes - s.replicated_bytes % NULLIF(s.num_partitions, 0))
    / NULLIF(s.num_partitions, 0) AS BIGINT) AS saving_bytes
FROM summed s
WHERE s.replicated_count > 0;
