-- id: already_rematerialized
-- title: XLA already computes values again to save memory
-- rank: 220
-- hint: yes
-- asks: Did the compiler rematerialize instructions to get under its memory limit?
-- needs: a plan
-- tags: plan, remat
-- severity: info: healthy programs have it
-- cause: XLA saw at compile time that the program is near its limit, and traded time for memory by
--   itself.
-- how to read: Counted are instructions with a .remat part in their name, without bitcasts and
--   get-tuple-elements, which cost nothing. Compiler flags will not find much more: expect the fix
--   from the program.
-- next: oomdb query --db oom.db "SELECT name, plan_bytes, remat_compute_count FROM modules
--   WHERE remat_compute_count > 0"
-- says: XLA already rematerialized {remat_compute_count:n} instructions of {module_name}: expect
--   the fix from the program
-- detail: {remat_compute_count:n} of {instruction_count:n} instructions are computed a second time
--   to stay under the compiler's limit (read; bitcasts and get-tuple-elements not counted).
-- columns:
--   device: always NULL: a plan is the same on every device
--   device_id: always NULL
--   execution_id: always NULL
--   severity: info
--   evidence: read
--   bytes: always NULL
--   remat_compute_count: instructions that are computed a second time
--   instruction_count: its instructions
CREATE VIEW already_rematerialized AS
SELECT
  c.capture_id,
  c.run,
  c.host,
  CAST(NULL AS BIGINT) AS device,
  CAST(NULL AS BIGINT) AS device_id,
  m.module_id,
  m.name AS module_name,
  CAST(NULL AS BIGINT) AS execution_id,
  'info' AS severity,
  'read' AS evidence,
  CAST(NULL AS BIGINT) AS bytes,
  m.remat_compute_count,
  m.instruction_count
FROM modules m
JOIN captures c ON c.capture_id = m.capture_id
WHERE m.remat_compute_count >= (SELECT s.setting FROM settings s
  WHERE s.name = 'remat_min_instructions');
