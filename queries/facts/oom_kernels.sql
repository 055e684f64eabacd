-- id: oom_kernels
-- title: Which kind of kernel asked for on-chip memory
-- empty without: oom_events
-- columns:
--   oom_event_id: the failure
--   kernel_memory: gpu_shared, vmem (of a kernel), own (vmem of an operation that the compiler
--     itself made), smem or other
--   spills: 1 when registers spill, else 0
-- how to read: A kernel is a custom call; an operation of the compiler's own has the name of its
--   instruction, such as reduce-window.7.
CREATE VIEW oom_kernels AS
WITH named AS (
  SELECT
    f.oom_event_id,
    f.memory_space,
    LOWER(f.message) AS words,
    LOWER(p.label) AS label,
    LOWER(p.op_name) AS op_name
  FROM oom_failures f
  LEFT JOIN oom_parts p ON p.oom_event_id = f.oom_event_id AND p.position = 1
  WHERE f.stage = 'chip'
)
SELECT
  n.oom_event_id,
  CASE
    WHEN n.memory_space = 'vmem' AND n.words LIKE '%on stack for%'
      AND n.words NOT LIKE '%custom-call%' AND n.words NOT LIKE '%custom_call%'
      AND COALESCE(n.op_name, '') NOT LIKE '%pallas_call%'
      -- A function of Python's has no hyphen in its name.
      AND (n.label LIKE '%-%' OR n.label LIKE 'fusion%' OR n.label LIKE '%fusion.%')
      THEN 'own'
    WHEN n.memory_space IN ('vmem', 'smem', 'gpu_shared') THEN n.memory_space
    ELSE 'other'
  END AS kernel_memory,
  CASE WHEN n.label LIKE '%spill%' OR n.words LIKE '%spill slots%' THEN 1 ELSE 0 END AS spills
FROM named n;
