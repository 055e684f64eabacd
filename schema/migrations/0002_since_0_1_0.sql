-- What changed in the file since 0.1.0.

-- A content may be a capture of several runs: unique is the two together. SQLite drops no constraint,
-- so the table is made anew; not renamed, which would look at every view.
CREATE TEMP TABLE captures_before AS SELECT * FROM main.captures;
DROP TABLE main.captures;
CREATE TABLE captures (
  capture_id INTEGER PRIMARY KEY,
  run TEXT,
  host TEXT,
  process_index INTEGER,
  path TEXT NOT NULL,
  content_hash TEXT NOT NULL,
  bytes INTEGER NOT NULL,
  kind TEXT NOT NULL CHECK (kind IN ('xplane', 'hlo', 'xla_dump', 'oom_log', 'device_memory_profile')),
  status TEXT NOT NULL CHECK (status IN ('complete', 'truncated')),
  format_note TEXT,
  jax_version TEXT,
  started_unix_ns INTEGER,
  duration_ns INTEGER,
  ingested_unix_ns INTEGER NOT NULL,
  ingester_version TEXT NOT NULL,
  UNIQUE (content_hash, run)
) STRICT;
INSERT INTO captures
SELECT
  capture_id, run, host, process_index, path, content_hash, bytes, kind, status, format_note,
  jax_version, started_unix_ns, duration_ns, ingested_unix_ns, ingester_version
FROM temp.captures_before;
DROP TABLE temp.captures_before;
CREATE INDEX captures_by_run ON captures (run, host);

-- oom_events.kind becomes a readable name (oom_kinds says what each means); the code of the form
-- that stood there goes to the new column `form`.
ALTER TABLE oom_events ADD COLUMN form TEXT;
UPDATE oom_events SET form = kind;
UPDATE oom_events SET kind = CASE form
  WHEN 'T1' THEN 'tpu_memory_exceeded'
  WHEN 'T8' THEN 'tpu_memory_exceeded'
  WHEN 'E1000' THEN 'tpu_memory_exceeded'
  WHEN 'T5' THEN 'tpu_cores_exceeded'
  WHEN 'T6' THEN 'tpu_compile_aborted'
  WHEN 'T7' THEN 'tpu_allocation_exceeded'
  WHEN 'T9' THEN 'tpu_plan_unverified'
  WHEN 'D4' THEN 'memory_usage_rows'
  WHEN 'T2' THEN 'tpu_memory_report'
  WHEN 'T3' THEN 'tpu_memory_report'
  WHEN 'T4' THEN 'tpu_memory_report'
  WHEN 'V1' THEN 'tpu_memory_report'
  WHEN 'V2' THEN 'tpu_scoped_vmem_exceeded'
  WHEN 'E1001' THEN 'tpu_scoped_vmem_exceeded'
  WHEN 'SC1' THEN 'tpu_sparse_core_exceeded'
  WHEN 'E3000' THEN 'tpu_sparse_core_exceeded'
  WHEN 'R1' THEN 'tpu_buffer_request_failed'
  WHEN 'E0100' THEN 'tpu_buffer_request_failed'
  WHEN 'R2' THEN 'tpu_program_load_failed'
  WHEN 'E0101' THEN 'tpu_program_load_failed'
  WHEN 'R3' THEN 'tpu_driver_request_failed'
  WHEN 'A2' THEN 'bfc_request_failed'
  WHEN 'A1' THEN 'bfc_request_advice'
  WHEN 'A6' THEN 'bfc_dump'
  WHEN 'A8' THEN 'bfc_dump'
  WHEN 'A9' THEN 'cuda_async_request_failed'
  WHEN 'G1' THEN 'gpu_request_failed'
  WHEN 'G1n' THEN 'gpu_request_failed'
  WHEN 'G3' THEN 'gpu_request_failed'
  WHEN 'G2' THEN 'gpu_platform_request_failed'
  WHEN 'G4' THEN 'gpu_constant_failed'
  WHEN 'B1' THEN 'buffer_assignment_report'
  WHEN 'B2' THEN 'buffer_assignment_report'
  WHEN 'N1' THEN 'gpu_autotuning_failed'
  WHEN 'D1' THEN 'cuda_driver_backed_off'
  WHEN 'D2' THEN 'rocm_driver_backed_off'
  WHEN 'D4x' THEN 'gpu_driver_out_of_memory'
  WHEN 'G5' THEN 'tensorflow_request_failed'
  WHEN 'O1' THEN 'pytorch_request_failed'
  WHEN 'Q1' THEN 'serving_memory_short'
  WHEN 'X1' THEN 'metal_memory_insufficient'
  WHEN 'S1' THEN 'gpu_shared_memory_exceeded'
  WHEN 'H1' THEN 'pinned_host_request_failed'
  WHEN 'C1' THEN 'host_allocation_failed'
  WHEN 'C2' THEN 'host_process_killed'
  WHEN 'C4' THEN 'process_killed'
  WHEN 'C3' THEN 'numpy_allocation_failed'
  WHEN 'M1' THEN 'rematerialization_stopped'
  WHEN 'M2' THEN 'arguments_above_limit'
  WHEN 'K1' THEN 'compiled_memory_stats'
  WHEN 'K3' THEN 'allocator_stats'
  WHEN 'K7' THEN 'allocator_stats'
  WHEN 'K8' THEN 'serving_memory'
  WHEN 'K9' THEN 'allocator_stats'
  WHEN 'K5' THEN 'program_sizes'
  WHEN 'K6' THEN 'program_sizes'
  ELSE form
END;

-- Growth is told by the floor, the least that is in use from a start on: stored_start_rises holds
-- its rises where stored_start_steps held every step.
CREATE TABLE stored_start_rises (
  capture_id INTEGER NOT NULL REFERENCES captures,
  device_id INTEGER NOT NULL REFERENCES devices,
  module_id INTEGER NOT NULL REFERENCES stored_modules,
  place INTEGER NOT NULL,
  rise_bytes INTEGER NOT NULL,
  kept_bytes INTEGER,
  PRIMARY KEY (device_id, module_id, place)
) STRICT, WITHOUT ROWID;
CREATE INDEX stored_start_rises_by_capture ON stored_start_rises (capture_id);

INSERT INTO stored_start_rises (capture_id, device_id, module_id, place, rise_bytes, kept_bytes)
WITH floors AS (
  SELECT
    e.capture_id, e.device_id, e.module_id,
    ROW_NUMBER() OVER (PARTITION BY e.device_id, e.module_id ORDER BY e.start_ns, e.execution_id) - 1
      AS place,
    MIN(e.in_use_at_start_bytes) OVER (
      PARTITION BY e.device_id, e.module_id ORDER BY e.start_ns DESC, e.execution_id DESC
    ) AS floor_bytes
  FROM stored_executions e
  JOIN stored_module_starts m ON m.device_id = e.device_id AND m.module_id = e.module_id
  WHERE e.in_use_at_start_bytes IS NOT NULL
),
rises AS (
  SELECT
    f.*,
    f.floor_bytes - LAG(f.floor_bytes) OVER (
      PARTITION BY f.device_id, f.module_id ORDER BY f.place
    ) AS rise_bytes
  FROM floors f
)
SELECT r.capture_id, r.device_id, r.module_id, r.place, r.rise_bytes,
  CASE WHEN m.survivor_bytes IS NOT NULL THEN k.kept_bytes END
FROM rises r
JOIN stored_module_starts m ON m.device_id = r.device_id AND m.module_id = r.module_id
LEFT JOIN stored_start_steps k
  ON k.device_id = r.device_id AND k.module_id = r.module_id AND k.place = r.place
WHERE r.rise_bytes > 0;

-- What fell before is known exactly when a capture is read. Here any fall as high as the rise counts,
-- so that a growth is told as one that may be given back, rather than not at all.
CREATE TEMP TABLE starts_before AS SELECT * FROM main.stored_module_starts;
DROP TABLE main.stored_module_starts;
CREATE TABLE stored_module_starts (
  capture_id INTEGER NOT NULL REFERENCES captures,
  device_id INTEGER NOT NULL REFERENCES devices,
  module_id INTEGER NOT NULL REFERENCES stored_modules,
  allocator_id INTEGER REFERENCES allocators,
  executions INTEGER NOT NULL,
  first_start_ns INTEGER NOT NULL,
  last_start_ns INTEGER NOT NULL,
  first_in_use_bytes INTEGER NOT NULL,
  last_in_use_bytes INTEGER NOT NULL,
  floor_rise_bytes INTEGER NOT NULL,
  fell_before INTEGER NOT NULL,
  recurs INTEGER NOT NULL,
  survivor_bytes INTEGER,
  own_output_bytes INTEGER,
  PRIMARY KEY (device_id, module_id)
) STRICT, WITHOUT ROWID;
INSERT INTO stored_module_starts
WITH highest AS (
  SELECT
    e.device_id, e.module_id,
    MAX(e.in_use_at_start_bytes) OVER (
      PARTITION BY e.device_id, e.module_id ORDER BY e.start_ns, e.execution_id
    ) - e.in_use_at_start_bytes AS fall_bytes
  FROM stored_executions e
  WHERE e.in_use_at_start_bytes IS NOT NULL
),
falls AS (
  SELECT h.device_id, h.module_id, MAX(h.fall_bytes) AS fall_bytes
  FROM highest h
  GROUP BY h.device_id, h.module_id
),
risen AS (
  SELECT r.device_id, r.module_id, SUM(r.rise_bytes) AS rise_bytes
  FROM stored_start_rises r
  GROUP BY r.device_id, r.module_id
)
SELECT m.capture_id, m.device_id, m.module_id, m.allocator_id, m.executions, m.first_start_ns,
  m.last_start_ns, m.first_in_use_bytes, m.last_in_use_bytes, COALESCE(r.rise_bytes, 0),
  CASE WHEN f.fall_bytes >= r.rise_bytes THEN 1 ELSE 0 END, 0, m.survivor_bytes,
  m.own_output_bytes
FROM temp.starts_before m
LEFT JOIN risen r ON r.device_id = m.device_id AND r.module_id = m.module_id
LEFT JOIN falls f ON f.device_id = m.device_id AND f.module_id = m.module_id;
DROP TABLE temp.starts_before;
DROP TABLE stored_start_steps;
CREATE INDEX stored_module_starts_by_capture ON stored_module_starts (capture_id);

-- What remedies ask of a plan. NULL for what was read by an earlier version: read it again.
ALTER TABLE stored_plans ADD COLUMN block_function_id INTEGER REFERENCES strings;
ALTER TABLE stored_plans ADD COLUMN block_file_id INTEGER REFERENCES strings;
ALTER TABLE stored_plans ADD COLUMN block_line INTEGER;
ALTER TABLE stored_plans ADD COLUMN block_caller_id INTEGER REFERENCES strings;
ALTER TABLE stored_plan_allocations ADD COLUMN forward_read INTEGER;
ALTER TABLE stored_module_outputs ADD COLUMN donor_is_read INTEGER;
ALTER TABLE stored_buffers ADD COLUMN line_via_id INTEGER REFERENCES strings;
ALTER TABLE stored_buffers ADD COLUMN stack TEXT CHECK (stack IN ('kept', 'carried'));
ALTER TABLE stored_buffers ADD COLUMN repeat_count INTEGER;
ALTER TABLE stored_buffers ADD COLUMN score_length INTEGER;
ALTER TABLE stored_buffers ADD COLUMN vocabulary_length INTEGER;

-- What memory at the heap peak is for. Plans that were read by an earlier version have no parts.
ALTER TABLE stored_plans ADD COLUMN schedule_length INTEGER;
ALTER TABLE stored_buffers ADD COLUMN padded_dimension INTEGER;
ALTER TABLE stored_buffers ADD COLUMN padded_from INTEGER;
ALTER TABLE stored_buffers ADD COLUMN padded_to INTEGER;
CREATE TABLE stored_plan_parts (
  plan_id INTEGER NOT NULL REFERENCES stored_plans,
  place INTEGER NOT NULL,
  memory_space INTEGER NOT NULL,
  class TEXT NOT NULL,
  kind TEXT NOT NULL,
  bytes INTEGER NOT NULL,
  allocation_index INTEGER,
  buffer_position INTEGER,
  name_id INTEGER REFERENCES strings,
  shape_id INTEGER REFERENCES strings,
  copy_of_id INTEGER REFERENCES strings,
  copied_dtype TEXT,
  idle_from INTEGER,
  idle_to INTEGER,
  reader_id INTEGER REFERENCES strings,
  reader_op_name_id INTEGER REFERENCES strings,
  reader_file_id INTEGER REFERENCES strings,
  reader_line INTEGER,
  hole_bytes INTEGER,
  hole_end_id INTEGER REFERENCES strings,
  PRIMARY KEY (plan_id, place)
) STRICT, WITHOUT ROWID;

-- Who says it, where several processes write into one log.
ALTER TABLE oom_events ADD COLUMN rank_name TEXT;
ALTER TABLE oom_events ADD COLUMN rank_count INTEGER;

-- What a module was compiled for says how much memory its device has at most.
ALTER TABLE stored_modules ADD COLUMN target TEXT;

-- What the pool has free and what the device has free are two figures, and the allocator's own
-- records of its past are kept.
ALTER TABLE oom_events ADD COLUMN device_free_bytes INTEGER;
ALTER TABLE oom_events ADD COLUMN device_bytes INTEGER;
ALTER TABLE oom_events ADD COLUMN pool_bytes INTEGER;
ALTER TABLE oom_events ADD COLUMN peak_bytes INTEGER;
ALTER TABLE oom_events ADD COLUMN largest_request_bytes INTEGER;
ALTER TABLE oom_events ADD COLUMN temp_unpadded_bytes INTEGER;

-- What a thread called between the executions of a module. Of captures that were read by an earlier
-- version only the gap between the last two is known.
CREATE TABLE stored_gap_calls (
  capture_id INTEGER NOT NULL REFERENCES captures,
  module_id INTEGER NOT NULL REFERENCES stored_modules,
  thread_id INTEGER NOT NULL REFERENCES strings,
  name_id INTEGER NOT NULL REFERENCES strings,
  caller_id INTEGER REFERENCES strings,
  gaps INTEGER NOT NULL,
  all_gaps INTEGER NOT NULL,
  calls INTEGER NOT NULL,
  depth INTEGER NOT NULL,
  encloses INTEGER NOT NULL,
  last_start_ns INTEGER NOT NULL
) STRICT;
CREATE INDEX stored_gap_calls_by_module ON stored_gap_calls (capture_id, module_id);
INSERT INTO stored_gap_calls
WITH launches AS (
  SELECT DISTINCT e.capture_id, e.module_id, e.launch_event_id, h.thread_id, h.start_ns, h.end_ns
  FROM stored_executions e
  JOIN stored_host_events h ON h.event_id = e.launch_event_id
  WHERE e.module_id IS NOT NULL
),
pairs AS (
  SELECT
    l.capture_id, l.module_id, l.thread_id, l.start_ns AS to_ns,
    LAG(l.end_ns) OVER w AS from_ns,
    LEAD(l.start_ns) OVER w AS next_ns
  FROM launches l
  WINDOW w AS (PARTITION BY l.module_id, l.thread_id ORDER BY l.start_ns)
),
gaps AS (
  SELECT p.capture_id, p.module_id, p.thread_id, p.from_ns, p.to_ns
  FROM pairs p
  WHERE p.next_ns IS NULL AND p.from_ns < p.to_ns
),
calls AS (
  SELECT
    g.capture_id, g.module_id, g.thread_id, h.name_id, h.start_ns,
    CASE WHEN LOWER(n.content) NOT LIKE '%.py:%' AND LOWER(o.content) LIKE '$%.py:%'
      THEN p.name_id END AS caller_id,
    CASE WHEN h.end_ns > g.to_ns THEN 1 ELSE 0 END AS encloses
  FROM gaps g
  JOIN stored_host_events h
    ON h.capture_id = g.capture_id AND h.thread_id = g.thread_id
    AND h.start_ns >= g.from_ns AND h.start_ns < g.to_ns
  JOIN strings n ON n.string_id = h.name_id
  LEFT JOIN stored_host_events p ON p.event_id = h.parent_id
  LEFT JOIN strings o ON o.string_id = p.name_id
  WHERE n.content NOT IN ('MemoryAllocation', 'MemoryDeallocation')
    AND NOT EXISTS (
      SELECT 1 FROM launches l
      WHERE l.capture_id = g.capture_id AND l.thread_id = g.thread_id
        AND h.start_ns >= l.start_ns AND h.start_ns < l.end_ns
    )
)
SELECT c.capture_id, c.module_id, c.thread_id, c.name_id, c.caller_id, 1, 1, COUNT(*), 0,
  MIN(c.encloses), MAX(c.start_ns)
FROM calls c
GROUP BY c.capture_id, c.module_id, c.thread_id, c.name_id, c.caller_id;

-- What a program would need with each remedy: of plans that were read by an earlier version nothing
-- is known; read them again.
ALTER TABLE stored_plans ADD COLUMN replayed INTEGER;
CREATE TABLE stored_plan_changes (
  plan_id INTEGER NOT NULL REFERENCES stored_plans,
  remedy TEXT NOT NULL,
  micro_batches INTEGER,
  chunks INTEGER,
  devices INTEGER,
  needs_bytes INTEGER NOT NULL,
  low_bytes INTEGER,
  high_bytes INTEGER
) STRICT;
CREATE INDEX stored_plan_changes_by_plan ON stored_plan_changes (plan_id);

-- What a what-if needs: plans that were read by an earlier version have none; read them again.
CREATE TABLE stored_replays (
  plan_id INTEGER NOT NULL PRIMARY KEY REFERENCES stored_plans,
  program BLOB NOT NULL
) STRICT;
