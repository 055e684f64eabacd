-- id: growth
-- title: The module that every device's growth is put down to
-- columns:
--   capture_id: the capture
--   device_id: the device, one row each
--   module_id: the module whose own outputs lead what survives, else the one that ran most
--   allocator_id: the device's pool
--   executions: its executions
--   first_start_ns: start of the first of them (Unix ns)
--   last_start_ns: start of the last of them (Unix ns)
--   first_in_use_bytes: in use when the first started (bytes)
--   last_in_use_bytes: in use when the last started (bytes)
--   growth_bytes: growth per execution (bytes)
--   steady: 1 when the floor rises with every execution, by about the same each time
--   rise_count: starts whose floor rose
--   rise_distance: executions from one rise to the next, the median
--   first_rise: the execution that left the first rise behind, from 1
--   few_rises: 1 when there are only two rises, which may be chance
--   may_be_flushed: 1 when in-use fell by as much before: a list may be flushed again
--   survivor_bytes: allocated from the first start on and live at the last (bytes); NULL on a
--     truncated capture
--   own_output_bytes: outputs of this module among these (bytes)
CREATE VIEW growth AS
-- Every module of a loop sees the same rise, an eval step that of the train step too.
WITH chosen AS (
  SELECT
    g.capture_id,
    g.device_id,
    g.module_id,
    g.allocator_id,
    g.executions,
    g.first_start_ns,
    g.last_start_ns,
    g.first_in_use_bytes,
    g.last_in_use_bytes,
    g.growth_bytes,
    g.steady,
    g.rise_count,
    g.rise_distance,
    g.first_rise,
    g.few_rises,
    g.may_be_flushed,
    g.survivor_bytes,
    g.own_output_bytes,
    ROW_NUMBER() OVER (
      PARTITION BY g.capture_id, g.device_id
      ORDER BY
        CASE WHEN 2 * g.own_output_bytes >= g.survivor_bytes AND g.own_output_bytes > 0 THEN 0
          ELSE 1 END,
        g.executions DESC NULLS LAST,
        g.own_output_bytes DESC NULLS LAST,
        g.module_id
    ) AS place
  FROM growing_modules g
)
SELECT
  c.capture_id,
  c.device_id,
  c.module_id,
  c.allocator_id,
  c.executions,
  c.first_start_ns,
  c.last_start_ns,
  c.first_in_use_bytes,
  c.last_in_use_bytes,
  c.growth_bytes,
  c.steady,
  c.rise_count,
  c.rise_distance,
  c.first_rise,
  c.few_rises,
  c.may_be_flushed,
  c.survivor_bytes,
  c.own_output_bytes
FROM chosen c
WHERE c.place = 1;
