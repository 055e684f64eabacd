-- The tables of schema version 1, frozen: schema.sql has today's, schema/migrations/ leads from here to there.

-- Every text that repeats (op names, shapes, event names), once.
CREATE TABLE strings (
  string_id INTEGER PRIMARY KEY, -- local id
  content TEXT NOT NULL UNIQUE   -- the text, as it stands in the capture
) STRICT;

-- One row per ingested file (a dump directory is one).
CREATE TABLE captures (
  capture_id INTEGER PRIMARY KEY, -- local id
  run TEXT,                       -- the run it belongs to: --run, else from the path
  host TEXT,                      -- the host it was recorded on: --host, else from the path, else as recorded
  process_index INTEGER,          -- the process within a multi-host job, where the capture says it
  path TEXT NOT NULL,             -- where it was read from
  content_hash TEXT NOT NULL UNIQUE, -- XXH3-128 of the uncompressed bytes, hex
  bytes INTEGER NOT NULL,         -- size of the uncompressed file in bytes
  kind TEXT NOT NULL CHECK (kind IN ('xplane', 'hlo', 'xla_dump', 'oom_log', 'device_memory_profile')), -- what it is
  status TEXT NOT NULL CHECK (status IN ('complete', 'truncated')), -- truncated: the file ends inside a message
  format_note TEXT,               -- what was special about the format (compressed, dialect)
  jax_version TEXT,               -- the recording program's jax version, where the capture says it
  started_unix_ns INTEGER,        -- when recording started, Unix ns
  duration_ns INTEGER,            -- how long recording lasted, ns
  ingested_unix_ns INTEGER NOT NULL, -- when it was ingested, Unix ns
  ingester_version TEXT NOT NULL  -- oomdb's version that did it
) STRICT;
CREATE INDEX captures_by_run ON captures (run, host);

-- The coordinates of a sweep: --label name=label.
CREATE TABLE run_labels (
  run TEXT NOT NULL,   -- the run
  name TEXT NOT NULL,  -- the label's name, such as batch
  label TEXT NOT NULL, -- its text, compared as a number when it is one
  PRIMARY KEY (run, name)
) STRICT, WITHOUT ROWID;

-- Everything that was skipped, dropped or doubted while reading a capture.
CREATE TABLE ingest_issues (
  capture_id INTEGER NOT NULL REFERENCES captures, -- the capture
  severity TEXT NOT NULL CHECK (severity IN ('error', 'warning', 'info')), -- how much it matters
  what TEXT NOT NULL,     -- a stable key, such as events_left_out
  detail TEXT,            -- one line for people
  count INTEGER NOT NULL  -- how often
) STRICT;
CREATE INDEX ingest_issues_by_capture ON ingest_issues (capture_id);

-- The devices a capture names.
CREATE TABLE devices (
  device_id INTEGER PRIMARY KEY, -- local id
  capture_id INTEGER NOT NULL REFERENCES captures, -- the capture
  ordinal INTEGER NOT NULL,      -- the number as recorded; it can be global in a job
  local_ordinal INTEGER NOT NULL, -- its place within the capture, from 0
  kind TEXT NOT NULL CHECK (kind IN ('gpu', 'tpu', 'cpu')), -- what it is
  name TEXT,                     -- the name of its plane, or of its kind
  vendor TEXT,                   -- as recorded
  memory_bytes INTEGER           -- the device's memory in bytes, where the capture says it
) STRICT;
CREATE INDEX devices_by_capture ON devices (capture_id, ordinal);

-- One compiled plan per content of an HLO proto: what every module row of that content shares.
CREATE TABLE stored_plans (
  plan_id INTEGER PRIMARY KEY, -- local id
  hlo_hash TEXT NOT NULL UNIQUE, -- XXH3-128 of the HLO proto's bytes, hex
  instruction_count INTEGER,   -- all instructions of all computations
  remat_instruction_count INTEGER, -- those whose name has a .remat part
  remat_compute_count INTEGER, -- of these, without bitcasts and get-tuple-elements
  parameter_count INTEGER,     -- parameter allocations, all spaces
  parameter_bytes INTEGER,     -- default memory space, bytes, from here on
  donated_parameter_count INTEGER, -- distinct (parameter, index) in the input-output alias table
  donated_bytes INTEGER,       -- the sizes of those allocations
  output_bytes INTEGER,        -- outputs not aliased to a parameter
  constant_bytes INTEGER,      -- constants
  temp_bytes INTEGER,          -- temps
  thread_local_bytes INTEGER,  -- thread-local allocations
  plan_bytes INTEGER,          -- parameter + output + constant + temp
  heap_peak_bytes INTEGER,     -- most bytes live at once in the replayed heap traces
  peak_bytes INTEGER,          -- parameter + output + constant + heap peak
  shape_signature TEXT,        -- XXH3-128 of the shapes of parameters and result, in order, hex
  num_partitions INTEGER,      -- partitions of the SPMD program; 1: not partitioned
  replica_count INTEGER        -- replicas of it
) STRICT;

-- The plan's totals by memory space.
CREATE TABLE stored_module_memory (
  plan_id INTEGER NOT NULL REFERENCES stored_plans, -- the plan
  memory_space INTEGER NOT NULL, -- 0 device memory, 1 vmem, 2 smem, 5 host
  space_name TEXT NOT NULL,      -- its name
  parameter_bytes INTEGER NOT NULL, -- parameters, bytes
  output_bytes INTEGER NOT NULL, -- outputs not aliased to a parameter, bytes
  constant_bytes INTEGER NOT NULL, -- constants, bytes
  temp_bytes INTEGER NOT NULL,   -- temps, bytes
  thread_local_bytes INTEGER NOT NULL, -- thread-local allocations, bytes
  heap_peak_bytes INTEGER,       -- NULL when the space has temps and no trace
  PRIMARY KEY (plan_id, memory_space)
) STRICT, WITHOUT ROWID;

-- The buffer allocations of a plan.
CREATE TABLE stored_plan_allocations (
  plan_id INTEGER NOT NULL REFERENCES stored_plans, -- the plan
  allocation_index INTEGER NOT NULL, -- BufferAllocation.index
  memory_space INTEGER NOT NULL,     -- its color
  class TEXT NOT NULL CHECK (class IN ('parameter', 'constant', 'thread_local', 'output', 'temp')), -- first that holds
  bytes INTEGER NOT NULL,            -- its size
  parameter_number INTEGER,          -- for parameters
  parameter_shape_index TEXT,        -- for parameters, as {0,1}; {} is the whole
  shape_id INTEGER REFERENCES strings, -- for parameters: the shape, without layout
  aliased_output INTEGER,            -- 1 when a parameter is donated to an output, 0 when not
  is_tuple INTEGER NOT NULL,         -- 1 for a tuple's pointer table
  sharding_id INTEGER REFERENCES strings, -- for parameters: as XLA prints it, such as {replicated} or {devices=[8,1]<=[8]}
  shard_count INTEGER,               -- for parameters: the parts it is split into; 1: every partition holds the whole
  PRIMARY KEY (plan_id, allocation_index)
) STRICT, WITHOUT ROWID;

-- The leaves of a module's result, in order.
CREATE TABLE stored_module_outputs (
  plan_id INTEGER NOT NULL REFERENCES stored_plans, -- the plan
  position INTEGER NOT NULL,           -- from 0
  shape_id INTEGER NOT NULL REFERENCES strings, -- the leaf's shape, without layout
  bytes INTEGER NOT NULL,              -- its size
  aliased INTEGER NOT NULL,            -- 1 when it takes over a donated parameter
  role TEXT,                           -- the role of the instruction that makes it (inferred), NULL when unknown
  opcode TEXT,                         -- of that instruction; a fusion's root's opcode
  instruction_id INTEGER REFERENCES strings, -- its name
  memory_space INTEGER NOT NULL,       -- 0 device memory, 5 host
  PRIMARY KEY (plan_id, position)
) STRICT, WITHOUT ROWID;

-- The logical buffers of a plan.
CREATE TABLE stored_buffers (
  plan_id INTEGER NOT NULL REFERENCES stored_plans, -- the plan
  position INTEGER NOT NULL,           -- its place in the plan, from 0
  logical_buffer_id INTEGER NOT NULL,  -- LogicalBuffer.id
  allocation_index INTEGER,            -- the allocation that holds it
  memory_space INTEGER NOT NULL,       -- its color
  class TEXT,                          -- its allocation's class
  role TEXT CHECK (role IN ('workspace', 'backward', 'forward', 'other')), -- temps only
  role_via_id INTEGER REFERENCES strings, -- the instruction whose name stack gave the role
  bytes INTEGER NOT NULL,              -- its size, with padding
  unpadded_bytes INTEGER,              -- elements x element size
  offset_bytes INTEGER,                -- within its allocation
  dtype TEXT,                          -- the element type
  shape_id INTEGER REFERENCES strings, -- without layout
  layout_id INTEGER REFERENCES strings, -- the layout
  instruction_id INTEGER REFERENCES strings, -- the instruction that defines it
  shape_index TEXT,                    -- its place in that instruction's shape, as {0}; {} is the whole
  opcode TEXT,                         -- of that instruction
  op_name_id INTEGER REFERENCES strings, -- JAX's name stack
  source_file_id INTEGER REFERENCES strings, -- the Python file
  source_line INTEGER,                 -- its line
  function_name_id INTEGER REFERENCES strings, -- its function
  frame_id INTEGER,                    -- the innermost frame in stored_frames
  first_live INTEGER,                  -- event position in the replay
  last_live INTEGER,                   -- event position in the replay
  at_peak INTEGER,                     -- 1 when live at the heap peak, NULL without a trace
  PRIMARY KEY (plan_id, position)
) STRICT, WITHOUT ROWID;

-- The Python stack frames that a plan names.
CREATE TABLE stored_frames (
  plan_id INTEGER NOT NULL REFERENCES stored_plans, -- the plan
  frame_id INTEGER NOT NULL,           -- 1-based, as in the stack frame index
  parent_frame_id INTEGER,             -- the caller, NULL for the outermost
  source_file_id INTEGER REFERENCES strings, -- the Python file
  source_line INTEGER,                 -- its line
  function_name_id INTEGER REFERENCES strings, -- its function
  PRIMARY KEY (plan_id, frame_id)
) STRICT, WITHOUT ROWID;

-- One row per module of a capture.
CREATE TABLE stored_modules (
  module_id INTEGER PRIMARY KEY, -- local id
  capture_id INTEGER NOT NULL REFERENCES captures, -- the capture
  plan_id INTEGER REFERENCES stored_plans, -- NULL when only its executions are known
  program_id INTEGER,            -- the stat program_id, else the number in name(N), else the metadata id
  name TEXT NOT NULL,            -- without the (N)
  fingerprint TEXT,              -- the HLO proto's hash: equal plans have equal fingerprints
  platform TEXT,                 -- gpu, tpu, cpu
  execution_count INTEGER NOT NULL -- in this capture
) STRICT;
CREATE INDEX stored_modules_by_capture ON stored_modules (capture_id, name);
CREATE INDEX stored_modules_by_plan ON stored_modules (plan_id);

-- One row per memory allocator of a capture.
CREATE TABLE allocators (
  allocator_id INTEGER PRIMARY KEY, -- local id
  capture_id INTEGER NOT NULL REFERENCES captures, -- the capture
  device_id INTEGER REFERENCES devices, -- NULL for host pools
  name TEXT NOT NULL,               -- such as GPU_0_bfc
  capacity_bytes INTEGER,           -- in use + available + reserved: the pool's limit
  peak_bytes INTEGER,               -- the largest peak of its lifetime; may predate the capture
  capture_peak_bytes INTEGER,       -- the largest in use that the capture saw
  in_use_first_bytes INTEGER,       -- in use after the first recorded event
  in_use_last_bytes INTEGER,        -- in use after the last
  before_capture_bytes INTEGER,     -- in use before the first
  allocation_count INTEGER NOT NULL, -- allocation events
  deallocation_count INTEGER NOT NULL, -- deallocation events
  reconciliation_breaks INTEGER NOT NULL, -- events whose running total is impossible: lost events
  last_available_bytes INTEGER,     -- free at its last event
  last_fragmentation REAL           -- (free in pool - largest free block) / free in pool, at its last event
) STRICT;
CREATE INDEX allocators_by_capture ON allocators (capture_id);
CREATE INDEX allocators_by_device ON allocators (device_id);

-- One row per execution of a module on a device.
CREATE TABLE stored_executions (
  execution_id INTEGER PRIMARY KEY, -- local id
  capture_id INTEGER NOT NULL REFERENCES captures, -- the capture
  device_id INTEGER REFERENCES devices, -- from its prefix, its allocations or its kernels
  module_id INTEGER REFERENCES stored_modules, -- the module, where the capture holds it
  module_name_id INTEGER REFERENCES strings, -- its name
  sequence INTEGER NOT NULL,    -- 1, 2, 3 per device and module, by start
  start_ns INTEGER NOT NULL,    -- Unix ns
  end_ns INTEGER NOT NULL,      -- Unix ns
  launched INTEGER,             -- 1 with launch evidence, 0 when it ended with an allocation unmade, else NULL
  failed INTEGER NOT NULL,      -- 1 when launched = 0
  in_use_at_start_bytes INTEGER, -- the allocator's in-use just before the start
  peak_in_use_bytes INTEGER,    -- the most in use within it
  output_bytes INTEGER,         -- allocated for outputs
  temp_bytes INTEGER,           -- allocated for temps
  wait_ns INTEGER,              -- how long its allocations waited, ns
  wait_evidence TEXT CHECK (wait_evidence IN ('measured', 'inferred')), -- how that is known
  retry_count INTEGER,          -- waits counted
  failed_allocation_index INTEGER, -- the plan allocation that a failed execution did not get
  thread_id INTEGER REFERENCES strings, -- the thread of its span
  launch_event_id INTEGER       -- the outermost PjitFunction span that launched it (host_events)
) STRICT;
CREATE INDEX stored_executions_by_device ON stored_executions (device_id, module_id, start_ns);
CREATE INDEX stored_executions_by_start ON stored_executions (device_id, start_ns);
CREATE INDEX stored_executions_by_capture ON stored_executions (capture_id);
CREATE INDEX stored_executions_by_module ON stored_executions (module_id);
CREATE INDEX stored_executions_by_launch ON stored_executions (launch_event_id);
CREATE INDEX stored_executions_failed ON stored_executions (failed, capture_id) WHERE failed = 1;

-- What was in use at the starts of a module's executions on a device, over those where that is known: what every
-- question about growth begins with. The steps behind it are in stored_start_steps.
CREATE TABLE stored_module_starts (
  capture_id INTEGER NOT NULL REFERENCES captures, -- the capture
  device_id INTEGER NOT NULL REFERENCES devices, -- the device
  module_id INTEGER NOT NULL REFERENCES stored_modules, -- the module
  allocator_id INTEGER REFERENCES allocators, -- the device's pool
  executions INTEGER NOT NULL,     -- how many
  first_start_ns INTEGER NOT NULL, -- start of the first, Unix ns
  last_start_ns INTEGER NOT NULL,  -- start of the last, Unix ns
  first_in_use_bytes INTEGER NOT NULL, -- in use when the first started
  second_in_use_bytes INTEGER,     -- in use when the second started
  last_in_use_bytes INTEGER NOT NULL, -- in use when the last started
  rise_bytes INTEGER,              -- from the start in the middle to the last
  low_rise_bytes INTEGER,          -- from the least of the earlier half to the least of the later half
  median_bytes INTEGER,            -- the median step from one start to the next; the lower of two in the middle
  settled_median_bytes INTEGER,    -- the same without the first step
  survivor_bytes INTEGER,          -- allocated from the first start on and live at the last; NULL on a truncated capture
  own_output_bytes INTEGER,        -- of these, outputs of this module
  PRIMARY KEY (device_id, module_id)
) STRICT, WITHOUT ROWID;
CREATE INDEX stored_module_starts_by_capture ON stored_module_starts (capture_id);

-- The steps of a module whose in-use rises, from one start to the next.
CREATE TABLE stored_start_steps (
  capture_id INTEGER NOT NULL REFERENCES captures, -- the capture
  device_id INTEGER NOT NULL REFERENCES devices, -- the device
  module_id INTEGER NOT NULL REFERENCES stored_modules, -- the module
  place INTEGER NOT NULL,          -- from 1
  step_bytes INTEGER NOT NULL,     -- in use at the next start, less in use at this one
  kept_bytes INTEGER NOT NULL,     -- allocated in between and live at the last start; 0 on a truncated capture
  PRIMARY KEY (device_id, module_id, place)
) STRICT, WITHOUT ROWID;
CREATE INDEX stored_start_steps_by_capture ON stored_start_steps (capture_id);

-- One row per allocation of an allocator, paired with its free.
CREATE TABLE stored_allocations (
  allocation_id INTEGER PRIMARY KEY, -- local id
  capture_id INTEGER NOT NULL REFERENCES captures, -- the capture
  allocator_id INTEGER NOT NULL REFERENCES allocators, -- the allocator
  address INTEGER,              -- NULL for what was never seen in an event
  requested_bytes INTEGER,      -- as asked for
  bytes INTEGER NOT NULL,       -- as given
  alloc_ns INTEGER,             -- Unix ns; NULL: live before the capture
  free_ns INTEGER,              -- Unix ns; NULL: live at its end
  in_use_after_bytes INTEGER,   -- the allocator's in-use after it
  fragmentation REAL,           -- as recorded with it
  execution_id INTEGER REFERENCES stored_executions, -- the execution that made it
  module_id INTEGER REFERENCES stored_modules, -- that execution's module
  allocation_index INTEGER,     -- the plan allocation it is (inferred by size)
  purpose TEXT CHECK (purpose IN ('output', 'temp', 'transfer', 'other')), -- what for (inferred)
  origin_id INTEGER REFERENCES strings, -- for people
  alloc_event_id INTEGER,       -- host_events
  free_event_id INTEGER         -- host_events
) STRICT;
CREATE INDEX stored_allocations_by_allocator ON stored_allocations (allocator_id, alloc_ns, free_ns);
CREATE INDEX stored_allocations_by_execution ON stored_allocations (execution_id, allocation_index);

-- What else was live when an execution failed (the first of a device and module), by origin, without the parameters
-- of its own module.
CREATE TABLE stored_failed_live (
  capture_id INTEGER NOT NULL REFERENCES captures, -- the capture
  execution_id INTEGER NOT NULL REFERENCES stored_executions, -- the execution that failed
  origin_id INTEGER NOT NULL REFERENCES strings, -- where the bytes came from
  bytes INTEGER NOT NULL,          -- live bytes of that origin
  count INTEGER NOT NULL           -- allocations they are made of
) STRICT;
CREATE INDEX stored_failed_live_by_execution ON stored_failed_live (execution_id);
CREATE INDEX stored_failed_live_by_capture ON stored_failed_live (capture_id);

-- The host events that a memory question needs.
CREATE TABLE stored_host_events (
  event_id INTEGER PRIMARY KEY, -- local id
  capture_id INTEGER NOT NULL REFERENCES captures, -- the capture
  thread_id INTEGER NOT NULL REFERENCES strings, -- its thread
  name_id INTEGER NOT NULL REFERENCES strings, -- its name
  start_ns INTEGER NOT NULL,    -- Unix ns
  end_ns INTEGER NOT NULL,      -- Unix ns
  parent_id INTEGER,            -- the stored event that encloses it on its thread
  execution_id INTEGER          -- the execution it belongs to
) STRICT;
CREATE INDEX stored_host_events_by_thread ON stored_host_events (capture_id, thread_id, start_ns);

-- Every threshold that a rule reads. Integers: bytes, ns, counts or per cent, as the name says.
CREATE TABLE settings (
  name TEXT PRIMARY KEY, -- such as growth_min_bytes
  setting INTEGER,       -- its number; NULL: not set
  meaning TEXT NOT NULL  -- what it decides
) STRICT, WITHOUT ROWID;

-- Error texts found in logs.
CREATE TABLE oom_events (
  oom_event_id INTEGER PRIMARY KEY, -- local id
  capture_id INTEGER NOT NULL REFERENCES captures, -- the capture
  line INTEGER,             -- line number in the log, from 1
  kind TEXT,                -- the form's id, such as T1, G3, A2
  fatal INTEGER,            -- 1; 0 for advice; NULL unknown
  error_code TEXT,          -- such as E1000
  memory_space TEXT,        -- hbm, gpu, host, vmem, smem, gpu_shared
  device INTEGER,           -- device ordinal
  allocator TEXT,           -- allocator name
  module_name TEXT,         -- module name
  requested_bytes INTEGER, capacity_bytes INTEGER, used_bytes INTEGER, exceeded_bytes INTEGER, -- as printed
  total_bytes INTEGER, reserved_bytes INTEGER, program_bytes INTEGER, arguments_bytes INTEGER, -- as printed
  temp_bytes INTEGER, output_bytes INTEGER, alias_bytes INTEGER, constant_bytes INTEGER, -- as printed
  free_bytes INTEGER, largest_free_bytes INTEGER, fragmentation_bytes INTEGER, -- as printed, or limit - in use
  tensor_core_bytes INTEGER, sparse_core_bytes INTEGER, -- as printed: what each kind of core needs
  repeat_count INTEGER NOT NULL DEFAULT 1, -- how often the log prints it
  message TEXT              -- the line, without time stamp and other wrapping
) STRICT;
CREATE INDEX oom_events_by_capture ON oom_events (capture_id);

-- The buffers that an error text lists.
CREATE TABLE oom_buffers (
  oom_event_id INTEGER NOT NULL REFERENCES oom_events, -- the event
  position INTEGER NOT NULL, -- from 1
  bytes INTEGER, unpadded_bytes INTEGER, padding_bytes INTEGER, -- as printed
  shape TEXT, op_name TEXT, source_file TEXT, source_line INTEGER, label TEXT, allocation_type TEXT, -- as printed
  plain_shape TEXT,          -- the shape without its layout
  dense_bytes INTEGER,       -- from the shape: elements × element size
  tiled_bytes INTEGER,       -- from the shape and its layout: with the padding of the tiles; NULL without tiles
  count INTEGER NOT NULL DEFAULT 1 -- buffers like this one, side by side
) STRICT;
CREATE INDEX oom_buffers_by_event ON oom_buffers (oom_event_id, position);

-- The chunks of an allocator's pool, from its dump in a log: in use or free, in the order of their addresses.
CREATE TABLE oom_chunks (
  oom_event_id INTEGER NOT NULL REFERENCES oom_events, -- the failure that the dump belongs to
  position INTEGER NOT NULL, -- from 1
  region INTEGER NOT NULL,   -- from 1; chunks of two regions never join
  address INTEGER,           -- where it begins
  bytes INTEGER NOT NULL,    -- size
  in_use INTEGER NOT NULL,   -- 1; 0 when it is free
  op_name TEXT               -- who holds it, where the dump says so
) STRICT;
CREATE INDEX oom_chunks_by_event ON oom_chunks (oom_event_id, position);

-- Samples of a pprof device memory profile.
CREATE TABLE profile_samples (
  capture_id INTEGER NOT NULL REFERENCES captures, -- the capture
  kind TEXT,    -- buffer or executable
  device TEXT,  -- the device
  bytes INTEGER, -- bytes held
  count INTEGER, -- allocations
  stack TEXT,   -- one frame a line, innermost first: function (file:line)
  source_file TEXT, -- the Python file of the innermost frame outside installed packages
  source_line INTEGER, -- its line
  function_name TEXT -- its function
) STRICT;
CREATE INDEX profile_samples_by_capture ON profile_samples (capture_id);
