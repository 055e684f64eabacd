-- id: oom_event_modules
-- title: Which compiled module an error log is about
-- empty without: oom_events
-- columns:
--   oom_event_id: the event
--   module_id: the module, of a capture or dump of the same run
--   module_name: its name
--   matched_by: name and size, name, or size
-- how to read: An error log and a plan are joined within one run (give both the same --run). Sizes
--   in error logs are rounded, so they match when they are equal in the printed digits. An error
--   log that names a module is never joined to one of another name.
CREATE VIEW oom_event_modules AS
-- Half a unit of the last printed digit: two decimals, from kilobytes down one.
WITH stated AS (
  SELECT
    o.oom_event_id,
    c.run,
    o.module_name,
    o.kind,
    o.requested_bytes,
    o.used_bytes,
    o.program_bytes,
    o.temp_bytes,
    CASE
      WHEN COALESCE(o.used_bytes, o.requested_bytes) >= 1099511627776 THEN 5497558139
      WHEN COALESCE(o.used_bytes, o.requested_bytes) >= 1073741824 THEN 5368710
      WHEN COALESCE(o.used_bytes, o.requested_bytes) >= 1048576 THEN 5243
      ELSE 52
    END AS digit_bytes
  FROM oom_events o
  JOIN captures c ON c.capture_id = o.capture_id
  -- On-chip memory is not part of plan_bytes: of such an error log only the name counts.
  WHERE COALESCE(o.memory_space, 'hbm') IN ('hbm', 'gpu', 'host') OR o.module_name IS NOT NULL
),
candidates AS (
  SELECT
    s.oom_event_id,
    m.module_id,
    m.name AS module_name,
    m.plan_bytes,
    CASE WHEN s.module_name = m.name THEN 1 ELSE 0 END AS same_name,
    CASE
      -- What the compiler had summed: everything, or the program without its arguments.
      WHEN s.used_bytes BETWEEN m.plan_bytes - s.digit_bytes AND m.plan_bytes + s.digit_bytes
        THEN 1
      WHEN s.used_bytes BETWEEN m.temp_bytes - s.digit_bytes AND m.temp_bytes + s.digit_bytes
        THEN 1
      -- What the run time asked for: the temps in one block, which the allocator rounds up.
      WHEN m.temp_bytes > 0
        AND s.requested_bytes BETWEEN m.temp_bytes - s.digit_bytes AND m.temp_bytes + s.digit_bytes
        THEN 1
      WHEN m.temp_bytes > 0
        AND s.temp_bytes BETWEEN m.temp_bytes - s.digit_bytes AND m.temp_bytes + s.digit_bytes
        THEN 1
      ELSE 0
    END AS same_size
  FROM stated s
  JOIN captures c ON c.run = s.run
  JOIN modules m ON m.capture_id = c.capture_id
  WHERE m.plan_bytes > 0 AND (s.module_name IS NULL OR s.module_name = m.name)
),
ordered AS (
  SELECT
    d.oom_event_id,
    d.module_id,
    d.module_name,
    d.same_name,
    d.same_size,
    ROW_NUMBER() OVER (
      PARTITION BY d.oom_event_id
      ORDER BY d.same_size DESC NULLS LAST, d.plan_bytes DESC NULLS LAST, d.module_id
    ) AS place
  FROM candidates d
  WHERE d.same_name + d.same_size > 0
)
SELECT
  r.oom_event_id,
  r.module_id,
  r.module_name,
  CASE
    WHEN r.same_name + r.same_size = 2 THEN 'name and size'
    WHEN r.same_name = 1 THEN 'name'
    ELSE 'size'
  END AS matched_by
FROM ordered r
WHERE r.place = 1;
