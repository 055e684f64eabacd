-- id: oom_kernels
-- title: Which kind of kernel asked for on-chip memory
-- empty without: oom_events
-- columns:
--   oom_event_id: the event, whatever it says
--   kernel_memory: gpu_shared, vmem (of a kernel), own (vmem of an operation that the compiler
--     itself made), smem or other
--   spills: 1 when registers spill, else 0
-- how to read: A kernel is a custom call; an operation of the compiler's own has the name of its
--   instruction, such as reduce-window.7.
CREATE VIEW oom_kernels AS
WITH named AS (
  SELECT
    o.oom_event_id,
    o.memory_space,
    LOWER(o.message) AS words,
    LOWER(b.label) AS label,
    LOWER(b.op_name) AS op_name
  FROM oom_events o
  -- The first is the largest.
  LEFT JOIN oom_buffers b ON b.oom_event_id = o.oom_event_id AND b.position = 1
)
SELECT
  n.oom_event_id,
  CASE
    WHEN n.memory_space = 'vmem' AND LOWER(n.words) LIKE '%on stack for%'
      AND LOWER(n.words) NOT LIKE '%custom-call%' AND LOWER(n.words) NOT LIKE '%custom_call%'
      AND LOWER(COALESCE(n.op_name, '')) NOT LIKE '%pallas_call%'
      -- A function of Python's has no hyphen in its name.
      AND (LOWER(n.label) LIKE '%-%' OR LOWER(n.label) LIKE 'fusion%'
        OR LOWER(n.label) LIKE '%fusion.%')
      THEN 'own'
    WHEN n.memory_space IN ('vmem', 'smem', 'gpu_shared') THEN n.memory_space
    ELSE 'other'
  END AS kernel_memory,
  CASE WHEN LOWER(n.label) LIKE '%spill%' OR LOWER(n.words) LIKE '%spill slots%'
    THEN 1 ELSE 0 END AS spills
FROM named n;
