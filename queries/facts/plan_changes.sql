-- id: plan_changes
-- title: What a program would need with a remedy, or with several together, by replaying its plan
-- columns:
--   module_id: the module
--   remedy: its key; those of several, joined by +
--   micro_batches: parts of the batch; NULL: it is not split
--   chunks: parts of the loss; NULL: it is not split
--   devices: devices that share parameters, optimizer state and batch; NULL: as before
--   needs_bytes: parameters, outputs, constants and temps then (bytes)
--   low_bytes: the low end of the range in which the truth lies (bytes); NULL: open
--   high_bytes: its high end (bytes); NULL: open
-- how to read: Only remedies that save something are there, each for 2, 4, 8, … parts. Plans that
--   are small, or far from the capacity, are not replayed (settings changes_min_…); oomdb what-if
--   asks for anything else.
CREATE VIEW plan_changes AS
SELECT
  m.module_id,
  c.remedy,
  c.micro_batches,
  c.chunks,
  c.devices,
  c.needs_bytes,
  c.low_bytes,
  c.high_bytes
FROM stored_modules m
JOIN stored_plan_changes c ON c.plan_id = m.plan_id;
