-- id: oom_event_modules
-- title: Which compiled module an error log is about
-- empty without: oom_events
-- columns:
--   oom_event_id: the event
--   module_id: the module, of a capture or dump of the same run
--   module_name: its name
--   matched_by: name and size, name, size, shapes (it alone holds all that the error log lists), or
--     failure (it alone failed in the run)
-- how to read: An error log and a plan are joined within one run (give both the same --run). Sizes
--   in error logs are rounded, so they match when they are equal in the printed digits. An error
--   log that names a module is never joined to one of another name; one that names none is joined
--   by what it lists, or to the only module of the run that failed.
CREATE VIEW oom_event_modules AS
-- Half a unit of the last printed digit: two decimals, from kilobytes down one.
WITH stated AS (
  SELECT
    o.oom_event_id,
    c.run,
    o.module_name,
    o.kind,
    o.fatal,
    -- On the device, not while compiling.
    CASE
      WHEN COALESCE(o.memory_space, 'hbm') IN ('hbm', 'gpu')
        AND LOWER(COALESCE(o.error_code, '')) NOT LIKE 'e1%'
        AND COALESCE(o.form, '') NOT
          IN (SELECT k.form FROM oom_kinds k WHERE k.stage = 'compile') THEN 1
      ELSE 0
    END AS at_run_time,
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
-- What the error log lists, where it names no module: a program of the run that holds all of these
-- shapes is the one, if it is alone.
listed AS (
  SELECT s.oom_event_id, s.run, b.plain_shape AS shape
  FROM stated s
  JOIN oom_buffers b ON b.oom_event_id = s.oom_event_id
  WHERE s.module_name IS NULL AND b.plain_shape IS NOT NULL
  GROUP BY s.oom_event_id, s.run, b.plain_shape
),
wanted AS (
  SELECT l.oom_event_id, COUNT(*) AS shapes
  FROM listed l
  GROUP BY l.oom_event_id
),
held AS (
  SELECT l.oom_event_id, m.module_id, l.shape
  FROM listed l
  JOIN captures c ON c.run = l.run
  JOIN stored_modules m ON m.capture_id = c.capture_id
  JOIN strings n ON n.content = l.shape
  JOIN stored_buffers b ON b.plan_id = m.plan_id AND b.shape_id = n.string_id
  GROUP BY l.oom_event_id, m.module_id, l.shape
),
holders AS (
  SELECT h.oom_event_id, h.module_id, COUNT(*) AS shapes
  FROM held h
  GROUP BY h.oom_event_id, h.module_id
),
by_shapes AS (
  SELECT h.oom_event_id, MIN(h.module_id) AS module_id
  FROM holders h
  JOIN wanted w ON w.oom_event_id = h.oom_event_id AND w.shapes = h.shapes
  GROUP BY h.oom_event_id
  HAVING COUNT(*) = 1
),
-- A request that failed while the program ran, in a run whose captures saw one module fail.
failed AS (
  SELECT s.oom_event_id, e.module_id
  FROM stated s
  JOIN captures c ON c.run = s.run
  JOIN stored_executions e ON e.capture_id = c.capture_id AND e.failed = 1
  WHERE s.module_name IS NULL AND s.fatal = 1 AND s.at_run_time = 1 AND c.status = 'complete'
    AND e.module_id IS NOT NULL
  GROUP BY s.oom_event_id, e.module_id
),
by_failure AS (
  SELECT f.oom_event_id, MIN(f.module_id) AS module_id
  FROM failed f
  GROUP BY f.oom_event_id
  HAVING COUNT(*) = 1
),
united AS (
  SELECT
    d.oom_event_id, d.module_id, d.module_name, d.same_name, d.same_size, d.plan_bytes,
    0 AS same_shapes
  FROM candidates d
  WHERE d.same_name + d.same_size > 0
  UNION ALL
  SELECT x.oom_event_id, m.module_id, m.name, 0, 0, m.plan_bytes, 2
  FROM by_shapes x
  JOIN modules m ON m.module_id = x.module_id
  UNION ALL
  SELECT x.oom_event_id, m.module_id, m.name, 0, 0, m.plan_bytes, 1
  FROM by_failure x
  JOIN modules m ON m.module_id = x.module_id
),
ordered AS (
  SELECT
    d.oom_event_id,
    d.module_id,
    d.module_name,
    d.same_name,
    d.same_size,
    d.same_shapes,
    ROW_NUMBER() OVER (
      PARTITION BY d.oom_event_id
      ORDER BY d.same_size DESC NULLS LAST, d.same_name DESC NULLS LAST,
        d.same_shapes DESC NULLS LAST, d.plan_bytes DESC NULLS LAST, d.module_id
    ) AS place
  FROM united d
)
SELECT
  r.oom_event_id,
  r.module_id,
  r.module_name,
  CASE
    WHEN r.same_name + r.same_size = 2 THEN 'name and size'
    WHEN r.same_name = 1 THEN 'name'
    WHEN r.same_size = 1 THEN 'size'
    WHEN r.same_shapes = 2 THEN 'shapes'
    ELSE 'failure'
  END AS matched_by
FROM ordered r
WHERE r.place = 1;
