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
    COALESCE(x.origin, 'unknown') AS origin,
    CASE
      WHEN x.purpose = 'output' AND x.module_id = g.module_id THEN (
        SELECT MAX(e.sequence) FROM executions e WHERE e.execution_id = x.execution_id
      )
    END AS own_sequence,
    x.bytes
  FROM growth g
  JOIN captures c ON c.capture_id = g.capture_id AND c.status = 'complete'
  JOIN allocations x
    ON x.allocator_id = g.allocator_id
    AND x.alloc_ns >= g.first_start_ns
    AND x.alloc_ns < g.last_start_ns
  WHERE x.free_ns IS NULL OR x.free_ns >= g.last_start_ns
),
grouped AS (
  SELECT
    l.capture_id,
    l.device_id,
    l.module_id,
    l.origin,
    l.own_sequence,
    CAST(SUM(l.bytes) AS BIGINT) AS bytes,
    COUNT(*) AS count
  FROM live l
  GROUP BY l.capture_id, l.device_id, l.module_id, l.origin, l.own_sequence
)
SELECT
  r.capture_id,
  r.device_id,
  r.module_id,
  ROW_NUMBER() OVER (
    PARTITION BY r.device_id
    ORDER BY r.bytes DESC, r.own_sequence NULLS LAST, r.origin
  ) AS position,
  r.origin,
  r.own_sequence,
  r.bytes,
  r.count
FROM grouped r;
