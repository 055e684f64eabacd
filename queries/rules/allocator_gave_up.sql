-- id: allocator_gave_up
-- title: An allocator gave up on an operation
-- rank: 165
-- incident: device
-- explained by: fragmentation, other_arrays_take_room, grows_per_execution, step_does_not_fit
-- asks: Did an operation outside of compiled modules wait for memory, and did it get it?
-- needs: allocator events and the spans of operations (TensorFlow's eager ones, a copy to a device)
-- tags: oom, runtime, wait
-- severity: error when the allocator gave up, warning when it waited and then had room
-- cause: When the pool has no room, the allocator waits up to ten seconds for frees before it gives
--   up. No compiled module asked for this memory, so there is no plan that says how much it was.
-- how to read: A failed request leaves no event. What shows it is an operation that allocates and
--   was silent as long as an allocator waits: nothing was allocated in the pool from its start to
--   its end. The request was larger than the largest free block, which is computed from the
--   allocator's own fragmentation figure. Where much was free, but in pieces, the verdict is
--   fragmented.
-- next: oomdb query --db oom.db "SELECT label, bytes, count FROM finding_items WHERE finding_id
--   LIKE 'allocator_gave_up%'"
-- says: {allocator} (gave_up?gave up on {operation} after {longest_ns:ns}(pieces? although
--   {free_bytes:bytes} were free: the largest block was {largest_free_bytes:bytes}|[ with
--   {in_use_bytes:bytes} of its {capacity_bytes:bytes} in use])|waited {longest_ns:ns} for
--   [{bytes:bytes} of ]{operation}, which it then got)
-- detail: (gave_up?Nothing was allocated while {operation} ran for {longest_ns:ns}, and an
--   allocator waits about that long before it gives up (inferred).[ {free_bytes:bytes} of
--   {capacity_bytes:bytes} were free (measured)][, the largest block
--   {largest_free_bytes:bytes}.]|It got its memory after others had freed theirs; every wait is
--   lost time (inferred).)(many? It happened {times:n} times.)
-- columns:
--   device_id: the device; NULL for a pool of the host
--   module_id: NULL: no compiled module asked
--   module_name: NULL: no compiled module asked
--   execution_id: NULL: no compiled module asked
--   evidence: inferred from a silent stretch
--   verdict: fragmented or pool full
--   bytes: what the operation got in the end (bytes); NULL when the allocator gave up
--   allocator_id: the allocator
--   start_ns: when the operation began (Unix ns)
--   allocator: its name
--   operation: the operation that asked
--   longest_ns: the longest wait (ns)
--   times: how often it gave up, or waited
--   capacity_bytes: what the pool may hold (bytes)
--   in_use_bytes: in use then (bytes)
--   free_bytes: free then (bytes)
--   largest_free_bytes: the largest free block then (bytes)
--   gave_up: 1 when it gave up, 0 when it got its memory
--   many: 1 when that happened more than once, else 0
--   pieces: 1 when much was free, but in pieces, else 0
CREATE VIEW allocator_gave_up AS
WITH limits AS (
  SELECT
    MAX(CASE WHEN s.name = 'wait_min_ns' THEN s.setting END) AS wait_ns,
    MAX(CASE WHEN s.name = 'gave_up_min_ns' THEN s.setting END) AS gave_up_ns,
    MAX(CASE WHEN s.name = 'gave_up_max_ns' THEN s.setting END) AS gave_up_max_ns,
    MAX(CASE WHEN s.name = 'gave_up_block_percent' THEN s.setting END) AS most_percent,
    MAX(CASE WHEN s.name = 'pieces_free_percent' THEN s.setting END) AS free_percent,
    MAX(CASE WHEN s.name = 'pieces_block_percent' THEN s.setting END) AS block_percent
  FROM settings s
),
-- Operations that allocate outside of executions, and took as long as a wait. From the captures
-- with an allocator on: an engine then looks at the events of those that are asked for alone.
spans AS (
  SELECT
    a.capture_id,
    a.device_id,
    a.allocator_id,
    e.event_id,
    e.thread_id,
    n.content AS name,
    e.start_ns,
    e.end_ns,
    ROW_NUMBER() OVER (
      PARTITION BY a.capture_id, a.allocator_id, e.thread_id, e.end_ns
      ORDER BY e.start_ns DESC NULLS LAST, e.event_id
    ) AS place
  FROM allocators a
  CROSS JOIN stored_host_events e
  JOIN strings n ON n.string_id = e.name_id
  CROSS JOIN limits l
  WHERE e.capture_id = a.capture_id
    AND e.end_ns - e.start_ns >= l.wait_ns
    AND e.execution_id IS NULL
    AND n.content IN ('KernelAndDeviceFunc::Run', 'BufferFromHostBuffer')
    AND a.allocation_count > 0
),
-- What pools gave while it ran: where any gave something, it was at work, not waiting.
given AS (
  SELECT
    s.capture_id,
    s.device_id,
    s.allocator_id,
    s.event_id,
    s.thread_id,
    s.name,
    s.start_ns,
    s.end_ns,
    MIN(x.alloc_ns) AS any_first_ns,
    MIN(CASE WHEN x.allocator_id = s.allocator_id THEN x.alloc_ns END) AS first_ns
  FROM spans s
  JOIN allocators b ON b.capture_id = s.capture_id
  LEFT JOIN stored_allocations x
    ON x.allocator_id = b.allocator_id AND x.alloc_ns BETWEEN s.start_ns AND s.end_ns
  WHERE s.place = 1
  GROUP BY s.capture_id, s.device_id, s.allocator_id, s.event_id, s.thread_id, s.name, s.start_ns,
    s.end_ns
),
told AS (
  SELECT
    g.capture_id,
    g.device_id,
    g.allocator_id,
    g.thread_id,
    g.name,
    g.start_ns,
    g.end_ns,
    g.first_ns,
    CASE WHEN g.first_ns IS NULL THEN 1 ELSE 0 END AS gave_up,
    CASE WHEN g.first_ns IS NULL THEN g.end_ns ELSE g.first_ns END - g.start_ns AS wait_ns
  FROM given g
  CROSS JOIN limits l
  WHERE (g.any_first_ns IS NULL
      AND g.end_ns - g.start_ns BETWEEN l.gave_up_ns AND l.gave_up_max_ns)
    -- What it got came when others had freed theirs.
    OR (g.first_ns = g.any_first_ns AND g.first_ns - g.start_ns >= l.wait_ns AND EXISTS (
      SELECT 1 FROM stored_allocations f
      WHERE f.allocator_id = g.allocator_id AND f.alloc_ns <= g.start_ns
        AND f.free_ns BETWEEN g.start_ns AND g.first_ns
    ))
),
-- Where the pool stood: its last allocation before. What was freed since is not in its figures.
states AS (
  SELECT
    t.*,
    x.in_use_after_bytes,
    x.fragmentation,
    ROW_NUMBER() OVER (
      PARTITION BY t.capture_id, t.allocator_id, t.thread_id, t.start_ns
      ORDER BY x.alloc_ns DESC NULLS LAST, x.allocation_id DESC NULLS LAST
    ) AS state_place
  FROM told t
  JOIN stored_allocations x ON x.allocator_id = t.allocator_id AND x.alloc_ns <= t.start_ns
),
known AS (
  SELECT
    o.*,
    a.name AS allocator,
    a.capacity_bytes,
    o.in_use_after_bytes AS in_use_bytes,
    a.capacity_bytes - o.in_use_after_bytes AS free_bytes,
    CAST(ROUND((1e0 - o.fragmentation) * (a.capacity_bytes - o.in_use_after_bytes) + 1e-3)
      AS BIGINT) AS largest_free_bytes,
    (SELECT MAX(y.bytes) FROM stored_allocations y
      WHERE y.allocator_id = o.allocator_id AND y.alloc_ns = o.first_ns) AS got_bytes,
    -- The operation that TensorFlow says it runs, which encloses the span.
    (SELECT MAX(SUBSTR(p.content, 20)) FROM stored_host_events e
      JOIN strings p ON p.string_id = e.name_id
      WHERE e.capture_id = o.capture_id AND e.thread_id = o.thread_id
        AND e.start_ns <= o.start_ns AND e.end_ns >= o.end_ns
        AND LOWER(p.content) LIKE 'eagerlocalexecute: %') AS operation
  FROM states o
  JOIN allocators a ON a.allocator_id = o.allocator_id
  WHERE o.state_place = 1
),
-- A pool with a block that would hold nearly anything did not give up: the operation was at work.
sized AS (
  SELECT
    k.*,
    ROW_NUMBER() OVER (
      PARTITION BY k.capture_id, k.device_id
      ORDER BY k.gave_up DESC NULLS LAST, k.wait_ns DESC NULLS LAST,
        k.largest_free_bytes NULLS LAST, k.start_ns, k.allocator_id,
        k.thread_id NULLS FIRST
    ) AS place,
    COUNT(*) OVER (PARTITION BY k.capture_id, k.allocator_id, k.gave_up) AS times
  FROM known k
  CROSS JOIN limits l
  WHERE k.gave_up = 0 OR 100 * k.largest_free_bytes <= l.most_percent * k.capacity_bytes
),
judged AS (
  SELECT
    z.*,
    CASE
      WHEN z.gave_up = 1
        AND 100 * z.free_bytes >= l.free_percent * z.capacity_bytes
        AND 100 * z.largest_free_bytes <= l.block_percent * z.free_bytes THEN 1
      ELSE 0
    END AS pieces
  FROM sized z
  CROSS JOIN limits l
)
SELECT
  z.capture_id,
  c.run,
  c.host,
  d.ordinal AS device,
  z.device_id,
  CAST(NULL AS BIGINT) AS module_id,
  CAST(NULL AS VARCHAR(100)) AS module_name,
  CAST(NULL AS BIGINT) AS execution_id,
  CASE WHEN z.gave_up = 1 THEN 'error' ELSE 'warning' END AS severity,
  'inferred' AS evidence,
  CASE WHEN z.pieces = 1 THEN 'fragmented' ELSE 'pool full' END AS verdict,
  z.got_bytes AS bytes,
  z.allocator,
  z.allocator_id,
  COALESCE(z.operation, z.name) AS operation,
  z.start_ns,
  z.wait_ns AS longest_ns,
  z.times,
  z.capacity_bytes,
  z.in_use_bytes,
  z.free_bytes,
  z.largest_free_bytes,
  z.gave_up,
  z.pieces,
  CASE WHEN z.times > 1 THEN 1 ELSE 0 END AS many
FROM judged z
JOIN captures c ON c.capture_id = z.capture_id
LEFT JOIN devices d ON d.device_id = z.device_id
WHERE z.place = 1;

-- title: What was live when an allocator gave up, or waited
-- columns:
--   kind: live then
--   label: where the bytes came from
--   bytes: live bytes of that origin (bytes)
--   count: allocations
CREATE VIEW allocator_gave_up_items AS
WITH live AS (
  SELECT
    f.capture_id,
    f.device_id,
    f.allocator_id,
    n.content AS label,
    CAST(SUM(x.bytes) AS BIGINT) AS bytes,
    COUNT(*) AS count
  FROM allocator_gave_up f
  JOIN stored_allocations x
    ON x.allocator_id = f.allocator_id
    AND x.alloc_ns <= f.start_ns
    AND (x.free_ns IS NULL OR x.free_ns > f.start_ns)
  LEFT JOIN strings n ON n.string_id = x.origin_id
  GROUP BY f.capture_id, f.device_id, f.allocator_id, n.content
),
ordered AS (
  SELECT
    v.*,
    ROW_NUMBER() OVER (
      PARTITION BY v.capture_id, v.device_id
      ORDER BY v.bytes DESC NULLS LAST, v.label NULLS LAST, v.allocator_id
    ) AS position
  FROM live v
)
SELECT
  o.capture_id,
  o.device_id,
  CAST(NULL AS BIGINT) AS module_id,
  o.position,
  'live then' AS kind,
  o.label,
  o.bytes,
  o.count
FROM ordered o
WHERE o.position <= (SELECT s.setting FROM settings s WHERE s.name = 'items_max');

-- title: How to make room where no module is to blame
-- words fix by remedy:
--   reorder_allocations: make what lives long before what is freed again, so that the free memory
--     stays in one piece
--   release: drop the references to arrays that are no longer needed, the largest first
--   narrower_dtype: hold them in a type of half the size
-- words cost by remedy:
--   reorder_allocations: none
--   release: they must be made again when needed
--   narrower_dtype: precision of these arrays
CREATE VIEW allocator_gave_up_remedies AS
WITH remedies AS (
  SELECT 'reorder_allocations' AS remedy, 1 AS preference, 0 AS changes_results
  UNION ALL SELECT 'release', 2, 0
  UNION ALL SELECT 'narrower_dtype', 3, 1
)
SELECT
  f.capture_id,
  f.device_id,
  f.module_id,
  ROW_NUMBER() OVER (
    PARTITION BY f.capture_id, f.device_id, f.allocator_id ORDER BY r.preference
  ) AS position,
  r.remedy,
  CAST(NULL AS BIGINT) AS saving_bytes,
  CAST(NULL AS BIGINT) AS needs_bytes,
  CAST(NULL AS BIGINT) AS fits,
  r.changes_results,
  'inferred' AS evidence
FROM allocator_gave_up f
CROSS JOIN remedies r
WHERE (r.preference = 1 AND f.verdict = 'fragmented')
  OR (r.preference > 1 AND f.verdict <> 'fragmented');
