-- id: failed_executions
-- title: Executions that launched nothing: what they asked for, and what was free then
-- columns:
--   capture_id: the capture
--   device_id: the device
--   module_id: the module
--   execution_id: the execution that launched nothing
--   place: 1 for the first failed one of this device and module
--   start_ns: when it started (Unix ns)
--   in_use_at_start_bytes: in use just before it started (bytes)
--   others_bytes: in use then, less the module's own parameters (bytes)
--   free_bytes: free in the pool when the request failed (bytes)
--   largest_free_bytes: largest free block then (bytes); NULL when nothing says it
--   free_source: after its last allocation, at the allocator's last event, or at its start
--   still_needed_bytes: outputs and temps of the plan that it had not got yet (bytes)
--   failed_allocation_index: the plan allocation that the request was for
--   failed_class: output or temp
--   failed_bytes: the size of that request (bytes)
CREATE VIEW failed_executions AS
WITH failed AS (
  SELECT
    e.capture_id,
    e.device_id,
    e.module_id,
    e.execution_id,
    e.start_ns,
    e.in_use_at_start_bytes,
    e.failed_allocation_index,
    p.allocator_id,
    p.capacity_bytes,
    p.capacity_source,
    m.parameter_bytes,
    ROW_NUMBER() OVER (
      PARTITION BY e.device_id, e.module_id
      ORDER BY e.start_ns, e.execution_id
    ) AS place
  FROM executions e
  JOIN captures c ON c.capture_id = e.capture_id AND c.status = 'complete'
  JOIN modules m ON m.module_id = e.module_id
  LEFT JOIN effective_capacity p
    ON p.capture_id = e.capture_id AND p.device_id IS NOT DISTINCT FROM e.device_id
  WHERE e.failed = 1
),
-- The allocator's state right after what it did get is the state in which the next request failed.
own AS (
  SELECT
    f.execution_id,
    x.in_use_after_bytes,
    x.fragmentation,
    ROW_NUMBER() OVER (
      PARTITION BY f.execution_id
      ORDER BY x.alloc_ns DESC NULLS LAST, x.allocation_id DESC
    ) AS place
  FROM failed f
  JOIN allocations x ON x.execution_id = f.execution_id AND x.allocator_id = f.allocator_id
),
-- When it got nothing, the allocator's last event tells the same, if nothing happened after the start.
quiet AS (
  SELECT f.execution_id, a.last_available_bytes, a.last_fragmentation
  FROM failed f
  JOIN allocators a ON a.allocator_id = f.allocator_id
  WHERE NOT EXISTS (
    SELECT 1
    FROM allocations x
    WHERE x.allocator_id = f.allocator_id
      AND (x.alloc_ns >= f.start_ns OR x.free_ns >= f.start_ns)
  )
),
room AS (
  SELECT
    f.capture_id,
    f.device_id,
    f.module_id,
    f.execution_id,
    f.place,
    f.start_ns,
    f.in_use_at_start_bytes,
    f.failed_allocation_index,
    CASE
      WHEN f.in_use_at_start_bytes > f.parameter_bytes
        THEN f.in_use_at_start_bytes - f.parameter_bytes
      WHEN f.in_use_at_start_bytes IS NOT NULL THEN 0
    END AS others_bytes,
    CASE
      WHEN f.capacity_source <> 'pool' THEN NULL
      WHEN o.execution_id IS NOT NULL THEN f.capacity_bytes - o.in_use_after_bytes
      WHEN q.execution_id IS NOT NULL THEN q.last_available_bytes
      ELSE f.capacity_bytes - f.in_use_at_start_bytes
    END AS free_bytes,
    CASE
      WHEN f.capacity_source <> 'pool' THEN NULL
      WHEN o.execution_id IS NOT NULL THEN o.fragmentation
      ELSE q.last_fragmentation
    END AS fragmentation,
    CASE
      WHEN f.capacity_source <> 'pool' THEN NULL
      WHEN o.execution_id IS NOT NULL THEN 'after its last allocation'
      WHEN q.execution_id IS NOT NULL THEN 'at the allocator''s last event'
      ELSE 'at its start'
    END AS free_source
  FROM failed f
  LEFT JOIN own o ON o.execution_id = f.execution_id AND o.place = 1
  LEFT JOIN quiet q ON q.execution_id = f.execution_id
),
blocks AS (
  SELECT
    r.capture_id,
    r.device_id,
    r.module_id,
    r.execution_id,
    r.place,
    r.start_ns,
    r.in_use_at_start_bytes,
    r.failed_allocation_index,
    r.others_bytes,
    r.free_bytes,
    r.free_source,
    -- A full pool has no free block, and its fragmentation is 0 / 0.
    CASE
      WHEN r.free_bytes <= 0 THEN 0
      ELSE CAST(ROUND((1e0 - r.fragmentation) * r.free_bytes) AS BIGINT)
    END AS largest_free_bytes
  FROM room r
),
-- What its plan still wanted: allocations that no event of the execution took.
wanted AS (
  SELECT b.execution_id, b.failed_allocation_index, b.largest_free_bytes, p.allocation_index, p.bytes
  FROM blocks b
  JOIN plan_allocations p ON p.module_id = b.module_id
  WHERE p.memory_space = 0
    AND p.class IN ('output', 'temp')
    AND p.bytes > 0
    AND NOT EXISTS (
      SELECT 1
      FROM allocations x
      WHERE x.execution_id = b.execution_id AND x.allocation_index = p.allocation_index
    )
),
requests AS (
  SELECT
    w.execution_id,
    CAST(SUM(w.bytes) AS BIGINT) AS still_needed_bytes,
    COALESCE(
      MIN(CASE WHEN w.bytes > w.largest_free_bytes THEN w.allocation_index END),
      MIN(w.failed_allocation_index),
      MIN(w.allocation_index)
    ) AS allocation_index
  FROM wanted w
  GROUP BY w.execution_id
)
SELECT
  b.capture_id,
  b.device_id,
  b.module_id,
  b.execution_id,
  b.place,
  b.start_ns,
  b.in_use_at_start_bytes,
  b.others_bytes,
  b.free_bytes,
  b.largest_free_bytes,
  b.free_source,
  q.still_needed_bytes,
  q.allocation_index AS failed_allocation_index,
  p.class AS failed_class,
  p.bytes AS failed_bytes
FROM blocks b
LEFT JOIN requests q ON q.execution_id = b.execution_id
LEFT JOIN plan_allocations p
  ON p.module_id = b.module_id AND p.allocation_index = q.allocation_index;
