-- id: backward_dominates
-- title: Gradients and their temporaries take most of it
-- asks: Of a step that does not fit, is backward the largest of the three roles at the heap peak?
-- needs: a plan with a heap trace, and a capacity
-- tags: oom, plan, backward
-- severity: that of step_does_not_fit
-- cause: The backward pass holds gradients of the size of the parameters, and temporaries of the
--   size of activations. A copy of bf16 gradients in f32 doubles them.
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
--   bytes: bytes of the role backward at the heap peak (bytes)
-- how to read: A role is inferred from JAX's name stacks: transpose( is backward, else jvp( is
--   forward, and s8 or u8 scratch of a custom call is workspace. The role is named when it is the
--   largest of the three and a fair share of the plan.
-- next: oomdb query --db oom.db "SELECT fix, saving_bytes, needs_bytes, fits FROM remedies WHERE
--   finding_id LIKE 'backward_dominates%'"
CREATE VIEW backward_dominates AS
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
    || CAST(p.backward_bytes AS VARCHAR(20))
      || ' bytes are gradients and their temporaries' AS title,
  CAST(p.backward_percent AS VARCHAR(20)) || ' % of the heap peak is backward (inferred); forward '
    || CAST(p.forward_bytes AS VARCHAR(20)) || ' bytes, backward '
    || CAST(p.backward_bytes AS VARCHAR(20)) || ' bytes, workspace '
    || CAST(p.workspace_bytes AS VARCHAR(20)) || ' bytes, other '
    || CAST(p.other_bytes AS VARCHAR(20)) || ' bytes.'
    || ' Gradients shrink when the parameters are sharded;'
    || ' their temporaries shrink with the micro-batch.' AS detail,
  p.backward_bytes AS bytes
FROM misfit_peaks p
WHERE p.leading_role = 'backward';
