-- id: co_residency
-- title: Modules that ran on one device in a capture: what they need beside one another
-- words label: {first_module_name} and {second_module_name} need [{needs_low_bytes:bytes} to
--   ]{needs_high_bytes:bytes} together[ of {capacity_bytes:bytes}]
-- columns:
--   capture_id: the capture
--   device_id: the device
--   device: its ordinal as recorded
--   position: from 1, most bytes together first
--   label: what they need together
--   first_module_id: the module with the larger plan
--   first_module_name: its name
--   first_plan_bytes: what it needs (bytes)
--   first_parameter_bytes: of that, parameters: they stay while the other runs (bytes)
--   second_module_id: the other one
--   second_module_name: its name
--   second_plan_bytes: what it needs (bytes)
--   second_parameter_bytes: of that, parameters (bytes)
--   alike_bytes: parameters of one that have the shape of one of the other: the same arrays, or a
--     second copy of them (bytes)
--   shared: 1 when less was in use at a start than both sets of parameters take, so that they share
--     arrays; NULL: unknown
--   needs_low_bytes: while one of them runs, with the parameters of the other, when all that are
--     alike are the same arrays (bytes); NULL when none are alike
--   needs_high_bytes: when none of them are (bytes)
--   capacity_bytes: what the device may use (bytes)
--   fits: 1 when the high need fits, 0 when the low one does not, else NULL
--   evidence: inferred
-- how to read: For the largest modules of a device that ran, in pairs. Both are taken to keep their
--   parameters while the other runs; a program that drops them in between needs less.
CREATE VIEW co_residency AS
WITH ranked AS (
  SELECT
    d.capture_id,
    d.device_id,
    d.device,
    d.module_id,
    d.label AS module_name,
    d.plan_bytes,
    d.parameter_bytes,
    d.capacity_bytes,
    ROW_NUMBER() OVER (
      PARTITION BY d.capture_id, d.device_id
      ORDER BY d.plan_bytes DESC NULLS LAST, d.module_id
    ) AS place
  FROM module_devices d
  WHERE d.execution_count > 0
    AND d.plan_bytes >= (SELECT t.setting FROM settings t WHERE t.name = 'co_residency_min_bytes')
    AND d.parameter_bytes IS NOT NULL
),
leading AS (
  SELECT
    r.*,
    (SELECT MIN(e.in_use_at_start_bytes)
      FROM stored_executions e
      WHERE e.device_id = r.device_id AND e.module_id = r.module_id) AS least_bytes
  FROM ranked r
  WHERE r.place <= (SELECT t.setting FROM settings t WHERE t.name = 'co_residency_modules')
),
shapes AS (
  SELECT
    l.capture_id, l.device_id, l.module_id, p.shape, COUNT(*) AS count, MIN(p.bytes) AS each_bytes
  FROM leading l
  JOIN plan_allocations p ON p.module_id = l.module_id
  WHERE p.class = 'parameter' AND p.memory_space = 0 AND p.is_tuple = 0 AND p.shape IS NOT NULL
  GROUP BY l.capture_id, l.device_id, l.module_id, p.shape
),
alike AS (
  SELECT
    a.capture_id,
    a.device_id,
    a.module_id AS first_module_id,
    b.module_id AS second_module_id,
    CAST(SUM(CASE WHEN a.count < b.count THEN a.count ELSE b.count END
      * CASE WHEN a.each_bytes < b.each_bytes THEN a.each_bytes ELSE b.each_bytes END) AS BIGINT)
      AS bytes
  FROM shapes a
  JOIN shapes b
    ON b.capture_id = a.capture_id AND b.device_id = a.device_id AND b.shape = a.shape
  GROUP BY a.capture_id, a.device_id, a.module_id, b.module_id
),
pairs AS (
  SELECT
    a.capture_id,
    a.device_id,
    a.device,
    a.capacity_bytes,
    a.module_id AS first_module_id,
    a.module_name AS first_module_name,
    a.plan_bytes AS first_plan_bytes,
    a.parameter_bytes AS first_parameter_bytes,
    b.module_id AS second_module_id,
    b.module_name AS second_module_name,
    b.plan_bytes AS second_plan_bytes,
    b.parameter_bytes AS second_parameter_bytes,
    k.bytes AS alike_bytes,
    CASE
      WHEN a.least_bytes < a.parameter_bytes + b.parameter_bytes
        OR b.least_bytes < a.parameter_bytes + b.parameter_bytes THEN 1
    END AS shared,
    CASE
      WHEN a.plan_bytes + b.parameter_bytes >= b.plan_bytes + a.parameter_bytes
        THEN a.plan_bytes + b.parameter_bytes
      ELSE b.plan_bytes + a.parameter_bytes
    END AS needs_high_bytes
  FROM leading a
  JOIN leading b
    ON b.capture_id = a.capture_id AND b.device_id = a.device_id AND b.place > a.place
  LEFT JOIN alike k
    ON k.capture_id = a.capture_id AND k.device_id = a.device_id
    AND k.first_module_id = a.module_id AND k.second_module_id = b.module_id
)
SELECT
  p.capture_id,
  p.device_id,
  p.device,
  ROW_NUMBER() OVER (
    PARTITION BY p.capture_id, p.device_id
    ORDER BY
      p.needs_high_bytes DESC NULLS LAST,
      p.first_module_id NULLS LAST,
      p.second_module_id NULLS LAST
  ) AS position,
  p.first_module_id,
  p.first_module_name,
  p.first_plan_bytes,
  p.first_parameter_bytes,
  p.second_module_id,
  p.second_module_name,
  p.second_plan_bytes,
  p.second_parameter_bytes,
  COALESCE(p.alike_bytes, 0) AS alike_bytes,
  CASE WHEN p.alike_bytes > 0 THEN p.shared END AS shared,
  p.needs_high_bytes - p.alike_bytes AS needs_low_bytes,
  p.needs_high_bytes,
  p.capacity_bytes,
  CASE
    WHEN p.needs_high_bytes <= p.capacity_bytes THEN 1
    WHEN p.needs_high_bytes - COALESCE(p.alike_bytes, 0) > p.capacity_bytes THEN 0
  END AS fits,
  'inferred' AS evidence
FROM pairs p;
