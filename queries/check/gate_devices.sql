-- id: gate_devices
-- title: What is left behind per execution on every device that was watched for long enough
-- columns:
--   capture_id: the capture
--   run: its run
--   host: its host
--   device_id: the device
--   device: its ordinal as recorded
--   module_name: the module that growth is put down to; without growth the one that ran most
--   growth_bytes: growth per execution (bytes); 0: nothing grows
--   content_hash: the capture's content, for an order that all copies of the database share
-- how to read: A device on which no module ran often enough (setting growth_min_executions) with
--   its memory in use known has no row: nothing is known of it.
CREATE VIEW gate_devices AS
WITH watched AS (
  SELECT
    s.capture_id, s.device_id, s.module_id,
    ROW_NUMBER() OVER (
      PARTITION BY s.capture_id, s.device_id
      ORDER BY s.executions DESC NULLS LAST, s.first_start_ns NULLS LAST, s.module_id
    ) AS place
  FROM stored_module_starts s
  WHERE s.executions >= (SELECT t.setting FROM settings t WHERE t.name = 'growth_min_executions')
)
SELECT
  w.capture_id,
  c.run,
  c.host,
  w.device_id,
  d.ordinal AS device,
  m.name AS module_name,
  COALESCE(g.growth_bytes, 0) AS growth_bytes,
  c.content_hash
FROM watched w
JOIN captures c ON c.capture_id = w.capture_id
JOIN devices d ON d.device_id = w.device_id
LEFT JOIN growth g ON g.capture_id = w.capture_id AND g.device_id = w.device_id
JOIN modules m ON m.module_id = COALESCE(g.module_id, w.module_id)
WHERE w.place = 1;
