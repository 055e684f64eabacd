-- id: donation_pairs
-- title: Parameters that are not donated beside results of their shape: what donation could save
-- columns:
--   module_id: the module
--   shape: the shape that both have
--   pairs: parameters of it that could give their memory to a result
--   bytes: what that saves at most (bytes)
--   likely_bytes: of that, what is not read while its result is written: donating what a loop still
--     reads makes the compiler copy it (bytes)
--   state_pairs: of the pairs, those whose result looks like updated state
--   cache_outputs: results made by dynamic-update-slice or scatter, such as a KV cache
--   trained_bytes: parameters of it that the forward pass reads: their gradients are as large
--     (bytes)
CREATE VIEW donation_pairs AS
WITH undonated AS (
  SELECT
    p.module_id,
    p.shape,
    COUNT(*) AS parameters,
    MIN(p.bytes) AS bytes,
    CAST(SUM(CASE WHEN p.forward_read = 1 THEN p.bytes ELSE 0 END) AS BIGINT) AS trained_bytes
  FROM plan_allocations p
  WHERE p.class = 'parameter' AND p.memory_space = 0 AND p.aliased_output = 0 AND p.is_tuple = 0
    AND p.shape IS NOT NULL
  GROUP BY p.module_id, p.shape
),
-- Updated state is computed from gradients but belongs to neither pass, so its role is other; the
-- gradients that a function returns are backward, and have their parameters' shapes too.
-- From the modules to their outputs: SQLite keeps to the order of a CROSS JOIN.
fresh AS (
  SELECT
    m.module_id,
    s.content AS shape,
    COUNT(*) AS outputs,
    MIN(o.bytes) AS bytes,
    CAST(SUM(COALESCE(o.donor_is_read, 0)) AS BIGINT) AS read_outputs,
    CAST(SUM(CASE WHEN o.role = 'other' THEN 1 ELSE 0 END) AS BIGINT) AS state_outputs,
    -- A scan stacks its gradients with dynamic-update-slice too: those are no cache.
    CAST(SUM(CASE
      WHEN o.opcode IN ('dynamic-update-slice', 'scatter')
        AND COALESCE(o.role, 'other') <> 'backward'
        THEN 1
      ELSE 0
    END) AS BIGINT) AS cache_outputs
  FROM stored_modules m
  CROSS JOIN stored_module_outputs o
  JOIN strings s ON s.string_id = o.shape_id
  WHERE o.plan_id = m.plan_id AND o.aliased = 0 AND o.memory_space = 0
  GROUP BY m.module_id, s.content
),
paired AS (
  SELECT
    u.module_id,
    u.shape,
    CASE WHEN u.parameters < f.outputs THEN u.parameters ELSE f.outputs END AS pairs,
    CASE WHEN u.bytes < f.bytes THEN u.bytes ELSE f.bytes END AS bytes_each,
    CASE WHEN u.parameters < f.state_outputs THEN u.parameters
      ELSE f.state_outputs END AS state_pairs,
    f.outputs - f.read_outputs AS free_outputs,
    u.trained_bytes,
    f.cache_outputs
  FROM undonated u
  JOIN fresh f ON f.module_id = u.module_id AND f.shape = u.shape
)
SELECT
  p.module_id,
  p.shape,
  p.pairs,
  p.pairs * p.bytes_each AS bytes,
  CASE WHEN p.pairs < p.free_outputs THEN p.pairs ELSE p.free_outputs END * p.bytes_each
    AS likely_bytes,
  p.state_pairs,
  p.cache_outputs,
  p.trained_bytes
FROM paired p;
