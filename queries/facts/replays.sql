-- id: replays
-- title: Whose plans oomdb what-if can be asked about, and why others can't
-- columns:
--   module_id: the module
--   capture_id: its capture
--   plan_id: its plan; NULL: only its executions are known
--   run: the capture's run
--   host: the capture's host
--   path: where the capture was read from
--   name: the module's name, with its program id in parentheses where it has one
--   module_name: without the program id
--   platform: gpu, tpu or cpu, of the module, else of the capture's devices; NULL: unknown
--   plan_bytes: parameters, outputs, constants and temps (bytes)
--   capacity_bytes: what the device of the capture that may use least may use (bytes); NULL: not
--     known
--   replay_bytes: size of what is stored for a replay (bytes); NULL: nothing is
--   missing: why not: plan (only executions are known), text (the plan was read from a text), size
--     (below the setting replay_min_bytes) or version (stored by an earlier version, or under
--     another setting); NULL: it is there
--   ingester_version: the version of oomdb that stored the capture
CREATE VIEW replays AS
SELECT
  m.module_id,
  m.capture_id,
  m.plan_id,
  c.run,
  c.host,
  c.path,
  m.name || COALESCE('(' || m.program_id || ')', '') AS name,
  m.name AS module_name,
  COALESCE(
    m.platform,
    (SELECT MIN(d.kind) FROM devices d WHERE d.capture_id = m.capture_id)
  ) AS platform,
  p.plan_bytes,
  e.capacity_bytes,
  LENGTH(r.program) AS replay_bytes,
  CASE
    WHEN r.plan_id IS NOT NULL THEN NULL
    WHEN p.plan_bytes IS NULL THEN 'plan'
    WHEN SUBSTR(p.hlo_hash, 1, 9) = 'unhashed:' THEN 'text'
    WHEN p.plan_bytes < (SELECT s.setting FROM settings s WHERE s.name = 'replay_min_bytes')
      THEN 'size'
    ELSE 'version'
  END AS missing,
  c.ingester_version
FROM stored_modules m
JOIN captures c ON c.capture_id = m.capture_id
LEFT JOIN stored_plans p ON p.plan_id = m.plan_id
LEFT JOIN stored_replays r ON r.plan_id = m.plan_id
LEFT JOIN effective_capacity e ON e.capture_id = m.capture_id AND e.place = 1;
