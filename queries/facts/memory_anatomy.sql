-- id: memory_anatomy
-- title: What every module's memory at the heap peak is for
-- columns:
--   capture_id: the capture
--   module_id: the module
--   module_name: its name
--   memory_space: 0 device memory, 1 vmem, 2 smem, 5 host
--   position: from 1, most bytes first
--   kind: weights, optimizer_state, gradients, activations, backward, batch, kv_cache, collectives,
--     workspace, constants, results or other
--   bytes: all of it (bytes)
--   percent: of the peak of the memory space (per cent, rounded down)
--   parameter_bytes: of these, parameters (bytes)
--   output_bytes: non-donated outputs (bytes)
--   constant_bytes: constants (bytes)
--   temp_bytes: temps that are live at the peak (bytes)
--   count: things of this kind: parameters, outputs, constants, temps
--   largest_bytes: the largest of them (bytes)
--   largest_name: its name: of a parameter JAX's, such as params['w']; else the JAX operation or
--     the instruction that makes it
--   evidence: inferred; read for constants and workspace
-- how to read: In memory space 0 the bytes of a module add up to its peak_bytes. Weights,
--   gradients, optimizer state, activations (kept for the backward pass, where there is one), what
--   else the backward pass makes, the batch and other inputs, a KV cache, what collectives make,
--   scratch of library calls, constants, and results that are none of these. A copy of a parameter
--   counts with the parameter's kind. What can't be told is other. plan_parts lists all things.
CREATE VIEW memory_anatomy AS
WITH named AS (
  SELECT
    m.capture_id,
    p.module_id,
    m.name AS module_name,
    p.memory_space,
    p.kind,
    p.class,
    p.bytes,
    COALESCE(p.name, p.op_name, p.instruction) AS name,
    ROW_NUMBER() OVER (
      PARTITION BY m.capture_id, p.module_id, p.memory_space, p.kind
      ORDER BY p.bytes DESC NULLS LAST, p.place
    ) AS place
  FROM modules m
  JOIN plan_parts p ON p.module_id = m.module_id
),
kinds AS (
  SELECT
    n.capture_id,
    n.module_id,
    MAX(n.module_name) AS module_name,
    n.memory_space,
    n.kind,
    CAST(SUM(n.bytes) AS BIGINT) AS bytes,
    CAST(SUM(CASE WHEN n.class = 'parameter' THEN n.bytes ELSE 0 END) AS BIGINT)
      AS parameter_bytes,
    CAST(SUM(CASE WHEN n.class = 'output' THEN n.bytes ELSE 0 END) AS BIGINT) AS output_bytes,
    CAST(SUM(CASE WHEN n.class = 'constant' THEN n.bytes ELSE 0 END) AS BIGINT)
      AS constant_bytes,
    CAST(SUM(CASE WHEN n.class = 'temp' THEN n.bytes ELSE 0 END) AS BIGINT) AS temp_bytes,
    COUNT(*) AS count,
    MAX(n.bytes) AS largest_bytes,
    MAX(CASE WHEN n.place = 1 THEN n.name END) AS largest_name
  FROM named n
  GROUP BY n.capture_id, n.module_id, n.memory_space, n.kind
),
shares AS (
  SELECT
    k.*,
    SUM(k.bytes) OVER (PARTITION BY k.capture_id, k.module_id, k.memory_space) AS peak_bytes,
    ROW_NUMBER() OVER (
      PARTITION BY k.capture_id, k.module_id, k.memory_space
      ORDER BY k.bytes DESC NULLS LAST, k.kind NULLS LAST
    ) AS position
  FROM kinds k
)
SELECT
  s.capture_id,
  s.module_id,
  s.module_name,
  s.memory_space,
  s.position,
  s.kind,
  s.bytes,
  CAST((100 * s.bytes - 100 * s.bytes % NULLIF(s.peak_bytes, 0)) / NULLIF(s.peak_bytes, 0)
    AS BIGINT) AS percent,
  s.parameter_bytes,
  s.output_bytes,
  s.constant_bytes,
  s.temp_bytes,
  s.count,
  s.largest_bytes,
  s.largest_name,
  CASE WHEN s.kind IN ('constants', 'workspace') THEN 'read' ELSE 'inferred' END AS evidence
FROM shares s;
