-- id: plan_fragmentation
-- title: Part of the temp block of a plan is never used at once
-- rank: 135
-- hint: yes
-- incident: device
-- explained by: step_does_not_fit, compile_oom
-- asks: Is the block that a plan asks for its temps much larger than what is live in it at once?
-- needs: a plan with a heap trace
-- tags: plan, fragmentation
-- severity: error when an execution failed that would fit without the holes, warning when a step
--   that does not fit would fit without them, else info
-- cause: XLA gives every temp a fixed place in one block. Temps of unlike sizes and lifetimes leave
--   holes between them that no other temp fits into.
-- how to read: The holes are the block, less the most bytes that are live in it at once, less temps
--   that are not in the heap trace. A few per cent are usual. They can be smaller than they look:
--   no packing may exist without them.
-- next: oomdb query --db oom.db "SELECT module_name, temp_bytes, heap_peak_bytes, bytes FROM
--   plan_fragmentation"
-- says: The temp block of {module_name} has {bytes:bytes} of holes
-- detail: The block takes {temp_bytes:bytes} (read); at most {heap_peak_bytes:bytes} are live in it
--   at once (read)[, {untraced_bytes:bytes} are in no trace]. The holes are {plan_percent:%} of the
--   plan of {plan_bytes:bytes}.(would_fit? The plan does not fit; without the holes it would
--   (inferred).)(not_enough? The plan does not fit, and would not without the holes either
--   (inferred).)
-- columns:
--   execution_id: the first execution that failed before launch
--   evidence: read
--   bytes: the holes: what a perfect packing would save (bytes)
--   temp_bytes: the temp block (bytes)
--   heap_peak_bytes: most temp bytes live at once (bytes)
--   untraced_bytes: temps that are not in the heap trace (bytes); NULL without any
--   plan_bytes: what the plan needs (bytes)
--   plan_percent: the holes, as a share of the plan (per cent, rounded down)
--   needs_bytes: plan and other arrays, without the holes (bytes)
--   capacity_bytes: what the device may use (bytes)
--   would_fit: 1 when the plan does not fit but would without the holes, else 0
--   not_enough: 1 when it would not fit without them either, else 0
CREATE VIEW plan_fragmentation AS
-- Looked at only where the holes may matter, since it reads the plan's buffers.
WITH wide AS (
  SELECT
    m.module_id,
    (SELECT CAST(SUM(b.bytes) AS BIGINT)
      FROM buffers b
      WHERE b.module_id = m.module_id AND b.class = 'temp' AND b.memory_space = 0
        AND b.first_live IS NULL) AS untraced_bytes
  FROM modules m
  WHERE m.temp_bytes - m.heap_peak_bytes
      >= (SELECT t.setting FROM settings t WHERE t.name = 'plan_holes_min_bytes')
    AND 100 * (m.temp_bytes - m.heap_peak_bytes)
      >= (SELECT t.setting FROM settings t WHERE t.name = 'plan_holes_percent') * m.plan_bytes
),
sized AS (
  SELECT
    d.capture_id,
    d.run,
    d.host,
    d.device,
    d.device_id,
    d.module_id,
    d.module_name,
    f.execution_id,
    d.temp_bytes,
    d.heap_peak_bytes,
    w.untraced_bytes,
    d.temp_bytes - d.heap_peak_bytes - COALESCE(w.untraced_bytes, 0) AS bytes,
    d.plan_bytes,
    d.plan_bytes + COALESCE(f.others_bytes, 0) AS total_bytes,
    d.capacity_bytes,
    CASE WHEN d.launched_count = 0 AND d.plan_bytes > d.capacity_bytes THEN 1 ELSE 0 END
      AS over_capacity
  FROM wide w
  JOIN module_devices d ON d.module_id = w.module_id
  LEFT JOIN failed_executions f
    ON f.module_id = d.module_id
    AND (f.device_id = d.device_id OR (f.device_id IS NULL AND d.device_id IS NULL))
    AND f.place = 1
),
judged AS (
  SELECT
    z.*,
    z.total_bytes - z.bytes AS needs_bytes,
    CASE WHEN z.over_capacity = 1 AND z.total_bytes - z.bytes <= z.capacity_bytes THEN 1 ELSE 0 END
      AS would_fit
  FROM sized z
)
SELECT
  j.*,
  CASE
    WHEN j.would_fit = 1 AND j.execution_id IS NOT NULL THEN 'error'
    WHEN j.would_fit = 1 THEN 'warning'
    ELSE 'info'
  END AS severity,
  'read' AS evidence,
  CAST((100 * j.bytes - 100 * j.bytes % NULLIF(j.plan_bytes, 0)) / NULLIF(j.plan_bytes, 0)
    AS BIGINT) AS plan_percent,
  CASE WHEN j.over_capacity = 1 AND j.would_fit = 0 THEN 1 ELSE 0 END AS not_enough
FROM judged j
WHERE j.bytes >= (SELECT t.setting FROM settings t WHERE t.name = 'plan_holes_min_bytes')
  AND 100 * j.bytes
    >= (SELECT t.setting FROM settings t WHERE t.name = 'plan_holes_percent') * j.plan_bytes;

-- title: How to get by with a smaller temp block
-- words fix by remedy:
--   micro_batch: split the batch into micro-batches: smaller temps leave smaller holes
--   report_to_xla: report it to XLA with a dump of this compile (XLA_FLAGS=--xla_dump_to=DIR): the
--     packing is the compiler's
-- words cost by remedy:
--   micro_batch: step time; an accumulator of the size of the gradients
--   report_to_xla: it helps a later version
-- columns:
--   saving_bytes: NULL for micro-batches: unknown; the holes at most for a better packing (bytes)
--   needs_bytes: plan and other arrays, less the saving (bytes)
--   changes_results: 0
--   evidence: inferred
CREATE VIEW plan_fragmentation_remedies AS
WITH remedies AS (
  SELECT 1 AS position, 'micro_batch' AS remedy
  UNION ALL SELECT 2, 'report_to_xla'
)
SELECT
  f.capture_id,
  f.device_id,
  f.module_id,
  r.position,
  r.remedy,
  CASE WHEN r.remedy = 'report_to_xla' THEN f.bytes END AS saving_bytes,
  CASE WHEN r.remedy = 'report_to_xla' THEN f.needs_bytes END AS needs_bytes,
  CASE
    WHEN r.remedy <> 'report_to_xla' OR f.capacity_bytes IS NULL THEN NULL
    WHEN f.needs_bytes <= f.capacity_bytes THEN 1
    ELSE 0
  END AS fits,
  0 AS changes_results,
  'inferred' AS evidence
FROM plan_fragmentation f
CROSS JOIN remedies r;
