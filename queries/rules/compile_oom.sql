-- id: compile_oom
-- title: The compiler rejected the program: it does not fit
-- rank: 20
-- verdict: did not compile
-- incident: device
-- asks: Did a compile stop because the program needs more device memory than there is?
-- needs: the compiler's error log; a dump of the same compile in the same run adds op names and
--   Python lines
-- tags: oom, compile, tpu
-- severity: error; warning where the error log has the report but not the error
-- cause: The compiler adds up all that the program allocates (arguments, outputs, temps, code,
--   reserve) before anything runs, and stops when the sum is above the device's memory.
-- empty without: oom_events
-- how to read: The branches are those of XLA's triage of error E1000: SparseCores or TensorCores, a
--   size that can't be meant, arguments that don't fit, one allocation above half of the memory (a
--   value of the gradient, or one that should not exist whole), or many that add up. Numbers are as
--   exact as the error log prints them.
-- next: oomdb query --db oom.db "SELECT label, bytes, count FROM finding_items WHERE finding_id
--   LIKE 'compile_oom%'"
-- words because by branch:
--   sparse_core: The SparseCores need {sparse_core_bytes:bytes}, the TensorCores
--     {tensor_core_bytes:bytes}: the embedding tables lead, not the dense model.
--   absurd: [That is more than {capacity_times:n} times what there is](unlimited?No device has that
--     much): a shape or sharding mistake, not a matter of tuning.
--   arguments: Its arguments take {arguments_bytes:bytes}, (above_capacity?more than there is|most
--     of it): parameters and inputs lead, not temps.
--   padding: (listed?{first_padding_bytes:bytes} of the {first_bytes:bytes} in the largest buffers
--     are padding to the tile.|{temp_padding_bytes:bytes} of the {temp_bytes:bytes} of temps are
--     padding to the tile.)
--   activation: A single value of the gradient takes {allocation_bytes:bytes}, more than half of
--     the memory: what the forward pass keeps for the backward pass grows with batch and sequence.
--   one_allocation: A single allocation of {allocation_bytes:bytes} takes more than half of the
--     memory: almost always a wrong mesh shape, a missing sharding annotation, or a value that
--     should not exist whole.
--   accumulated: No single allocation leads: what is live at once adds up.
--   unlisted: The error log lists no buffers: a dump of this compile (--xla_dump_to,
--     --xla_dump_hlo_as_proto) in the same run would.
-- says: [{module_name}](nameless?The program)(failed? failed to compile: it needs (single?at least
--   )| needs )[{bytes:bytes}](unsized?more than there is)(failed?| by the compiler's report)[, the
--   device has {capacity_bytes:bytes}]
-- detail: [Short by {short_bytes:bytes} (read). ]{because}{remarks:list}[ The plan comes from a
--   dump in this run, matched by {matched_by}.](failed?| The error log does not say whether it
--   failed.)[ Largest: {largest:list}.]
-- columns:
--   capture_id: the error log
--   device: ordinal of the device; NULL when the error log names none
--   device_id: always NULL
--   module_id: the module of a dump or capture of the same run, where one matches
--   module_name: its name, by the error log or by the match
--   execution_id: NULL: nothing ran
--   bytes: what the program needs (bytes); NULL when the error log does not say it
--   verdict: did not compile; where the log does not say that it failed too large, when it is, or
--     can't tell
--   branch: sparse_core, absurd, arguments, padding, activation, one_allocation,
--     accumulated or unlisted
--   capacity_bytes: what the device has (bytes)
--   capacity_times: how many times that is needed, rounded down
--   short_bytes: what is missing (bytes)
--   sparse_core_bytes: what the SparseCores need (bytes)
--   tensor_core_bytes: what the TensorCores need (bytes)
--   arguments_bytes: arguments (bytes)
--   allocation_bytes: the largest single allocation (bytes)
--   first_bytes: the largest group of alike buffers (bytes)
--   first_padding_bytes: of these padding (bytes)
--   temp_bytes: its temps (bytes)
--   temp_padding_bytes: of these padding (bytes)
--   largest: the three largest groups of buffers; NULL when none is known
--   remarks: what the compiler remarked on the way
--   matched_by: how the module was found: name and size, name, size, shapes or failure; NULL
--     without one
--   listed: 1 when the buffers that the error log lists show the padding, else 0
--   failed: 1 when the error log says that it failed, else 0
--   nameless: 1 when the module has no name, else 0
--   single: 1 when the error log only speaks of one allocation, else 0
--   unsized: 1 when the error log does not say what is needed, else 0
--   unlimited: 1 when the capacity is not known, else 0
--   above_capacity: 1 when the arguments alone are above it, else 0
CREATE VIEW compile_oom AS
SELECT
  b.*,
  b.needed_bytes AS bytes,
  CASE
    WHEN b.failed = 1 THEN 'did not compile'
    WHEN b.needed_bytes > b.capacity_bytes THEN 'too large'
    ELSE 'can''t tell'
  END AS verdict,
  CASE WHEN 2 * b.first_padding_bytes > b.first_bytes THEN 1 ELSE 0 END AS listed,
  CASE WHEN b.kind = 'tpu_allocation_exceeded' THEN 1 ELSE 0 END AS single,
  CASE WHEN b.needed_bytes IS NULL THEN 1 ELSE 0 END AS unsized,
  CASE WHEN b.capacity_times IS NULL THEN 1 ELSE 0 END AS unlimited,
  CASE WHEN b.arguments_bytes > b.capacity_bytes THEN 1 ELSE 0 END AS above_capacity
FROM oom_branches b
WHERE b.stage = 'compile';

-- title: The largest buffers of a program that the compiler refused
-- words kind by source:
--   text: listed in the error log
--   plan: at the plan's peak
-- words label: {what}[ ({padding_bytes:bytes} padding)][ {made_by}]
-- columns:
--   kind: listed in the error log, or at the plan's peak
--   label: shape, padding, operation and Python line
--   what: their shape, else the instruction
--   padding_bytes: what the tiles add (bytes); NULL when nothing, or not known
--   made_by: the JAX operation and its Python line
CREATE VIEW compile_oom_items AS
SELECT
  f.capture_id,
  f.device_id,
  f.module_id,
  p.position,
  p.bytes,
  p.count,
  p.source,
  p.what,
  CASE WHEN p.padding_bytes > 0 THEN p.padding_bytes END AS padding_bytes,
  p.made_by
FROM oom_failures f
JOIN oom_parts p ON p.oom_event_id = f.oom_event_id
WHERE f.stage = 'compile'
  AND p.position <= (SELECT s.setting FROM settings s WHERE s.name = 'items_max');

-- title: What could make the program fit, as far as the error log and the plan support it
-- columns:
--   position: from 1, those that make it fit first, then those that save most; of equals those
--     first that change no results; last resorts last
--   needs_low_bytes: the low end of the range in which that lies (bytes); NULL: open
--   needs_high_bytes: its high end (bytes); NULL: open
--   likely: 1 when needs_bytes is within the capacity, 0 when not
CREATE VIEW compile_oom_remedies AS
SELECT
  r.capture_id,
  r.device_id,
  r.module_id,
  r.remedy,
  r.position,
  r.fix,
  r.saving_bytes,
  r.needs_bytes,
  r.fits,
  r.likely,
  r.needs_low_bytes,
  r.needs_high_bytes,
  r.cost,
  r.changes_results,
  'inferred' AS evidence
FROM oom_remedies r
WHERE r.stage = 'compile';
