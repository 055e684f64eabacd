-- id: arguments_above_budget
-- title: What a program is given and returns is above the compiler's budget
-- rank: 215
-- asks: Does the compiler say that arguments and outputs alone are above what it may use?
-- needs: the compiler's error log
-- tags: oom, compile, log
-- severity: warning: the compiler went on
-- cause: XLA brings a program below a limit by computing values again. Arguments and outputs are
--   held by the caller: no other schedule and no rematerialization makes them smaller.
-- empty without: oom_events
-- how to read: The limit is not all of the device's memory (on a GPU 80 % of it): the program may
--   run nevertheless. Where the same error log tells of a failure, that finding says this too.
-- next: oomdb query --db oom.db "SELECT line, message FROM oom_events WHERE fatal = 0"
-- says: Arguments and outputs alone are {bytes:bytes} above the compiler's budget
-- detail: [They take {arguments_bytes:bytes}, the budget is {capacity_bytes:bytes} (read). ]Nothing
--   is left for temps, and rematerialization can't help: it computes temps again, never what the
--   caller holds.[ The program as a whole needs {total_bytes:bytes} (read).]
-- columns:
--   capture_id: the error log
--   device: ordinal of the device; NULL when the error log names none
--   device_id: always NULL
--   module_id: the module of the same run, where one matches
--   module_name: its name, by the error log or by the match
--   execution_id: NULL: nothing ran
--   severity: warning
--   evidence: read
--   bytes: what they are above the budget by (bytes)
--   arguments_bytes: arguments and outputs (bytes); NULL when the error log does not say it
--   capacity_bytes: the budget (bytes); NULL when the error log does not say it
--   total_bytes: what the program needs (bytes); NULL when the error log does not say it
CREATE VIEW arguments_above_budget AS
WITH remarks AS (
  SELECT
    o.oom_event_id,
    ROW_NUMBER() OVER (
      PARTITION BY o.capture_id ORDER BY o.line DESC NULLS LAST, o.oom_event_id DESC
    ) AS place
  FROM oom_events o
  WHERE (o.kind = 'rematerialization_stopped' AND o.exceeded_bytes > 0)
    OR (o.kind = 'arguments_above_limit' AND o.arguments_bytes > o.capacity_bytes)
)
SELECT
  o.capture_id,
  c.run,
  c.host,
  o.device,
  CAST(NULL AS BIGINT) AS device_id,
  m.module_id,
  COALESCE(o.module_name, m.module_name) AS module_name,
  CAST(NULL AS BIGINT) AS execution_id,
  'warning' AS severity,
  'read' AS evidence,
  COALESCE(o.exceeded_bytes, o.arguments_bytes - o.capacity_bytes) AS bytes,
  o.arguments_bytes,
  o.capacity_bytes,
  o.total_bytes
FROM remarks r
JOIN oom_events o ON o.oom_event_id = r.oom_event_id
JOIN captures c ON c.capture_id = o.capture_id
LEFT JOIN oom_event_modules m ON m.oom_event_id = o.oom_event_id
WHERE r.place = 1
  AND NOT EXISTS (
    SELECT 1 FROM oom_failures f
    WHERE f.capture_id = o.capture_id AND f.stage IN ('compile', 'run')
  );

-- title: How to be given less, and return less
-- words fix by remedy:
--   shard_parameters: shard the arguments over the mesh (FSDP): 2 devices save half of them
--   donate: donate what the program returns updated: jax.jit(f, donate_argnums=...): argument and
--     output are one
--   smaller_batch: a smaller batch, where it is what is large
--   narrower_dtype: hold the arguments in a narrower type
-- words cost by remedy:
--   shard_parameters: network traffic, and the devices
--   donate: none, where the caller does not use them afterwards
--   smaller_batch: a smaller batch is another training
--   narrower_dtype: precision of these values
-- columns:
--   saving_bytes: NULL: the error log does not say which of them are large
--   needs_bytes: NULL: the error log does not say
--   fits: NULL: the error log does not say
CREATE VIEW arguments_above_budget_remedies AS
WITH remedies AS (
  SELECT 'donate' AS remedy, 1 AS position, 0 AS changes_results
  UNION ALL SELECT 'shard_parameters', 2, 0
  UNION ALL SELECT 'narrower_dtype', 3, 1
  UNION ALL SELECT 'smaller_batch', 4, 1
)
SELECT
  b.capture_id,
  b.device_id,
  b.module_id,
  r.remedy,
  r.position,
  CAST(NULL AS BIGINT) AS saving_bytes,
  CAST(NULL AS BIGINT) AS needs_bytes,
  CAST(NULL AS BIGINT) AS fits,
  r.changes_results,
  'inferred' AS evidence
FROM arguments_above_budget b
CROSS JOIN remedies r;
