-- id: failed_executions
-- title: Executions that failed before launch: what they asked for, and what was free then
-- columns:
--   capture_id: the capture
--   device_id: the device
--   module_id: the module
--   execution_id: the execution that failed before launch
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
--   allocator_id: the device's pool
--   capacity_bytes: what the device may use (bytes)
--   memory_bytes: the device's memory (bytes)
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
    m.parameter_bytes,
    p.allocator_id,
    p.capacity_bytes,
    p.memory_bytes,
    CASE WHEN p.capacity_source = 'pool' THEN p.capacity_bytes END AS pool_bytes,
    a.last_available_bytes,
    a.last_fragmentation
  FROM executions e
  JOIN captures c ON c.capture_id = e.capture_id AND c.status = 'complete'
  JOIN modules m ON m.module_id = e.module_id
  LEFT JOIN effective_capacity p
    ON p.capture_id = e.capture_id
    AND (p.device_id = e.device_id OR (p.device_id IS NULL AND e.device_id IS NULL))
  LEFT JOIN allocators a ON a.allocator_id = p.allocator_id
  WHERE e.failed = 1
),
-- Where the allocator stood when the request failed. The state right after what the execution did
-- get comes first; when it got nothing, the allocator's last event tells it, if nothing happened
-- after the start; else only the total at the start is known.
ordered AS (
  SELECT
    f.capture_id,
    f.device_id,
    f.module_id,
    f.execution_id,
    f.start_ns,
    f.in_use_at_start_bytes,
    f.failed_allocation_index,
    f.parameter_bytes,
    f.allocator_id,
    f.capacity_bytes,
    f.memory_bytes,
    f.pool_bytes,
    f.last_available_bytes,
    f.last_fragmentation,
    x.in_use_after_bytes,
    x.fragmentation,
    CASE
      WHEN x.allocation_id IS NOT NULL THEN 'after its last allocation'
      WHEN NOT EXISTS (
          SELECT 1 FROM stored_allocations y
          WHERE y.allocator_id = f.allocator_id AND y.alloc_ns >= f.start_ns
        )
        AND NOT EXISTS (
          SELECT 1 FROM stored_allocations z
          WHERE z.allocator_id = f.allocator_id AND z.free_ns >= f.start_ns
        )
        THEN 'at the allocator''s last event'
      ELSE 'at its start'
    END AS free_source,
    ROW_NUMBER() OVER (
      PARTITION BY f.capture_id, f.execution_id
      ORDER BY x.alloc_ns DESC NULLS LAST, x.allocation_id DESC NULLS LAST
    ) AS place
  FROM failed f
  LEFT JOIN stored_allocations x
    ON x.execution_id = f.execution_id AND x.allocator_id = f.allocator_id
),
states AS (
  SELECT
    o.capture_id,
    o.device_id,
    o.module_id,
    o.execution_id,
    o.start_ns,
    o.in_use_at_start_bytes,
    o.failed_allocation_index,
    o.parameter_bytes,
    o.allocator_id,
    o.capacity_bytes,
    o.memory_bytes,
    o.pool_bytes,
    CASE WHEN o.pool_bytes IS NOT NULL THEN o.free_source END AS free_source,
    CASE
      WHEN o.pool_bytes IS NULL THEN NULL
      WHEN o.free_source = 'after its last allocation' THEN o.pool_bytes - o.in_use_after_bytes
      WHEN o.free_source = 'at its start' THEN o.pool_bytes - o.in_use_at_start_bytes
      ELSE o.last_available_bytes
    END AS free_bytes,
    CASE
      WHEN o.free_source = 'after its last allocation' THEN o.fragmentation
      WHEN o.free_source = 'at the allocator''s last event' THEN o.last_fragmentation
    END AS fragmentation,
    ROW_NUMBER() OVER (
      PARTITION BY o.capture_id, o.device_id, o.module_id
      ORDER BY o.start_ns, o.execution_id
    ) AS failure_place
  FROM ordered o
  WHERE o.place = 1
),
blocks AS (
  SELECT
    s.capture_id,
    s.device_id,
    s.module_id,
    s.execution_id,
    s.start_ns,
    s.in_use_at_start_bytes,
    s.failed_allocation_index,
    s.allocator_id,
    s.capacity_bytes,
    s.memory_bytes,
    CASE
      WHEN s.in_use_at_start_bytes > s.parameter_bytes
        THEN s.in_use_at_start_bytes - s.parameter_bytes
      WHEN s.in_use_at_start_bytes IS NOT NULL THEN 0
    END AS others_bytes,
    s.free_bytes,
    s.free_source,
    -- A full pool has no free block, and its fragmentation is 0 / 0. A half is rounded up by some
    -- engines and to the even by others: the thousandth moves it off the middle.
    CASE
      WHEN s.pool_bytes IS NULL THEN NULL
      WHEN s.free_bytes <= 0 THEN 0
      ELSE CAST(ROUND((1e0 - s.fragmentation) * s.free_bytes + 1e-3) AS BIGINT)
    END AS largest_free_bytes,
    s.failure_place AS place
  FROM states s
),
-- What its plan still wanted: allocations that no event of the execution took. The request that
-- failed is the first of them that no free block could hold.
wanted AS (
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
    b.allocator_id,
    b.capacity_bytes,
    b.memory_bytes,
    w.allocation_index,
    w.class,
    w.bytes,
    CAST(SUM(w.bytes) OVER (PARTITION BY b.capture_id, b.execution_id) AS BIGINT)
      AS still_needed_bytes,
    ROW_NUMBER() OVER (
      PARTITION BY b.capture_id, b.execution_id
      ORDER BY
        CASE
          WHEN w.bytes > b.largest_free_bytes THEN 0
          WHEN w.allocation_index = b.failed_allocation_index THEN 1
          ELSE 2
        END,
        w.allocation_index NULLS LAST
    ) AS request_place
  FROM blocks b
  JOIN plan_allocations w
    ON w.module_id = b.module_id
    AND w.memory_space = 0
    AND w.class IN ('output', 'temp')
    AND w.bytes > 0
  LEFT JOIN stored_allocations x
    ON x.execution_id = b.execution_id AND x.allocation_index = w.allocation_index
  WHERE x.allocation_id IS NULL
)
SELECT
  w.capture_id,
  w.device_id,
  w.module_id,
  w.execution_id,
  w.place,
  w.start_ns,
  w.in_use_at_start_bytes,
  w.others_bytes,
  w.free_bytes,
  w.largest_free_bytes,
  w.free_source,
  w.still_needed_bytes,
  w.allocation_index AS failed_allocation_index,
  w.class AS failed_class,
  w.bytes AS failed_bytes,
  w.allocator_id,
  w.capacity_bytes,
  w.memory_bytes
FROM wanted w
WHERE w.request_place = 1;
