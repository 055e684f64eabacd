-- id: forward_dominates
-- title: Activations kept for the backward pass take most of it
-- rank: 140
-- incident: device
-- explained by: step_does_not_fit, compile_oom, no_donation
-- asks: Is forward the largest of the three roles at the heap peak of a step that does not fit?
-- needs: a plan with a heap trace, and a capacity
-- tags: oom, plan, forward
-- severity: that of step_does_not_fit
-- cause: The forward pass keeps values that the backward pass will read. They grow with batch times
--   sequence, and naive attention keeps a score matrix of batch x heads x sequence x sequence a
--   layer.
-- how to read: A role is inferred from JAX's name stacks: transpose( is backward, else jvp( is
--   forward, and s8 or u8 scratch of a custom call is workspace. The role is named when it is the
--   largest of the three and a fair share of the plan.
-- next: oomdb query --db oom.db "SELECT fix, saving_bytes, needs_bytes, fits FROM remedies WHERE
--   finding_id LIKE 'forward_dominates%'"
-- says: {bytes:bytes} of the {peak_bytes:bytes} at the heap peak of {module_name} are activations
--   kept for the backward pass
-- detail: {role_percent:%} of the heap peak is forward (inferred); forward {forward_bytes:bytes},
--   backward {backward_bytes:bytes}, workspace {workspace_bytes:bytes}, other {other_bytes:bytes}.
--   They grow with batch times sequence; recomputing them (jax.checkpoint) or a smaller micro-batch
--   makes them smaller.
-- columns:
--   execution_id: the first execution that failed before launch
--   severity: error when an execution failed, else warning
--   evidence: inferred, since the role is
--   bytes: bytes of the role forward at the heap peak (bytes)
--   peak_bytes: temps live at the heap peak (bytes)
--   forward_bytes: of these, kept for the backward pass (bytes)
--   backward_bytes: of these, gradients and their temporaries (bytes)
--   workspace_bytes: of these, scratch of library calls (bytes)
--   other_bytes: the rest (bytes)
--   role_percent: the role, as a share of the peak (per cent)
CREATE VIEW forward_dominates AS
SELECT r.* FROM leading_roles r WHERE r.role = 'forward';

-- title: The largest forward buffers at the heap peak
-- columns:
--   kind: temp at the peak
--   label: shape, operation and Python line
--   bytes: bytes of the group (bytes)
--   count: buffers in it
CREATE VIEW forward_dominates_items AS
SELECT g.*
FROM leading_role_groups g
WHERE g.role = 'forward'
  AND g.position <= (SELECT s.setting FROM settings s WHERE s.name = 'items_max');

-- title: How to hold fewer activations
-- columns:
--   position: from 1, those that make it fit first
--   saving_bytes: what it saves (bytes); NULL when it does not make the step smaller
--   needs_bytes: plan and other arrays, less the saving (bytes)
--   fits: 1 when that is within the capacity, 0 when not, NULL: too near to tell
--   needs_low_bytes: the low end of the range in which that lies (bytes); NULL: open
--   needs_high_bytes: its high end (bytes); NULL: open
--   likely: 1 when needs_bytes is within the capacity, 0 when not
--   evidence: inferred
CREATE VIEW forward_dominates_remedies AS
SELECT
  f.*,
  ROW_NUMBER() OVER (
    PARTITION BY f.module_id, f.device_id ORDER BY
      COALESCE(f.fits, f.likely, -1) DESC NULLS LAST,
      COALESCE(f.likely, -1) DESC NULLS LAST, f.preference
  ) AS position,
  'inferred' AS evidence
FROM fit_remedies f
WHERE f.leading_role = 'forward'
  AND f.remedy IN ('checkpoint', 'micro_batch', 'fused_attention', 'chunk_logits', 'narrower_dtype',
    'shorter_sequence');
