-- id: growth_survivors
-- title: What survives the executions of a growing module, by origin
-- columns:
--   capture_id: the capture
--   device_id: the device
--   module_id: the module that grows
--   position: from 1, most bytes first
--   origin: where the bytes came from; outputs of one execution are one origin
--   own_sequence: the execution of the module itself whose outputs they are; NULL for other origins
--   bytes: bytes still live at its last start (bytes)
--   count: allocations
CREATE VIEW growth_survivors AS
WITH live AS (
  SELECT
    g.capture_id,
    g.device_id,
    g.module_id,
    x.origin_id,
    CASE
      WHEN x.purpose = 'output' AND x.module_id = g.module_id THEN e.sequence
    END AS own_sequence,
    x.bytes
  FROM growth g
  JOIN captures c ON c.capture_id = g.capture_id AND c.status = 'complete'
  JOIN stored_allocations x
    ON x.allocator_id = g.allocator_id
    AND x.alloc_ns >= g.first_start_ns
    AND x.alloc_ns < g.last_start_ns
  LEFT JOIN stored_executions e ON e.execution_id = x.execution_id
  WHERE x.free_ns IS NULL OR x.free_ns >= g.last_start_ns
),
-- By the origin's id, since texts are long to compare.
grouped AS (
  SELECT
    l.capture_id,
    l.device_id,
    l.module_id,
    l.origin_id,
    l.own_sequence,
    CAST(SUM(l.bytes) AS BIGINT) AS bytes,
    COUNT(*) AS count
  FROM live l
  GROUP BY l.device_id, l.own_sequence, l.origin_id, l.capture_id, l.module_id
),
named AS (
  SELECT
    g.capture_id,
    g.device_id,
    g.module_id,
    COALESCE(o.content, 'unknown') AS origin,
    g.own_sequence,
    g.bytes,
    g.count
  FROM grouped g
  LEFT JOIN strings o ON o.string_id = g.origin_id
)
SELECT
  r.capture_id,
  r.device_id,
  r.module_id,
  ROW_NUMBER() OVER (
    PARTITION BY r.capture_id, r.device_id
    ORDER BY r.bytes DESC NULLS LAST, r.own_sequence NULLS LAST, r.origin NULLS FIRST
  ) AS position,
  r.origin,
  r.own_sequence,
  r.bytes,
  r.count
FROM named r;
