-- id: growth_holders
-- title: What the launching thread called between the executions of a growing module, the likeliest
--   to hold what they leave behind first
-- columns:
--   capture_id: the capture
--   device_id: the device
--   module_id: the module that grows
--   position: from 1; what only this host of a job called comes first, then calls that put
--     something into a container, then those called about as often as memory rose, then the latest
--   event: the event's name
--   container: 1 when it puts something into a container
--   caller: of a built-in, the call with a file that encloses it, else the nearest in time
--   only_host: 1 when of the hosts of the job only this one called it
--   gaps: gaps between two executions in which it was called
--   all_gaps: gaps that there are
--   last_start_ns: when it last started (Unix ns)
--   count: how often
CREATE VIEW growth_holders AS
WITH called AS (
  SELECT
    g.capture_id,
    g.device_id,
    g.module_id,
    k.event,
    k.caller,
    k.container,
    k.named_like_one,
    k.python,
    k.encloses,
    CASE WHEN k.only_host = 1 AND k.python = 1 THEN 1 ELSE 0 END AS only_host,
    -- Within a quarter: events are lost, and a list may hold one more than the last rise.
    CASE WHEN 4 * ABS(k.gaps - g.rise_count) <= g.rise_count + 4 THEN 1 ELSE 0 END AS as_often,
    k.gaps,
    k.all_gaps,
    k.calls,
    k.last_start_ns
  FROM growth g
  JOIN gap_calls k ON k.capture_id = g.capture_id AND k.module_id = g.module_id
),
ordered AS (
  SELECT
    c.*,
    ROW_NUMBER() OVER (
      PARTITION BY c.capture_id, c.device_id
      ORDER BY c.only_host DESC NULLS LAST, c.container DESC, c.as_often DESC NULLS LAST,
        c.named_like_one DESC, c.encloses, c.python DESC, c.last_start_ns DESC NULLS LAST,
        c.event NULLS FIRST, c.caller NULLS FIRST
    ) AS position
  FROM called c
)
SELECT
  o.capture_id,
  o.device_id,
  o.module_id,
  o.position,
  o.event,
  o.container,
  o.caller,
  o.only_host,
  o.gaps,
  o.all_gaps,
  o.last_start_ns,
  o.calls AS count
FROM ordered o
WHERE o.position <= (SELECT s.setting FROM settings s WHERE s.name = 'holders_max');
