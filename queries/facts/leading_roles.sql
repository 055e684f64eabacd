-- id: leading_roles
-- title: Of plans that do not fit, the role that takes most of the heap peak, where one does
-- columns:
--   capture_id: the capture
--   run: its run
--   host: its host
--   device: ordinal of the device; NULL without devices
--   device_id: the device
--   module_id: the module
--   module_name: its name
--   execution_id: the first execution that failed before launch
--   severity: error when an execution failed, else warning
--   evidence: inferred, since the role is
--   role: forward, backward or workspace
--   peak_bytes: temps live at the heap peak (bytes)
--   forward_bytes: of these, kept for the backward pass (bytes)
--   backward_bytes: of these, gradients and their temporaries (bytes)
--   workspace_bytes: of these, scratch of library calls (bytes)
--   other_bytes: the rest (bytes)
--   bytes: those of the role (bytes)
--   role_percent: the role, as a share of the peak (per cent)
CREATE VIEW leading_roles AS
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
  p.leading_role AS role,
  p.peak_bytes,
  p.forward_bytes,
  p.backward_bytes,
  p.workspace_bytes,
  p.other_bytes,
  CASE p.leading_role
    WHEN 'forward' THEN p.forward_bytes
    WHEN 'backward' THEN p.backward_bytes
    ELSE p.workspace_bytes
  END AS bytes,
  CASE p.leading_role
    WHEN 'forward' THEN p.forward_percent
    WHEN 'backward' THEN p.backward_percent
    ELSE p.workspace_percent
  END AS role_percent
FROM over_capacity_peaks p
WHERE p.leading_role IS NOT NULL;
