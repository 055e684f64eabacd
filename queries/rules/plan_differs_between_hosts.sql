-- id: plan_differs_between_hosts
-- title: Hosts of a job compiled different plans for one module
-- rank: 200
-- verdict: odd host
-- asks: Did every host compile the same program, with the same sizes?
-- needs: plans of one module from two hosts of a run
-- tags: hosts, plan
-- severity: warning when the sizes differ, info when only the instructions do
-- cause: The processes traced different programs (a flag, a version, a shape that depends on the
--   process), or the compiler chose differently (autotuning, another limit). Hosts that don't run
--   the same program also wait for one another forever in a collective.
-- how to read: Compared is the largest plan that each host has of a name, with that of most hosts;
--   of two hosts the larger one is named. Fingerprints do not help here: the text of a module
--   differs from host to host even when the programs are equal.
-- next: oomdb query "SELECT c.host, m.name, m.plan_bytes, m.temp_bytes, m.instruction_count FROM
--   modules m JOIN captures c ON c.capture_id = m.capture_id ORDER BY m.name, c.host"
-- says: [{host}](hostless?A host without a name) compiled a different {module_name} than
--   (two_hosts?the other host|{usual_votes:n} of {hosts:n} hosts)(sizes_differ?: it needs
--   {bytes:bytes}, not {usual_plan_bytes:bytes}|, of the same size)
-- detail: Read from the plans: (parameters_differ?parameters of {parameter_bytes:bytes}, elsewhere
--   {usual_parameter_bytes:bytes}|the same parameters)(outputs_differ?; outputs of
--   {output_bytes:bytes}, elsewhere {usual_output_bytes:bytes})(temps_differ?; temps of
--   {temp_bytes:bytes}, elsewhere {usual_temp_bytes:bytes}); {instruction_count:n} instructions,
--   elsewhere {usual_instruction_count:n}.
-- columns:
--   capture_id: the capture of the host that differs from most
--   bytes: its plan (bytes)
--   hosts: hosts with a plan of that name
--   usual_votes: of these, with the plan that most have
--   usual_plan_bytes: that plan (bytes)
--   parameter_bytes: its parameters (bytes)
--   usual_parameter_bytes: those of the usual plan (bytes)
--   output_bytes: its outputs (bytes)
--   usual_output_bytes: those of the usual plan (bytes)
--   temp_bytes: its temps (bytes)
--   usual_temp_bytes: those of the usual plan (bytes)
--   instruction_count: its instructions
--   usual_instruction_count: those of the usual plan
--   hostless: 1 when the host has no name, else 0
--   two_hosts: 1 when there are only two, else 0
--   sizes_differ: 1 when the plans differ in size, else 0
--   parameters_differ: 1 when the parameters do
--   outputs_differ: 1 when the outputs do
--   temps_differ: 1 when the temps do
CREATE VIEW plan_differs_between_hosts AS
WITH placed AS (
  SELECT
    c.capture_id, c.run, c.host,
    m.module_id, m.name, m.plan_bytes, m.parameter_bytes, m.output_bytes, m.temp_bytes,
    m.instruction_count, COALESCE(m.platform, '') AS platform,
    ROW_NUMBER() OVER (
      PARTITION BY c.capture_id, m.name
      ORDER BY m.plan_bytes DESC NULLS LAST, m.instruction_count DESC NULLS LAST, m.module_id
    ) AS place
  FROM modules m
  JOIN captures c ON c.capture_id = m.capture_id
  JOIN jobs j ON j.run = c.run
  WHERE j.hosts > 1 AND c.status = 'complete' AND m.plan_bytes IS NOT NULL
),
voted AS (
  SELECT
    p.*,
    COUNT(*) OVER (PARTITION BY p.run, p.name, p.platform) AS hosts,
    COUNT(*) OVER (
      PARTITION BY p.run, p.name, p.platform, p.plan_bytes, p.parameter_bytes, p.output_bytes,
        p.temp_bytes, p.instruction_count
    ) AS votes
  FROM placed p
  WHERE p.place = 1
),
ordered AS (
  SELECT
    v.*,
    ROW_NUMBER() OVER (
      PARTITION BY v.run, v.name, v.platform
      ORDER BY v.votes DESC NULLS LAST, v.plan_bytes NULLS FIRST, v.instruction_count NULLS FIRST,
        v.capture_id
    ) AS vote_place
  FROM voted v
),
usual AS (
  SELECT
    o.*,
    MAX(CASE WHEN o.vote_place = 1 THEN o.votes END) OVER w AS usual_votes,
    MAX(CASE WHEN o.vote_place = 1 THEN o.plan_bytes END) OVER w AS usual_plan_bytes,
    MAX(CASE WHEN o.vote_place = 1 THEN o.parameter_bytes END) OVER w AS usual_parameter_bytes,
    MAX(CASE WHEN o.vote_place = 1 THEN o.output_bytes END) OVER w AS usual_output_bytes,
    MAX(CASE WHEN o.vote_place = 1 THEN o.temp_bytes END) OVER w AS usual_temp_bytes,
    MAX(CASE WHEN o.vote_place = 1 THEN o.instruction_count END) OVER w AS usual_instruction_count
  FROM ordered o
  WINDOW w AS (PARTITION BY o.run, o.name, o.platform)
)
SELECT
  u.capture_id,
  u.run,
  u.host,
  CAST(NULL AS BIGINT) AS device,
  CAST(NULL AS BIGINT) AS device_id,
  u.module_id,
  u.name AS module_name,
  CAST(NULL AS BIGINT) AS execution_id,
  CASE WHEN u.plan_bytes <> u.usual_plan_bytes THEN 'warning' ELSE 'info' END AS severity,
  'read' AS evidence,
  u.plan_bytes AS bytes,
  u.hosts,
  u.usual_votes,
  u.usual_plan_bytes,
  u.parameter_bytes,
  u.usual_parameter_bytes,
  u.output_bytes,
  u.usual_output_bytes,
  u.temp_bytes,
  u.usual_temp_bytes,
  u.instruction_count,
  u.usual_instruction_count,
  CASE WHEN u.host IS NULL THEN 1 ELSE 0 END AS hostless,
  CASE WHEN u.hosts = 2 THEN 1 ELSE 0 END AS two_hosts,
  CASE WHEN u.plan_bytes <> u.usual_plan_bytes THEN 1 ELSE 0 END AS sizes_differ,
  CASE WHEN u.parameter_bytes <> u.usual_parameter_bytes THEN 1 ELSE 0 END AS parameters_differ,
  CASE WHEN u.output_bytes <> u.usual_output_bytes THEN 1 ELSE 0 END AS outputs_differ,
  CASE WHEN u.temp_bytes <> u.usual_temp_bytes THEN 1 ELSE 0 END AS temps_differ
FROM usual u
WHERE (u.plan_bytes <> u.usual_plan_bytes
    OR u.parameter_bytes <> u.usual_parameter_bytes
    OR u.output_bytes <> u.usual_output_bytes
    OR u.temp_bytes <> u.usual_temp_bytes
    OR u.instruction_count <> u.usual_instruction_count)
  AND (u.plan_bytes >= (SELECT s.setting FROM settings s WHERE s.name = 'plan_differs_min_bytes')
    OR u.usual_plan_bytes
      >= (SELECT s.setting FROM settings s WHERE s.name = 'plan_differs_min_bytes'));
