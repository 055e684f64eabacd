-- id: effective_capacity
-- title: How much memory each device may use, and how that is known
-- columns:
--   capture_id: the capture
--   device_id: the device; NULL for a capture without devices (a dump, a bare plan)
--   device: its ordinal as recorded
--   device_kind: gpu, tpu or cpu
--   capacity_bytes: what may be used at most (bytes); NULL when nothing says it
--   capacity_source: pool, error log, setting or device memory; NULL when nothing says it
--   capacity_evidence: measured, read or inferred
--   memory_bytes: the device's memory (bytes), where the capture says it
--   allocator_id: the device's pool, the one that the program allocates from
--   place: 1 for the device of the capture that may use least
CREATE VIEW effective_capacity AS
-- A host pool has no device and never counts. Of several pools of a device the busiest is the
-- program's.
WITH pools AS (
  SELECT
    a.device_id,
    a.allocator_id,
    a.capacity_bytes,
    ROW_NUMBER() OVER (
      PARTITION BY a.device_id
      ORDER BY a.capture_peak_bytes DESC NULLS LAST, a.allocator_id
    ) AS place
  FROM allocators a
  WHERE a.device_id IS NOT NULL
),
-- An error log of the same run states the limit that was hit; the smallest is the one that binds.
texts AS (
  SELECT c.run, MIN(o.capacity_bytes) AS capacity_bytes
  FROM oom_events o
  JOIN captures c ON c.capture_id = o.capture_id
  LEFT JOIN oom_kinds k ON k.form = o.form
  WHERE o.memory_space IN ('hbm', 'gpu') AND o.capacity_bytes > 0
    AND COALESCE(k.says, 'failure') NOT IN ('remark', 'statistics')
  GROUP BY c.run
),
known AS (
  SELECT
    c.capture_id,
    d.device_id,
    d.ordinal AS device,
    d.kind AS device_kind,
    d.memory_bytes,
    o.allocator_id,
    o.capacity_bytes AS pool_bytes,
    t.capacity_bytes AS text_bytes,
    (SELECT s.setting FROM settings s WHERE s.name = 'capacity_bytes') AS set_bytes
  FROM captures c
  LEFT JOIN devices d ON d.capture_id = c.capture_id
  LEFT JOIN pools o ON o.device_id = d.device_id AND o.place = 1
  LEFT JOIN texts t ON t.run = c.run
),
chosen AS (
  SELECT
    k.capture_id,
    k.device_id,
    k.device,
    k.device_kind,
    COALESCE(k.pool_bytes, k.text_bytes, k.set_bytes, k.memory_bytes) AS capacity_bytes,
    CASE
      WHEN k.pool_bytes IS NOT NULL THEN 'pool'
      WHEN k.text_bytes IS NOT NULL THEN 'error log'
      WHEN k.set_bytes IS NOT NULL THEN 'setting'
      WHEN k.memory_bytes IS NOT NULL THEN 'device memory'
    END AS capacity_source,
    CASE
      WHEN k.pool_bytes IS NOT NULL THEN 'measured'
      WHEN k.text_bytes IS NOT NULL THEN 'read'
      WHEN k.set_bytes IS NOT NULL THEN 'read'
      WHEN k.memory_bytes IS NOT NULL THEN 'inferred'
    END AS capacity_evidence,
    k.memory_bytes,
    k.allocator_id
  FROM known k
)
SELECT
  h.capture_id,
  h.device_id,
  h.device,
  h.device_kind,
  h.capacity_bytes,
  h.capacity_source,
  h.capacity_evidence,
  h.memory_bytes,
  h.allocator_id,
  ROW_NUMBER() OVER (
    PARTITION BY h.capture_id
    ORDER BY h.capacity_bytes NULLS LAST, h.device NULLS FIRST, h.device_id NULLS FIRST
  ) AS place
FROM chosen h;
