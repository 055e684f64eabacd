-- id: step_does_not_fit
-- title: The step itself does not fit
-- rank: 60
-- verdict: too large
-- incident: device
-- explained by: compile_oom, no_donation
-- asks: Is the plan of a module larger than what its device may use, and did it never launch?
-- needs: a plan with a buffer assignment, and a capacity (allocator events, an error log,
--   --capacity); without one, a plan larger than any device of its target
-- tags: oom, plan, capacity
-- severity: error when an execution of it failed, warning when it never ran
-- cause: The compiled step needs more memory at once than the pool holds. Nothing else has to be on
--   the device for it to fail, so freeing other arrays does not help: the step must become smaller.
-- how to read: The plan is what XLA decided at compile time: parameters, non-donated outputs,
--   constants and one block of temps. The heap peak is the moment inside the step with the most
--   temps live; its largest groups are where a fix pays.
-- next: oomdb query --db oom.db "SELECT label, bytes, count FROM finding_items WHERE finding_id
--   LIKE 'step_does_not_fit%'"
-- words capacity_known by capacity_source:
--   pool: the pool holds {capacity_bytes:bytes}
--   error log: the device has {capacity_bytes:bytes} (error log)
--   setting: the capacity was set to {capacity_bytes:bytes}
--   device memory: the device has {capacity_bytes:bytes}
--   largest device: no [{target} ]device has more than {capacity_bytes:bytes}
-- words capacity_how by capacity_source:
--   pool: measured
--   error log: read
--   setting: as set
--   device memory: inferred
--   largest device: inferred
-- says: {label} does not fit: it needs {bytes:bytes}, {capacity_known}
-- detail: Short by {short_bytes:bytes} (plan read, capacity {capacity_how}).
--   (any_failed?{failed_count:n} of {execution_count:n} executions failed before launch (measured).
--   |(never_ran?It never ran in this capture. ))The plan (read): parameters
--   {parameter_bytes:bytes}, outputs {output_bytes:bytes}, constants {constant_bytes:bytes}, temps
--   {temp_bytes:bytes}.[ At the heap peak of {peak_bytes:bytes} (inferred roles): forward
--   {forward_percent:%}, backward {backward_percent:%}, workspace {workspace_percent:%}.][ Largest:
--   {largest:list}.]
-- quiet: the plan fits the capacity
-- columns:
--   execution_id: the first execution that failed before launch
--   severity: error or warning
--   evidence: measured when an execution failed, else read
--   bytes: what the module needs: its plan (bytes)
--   label: the module with its program id
--   capacity_bytes: what the device may use (bytes)
--   capacity_source: pool, error log, setting, device memory or largest device
--   target: what the module was compiled for; NULL: unknown
--   capacity_evidence: measured, read or inferred
--   short_bytes: what is missing (bytes)
--   execution_count: executions on this device
--   failed_count: of these, known to have failed
--   parameter_bytes: parameters (bytes)
--   output_bytes: non-donated outputs (bytes)
--   constant_bytes: constants (bytes)
--   temp_bytes: temps (bytes)
--   peak_bytes: temps live at the heap peak (bytes); NULL without a heap trace
--   forward_percent: forward, as a share of the peak (per cent)
--   backward_percent: backward, as a share of the peak (per cent)
--   workspace_percent: workspace, as a share of the peak (per cent)
--   largest: the three largest parts
--   any_failed: 1 when an execution failed, else 0
--   never_ran: 1 when none is in a complete capture, else 0
CREATE VIEW step_does_not_fit AS
SELECT
  p.*,
  CASE WHEN p.failed_count > 0 THEN 'error' ELSE 'warning' END AS severity,
  CASE WHEN p.failed_count > 0 THEN 'measured' ELSE 'read' END AS evidence,
  p.plan_bytes AS bytes,
  l.largest,
  CASE WHEN p.failed_count > 0 THEN 1 ELSE 0 END AS any_failed,
  CASE WHEN p.status = 'complete' AND p.execution_count = 0 THEN 1 ELSE 0 END AS never_ran
FROM over_capacity_peaks p
LEFT JOIN over_capacity_list l
  ON l.module_id = p.module_id
  AND (l.device_id = p.device_id OR (l.device_id IS NULL AND p.device_id IS NULL));

-- title: The largest parts of a plan that does not fit
-- words label: {what}[ {role}][ {op_name}][ {source_file}[:{source_line:n}]][ {function_name}]
-- columns:
--   kind: parameter, output, constant, temp at the peak, or temp
--   label: shape, role, operation and Python line
--   bytes: bytes of the group (bytes)
--   count: buffers in it
CREATE VIEW step_does_not_fit_items AS
SELECT g.*, COALESCE(g.shape, 'one block') AS what
FROM over_capacity_groups g
WHERE g.position <= (SELECT s.setting FROM settings s WHERE s.name = 'items_max');

-- title: What could make the step fit
-- columns:
--   position: from 1, those that make it fit first
--   saving_bytes: what it saves (bytes); NULL when it does not make the step smaller
--   needs_bytes: plan and other arrays, less the saving (bytes)
--   fits: 1 when that is within the capacity, 0 when not, NULL: too near to tell
--   needs_low_bytes: the low end of the range in which that lies (bytes); NULL: open
--   needs_high_bytes: its high end (bytes); NULL: open
--   likely: 1 when needs_bytes is within the capacity, 0 when not
--   evidence: inferred
CREATE VIEW step_does_not_fit_remedies AS
SELECT
  f.*,
  ROW_NUMBER() OVER (
    PARTITION BY f.module_id, f.device_id ORDER BY
      COALESCE(f.fits, f.likely, -1) DESC NULLS LAST,
      COALESCE(f.likely, -1) DESC NULLS LAST, f.preference
  ) AS position,
  'inferred' AS evidence
FROM fit_remedies f;

-- title: Plans that fit what their device may use
CREATE VIEW step_does_not_fit_quiet AS
SELECT d.capture_id, d.device_id, d.module_id
FROM module_devices d
WHERE d.plan_bytes <= d.capacity_bytes;

-- title: Plans of which nobody knows whether they fit
-- words title by reason:
--   no_plan: whether {label} fits: its plan is not in the capture
--   no_capacity: whether {label} fits: it needs {plan_bytes:bytes}, and what the device may use is
--     not known
-- words tell by reason:
--   no_plan: XLA_FLAGS='--xla_dump_to=DIR --xla_dump_hlo_as_proto' when it runs, then report DIR
--   no_capacity: --capacity SIZE (as in --capacity 80GiB)
CREATE VIEW step_does_not_fit_open AS
SELECT
  d.capture_id,
  d.device_id,
  d.module_id,
  d.label,
  d.plan_bytes,
  CASE WHEN d.plan_bytes IS NULL THEN 'no_plan' ELSE 'no_capacity' END AS reason
FROM module_devices d
WHERE d.launched_count = 0 AND (d.plan_bytes IS NULL OR d.capacity_bytes IS NULL);
