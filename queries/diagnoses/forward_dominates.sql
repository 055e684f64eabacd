-- id: forward_dominates
-- title: Activations kept for the backward pass take most of it
-- asks: Of a step that does not fit, is forward the largest of the three roles at the heap peak?
-- needs: a plan with a heap trace, and a capacity
-- tags: oom, plan, forward
-- severity: that of step_does_not_fit
-- cause: The forward pass keeps values that the backward pass will read. They grow with batch times
--   sequence, and naive attention keeps a score matrix of batch x heads x sequence x sequence a
--   layer.
-- columns:
--   capture_id: the capture
--   run: its run
--   host: its host
--   device: ordinal of the device; NULL without devices
--   device_id: the device
--   module_id: the module
--   module_name: its name
--   execution_id: the first execution that launched nothing
--   severity: error or warning
--   evidence: inferred, since the role is
--   title: one sentence
--   detail: how much of the peak and of the plan it is
--   bytes: bytes of the role forward at the heap peak (bytes)
-- how to read: A role is inferred from JAX's name stacks: transpose( is backward, else jvp( is
--   forward, and s8 or u8 scratch of a custom call is workspace. The role is named when it is the
--   largest of the three and a fair share of the plan.
-- next: oomdb query --db oom.db "SELECT fix, saving_bytes, needs_bytes, fits FROM remedies WHERE
--   finding_id LIKE 'forward_dominates%'"
CREATE VIEW forward_dominates AS
SELECT
  p.capture_id,
  p.run,
  p.host,
  p.device,
  p.device_id,
  p.module_id,
  p.module_name,
  p.execution_id,
  CASE WHEN p.failed_count > 0 THEN 'error' ELSE 'warning' END AS severity,
  'inferred' AS evidence,
  'Of the ' || CAST(p.peak_bytes AS VARCHAR(20)) || ' bytes at the heap peak of ' || p.module_name
    || ', '
    || CAST(p.forward_bytes AS VARCHAR(20))
      || ' bytes are activations kept for the backward pass' AS title,
  CAST(p.forward_percent AS VARCHAR(20)) || ' % of the heap peak is forward (inferred); forward '
    || CAST(p.forward_bytes AS VARCHAR(20)) || ' bytes, backward '
    || CAST(p.backward_bytes AS VARCHAR(20)) || ' bytes, workspace '
    || CAST(p.workspace_bytes AS VARCHAR(20)) || ' bytes, other '
    || CAST(p.other_bytes AS VARCHAR(20)) || ' bytes.'
    || ' They grow with batch times sequence; recomputing them (jax.checkpoint)'
    || ' or a smaller micro-batch makes them smaller.' AS detail,
  p.forward_bytes AS bytes
FROM misfit_peaks p
WHERE p.leading_role = 'forward';
