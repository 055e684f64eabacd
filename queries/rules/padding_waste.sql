-- id: padding_waste
-- title: Memory goes into the padding of tiles
-- rank: 130
-- incident: device
-- explained by: compile_oom, runtime_oom, step_does_not_fit
-- asks: How much of a TPU program's memory is padding?
-- needs: a plan with padded and unpadded sizes, or an error log that lists buffers
-- tags: plan, tpu, layout
-- severity: warning when a quarter of the program or more is padding, else info
-- cause: TPU layouts are tiled: the minor-most dimension is padded to a multiple of 128, the one
--   before it to one of 8 (or less, for the small tiles). A minor dimension of 1 to 16 wastes most.
-- how to read: All buffers at the peak of a plan are counted, but of an error log only those that
--   it lists. Where the error log does not print the unpadded size, it is computed from shape and
--   layout.
-- next: oomdb query --db oom.db "SELECT label, bytes, count FROM finding_items WHERE finding_id
--   LIKE 'padding_waste%'"
-- says: [{module_name}](nameless?The program) holds {bytes:bytes} of padding(in_plan? at its
--   peak| in the buffers that the error log lists)
-- detail: Most of it is in {count:n} × {shape}[ in {layout}]: {largest_padding_bytes:bytes} of
--   {largest_bytes:bytes}[, {op_name}][, {source_file}[:{source_line:n}]].
-- columns:
--   capture_id: the error log, the dump or the capture
--   module_id: the module; NULL for an error log without a matching one
--   bytes: the padding (bytes)
--   count: buffers in the group with the most padding
--   shape: their shape; as an error log prints it, with the layout
--   layout: their layout with the tile, of a plan
--   largest_bytes: bytes of all of them (bytes)
--   largest_padding_bytes: of these padding (bytes)
--   op_name: their JAX operation
--   source_file: its Python file
--   source_line: its line
--   in_plan: 1 when the plan lists them, 0 when an error log does
--   nameless: 1 when the module has no name, else 0
CREATE VIEW padding_waste AS
WITH summed AS (
  SELECT
    p.capture_id,
    p.module_id,
    MAX(p.module_name) AS module_name,
    MAX(p.source) AS source,
    MAX(p.program_bytes) AS program_bytes,
    CAST(SUM(p.bytes) AS BIGINT) AS bytes,
    CAST(SUM(p.padding_bytes) AS BIGINT) AS padding_bytes,
    MAX(CASE WHEN p.position = 1 THEN p.count END) AS count,
    MAX(CASE WHEN p.position = 1 THEN p.shape END) AS shape,
    MAX(CASE WHEN p.position = 1 THEN p.layout END) AS layout,
    MAX(CASE WHEN p.position = 1 THEN p.bytes END) AS largest_bytes,
    MAX(CASE WHEN p.position = 1 THEN p.padding_bytes END) AS largest_padding_bytes,
    MAX(CASE WHEN p.position = 1 THEN p.op_name END) AS op_name,
    MAX(CASE WHEN p.position = 1 THEN p.source_file END) AS source_file,
    MAX(CASE WHEN p.position = 1 THEN p.source_line END) AS source_line
  FROM padding_parts p
  GROUP BY p.capture_id, p.module_id
)
SELECT
  s.capture_id,
  c.run,
  c.host,
  CAST(NULL AS BIGINT) AS device,
  CAST(NULL AS BIGINT) AS device_id,
  s.module_id,
  s.module_name,
  CAST(NULL AS BIGINT) AS execution_id,
  CASE
    WHEN 100 * s.padding_bytes
      >= (SELECT t.setting FROM settings t WHERE t.name = 'padding_warning_percent')
        * COALESCE(s.program_bytes, s.bytes) THEN 'warning'
    ELSE 'info'
  END AS severity,
  'read' AS evidence,
  s.padding_bytes AS bytes,
  s.count,
  s.shape,
  s.layout,
  s.largest_bytes,
  s.largest_padding_bytes,
  s.op_name,
  s.source_file,
  s.source_line,
  CASE WHEN s.source = 'plan' THEN 1 ELSE 0 END AS in_plan,
  CASE WHEN s.module_name IS NULL THEN 1 ELSE 0 END AS nameless
FROM summed s
JOIN captures c ON c.capture_id = s.capture_id
WHERE s.padding_bytes >= (SELECT t.setting FROM settings t WHERE t.name = 'padding_min_bytes')
  AND 100 * s.padding_bytes
    >= (SELECT t.setting FROM settings t WHERE t.name = 'padding_min_percent')
      * COALESCE(s.program_bytes, s.bytes);

-- title: The buffers that the tiles pad most
-- words label: {shape}[ in {layout}][ {op_name}][ {source_file}[:{source_line:n}]]
-- columns:
--   kind: padding
--   label: shape, layout, operation and Python line
--   bytes: padding of the group (bytes)
--   shape: their shape; as an error log prints it, with the layout
--   layout: their layout with the tile, of a plan
--   op_name: the JAX operation
--   source_file: its Python file
--   source_line: its line
CREATE VIEW padding_waste_items AS
SELECT
  p.capture_id,
  CAST(NULL AS BIGINT) AS device_id,
  p.module_id,
  p.position,
  'padding' AS kind,
  p.padding_bytes AS bytes,
  p.count,
  p.shape,
  p.layout,
  p.op_name,
  p.source_file,
  p.source_line
FROM padding_parts p
JOIN padding_waste w
  ON w.capture_id = p.capture_id
  AND (w.module_id = p.module_id OR (w.module_id IS NULL AND p.module_id IS NULL))
WHERE p.position <= (SELECT s.setting FROM settings s WHERE s.name = 'items_max');

-- title: How to fill the tiles
-- words fix by remedy:
--   change_layout: let a large axis be the minor-most one: move the batch or another long dimension
--     last
--   fill_tiles: choose dimensions that fill the tile: multiples of 128 in the last, of 8 in the one
--     before
-- words cost by remedy:
--   change_layout: a transpose
--   fill_tiles: the model changes
-- columns:
--   saving_bytes: the padding (bytes), at most
CREATE VIEW padding_waste_remedies AS
WITH remedies AS (
  SELECT 1 AS position, 'change_layout' AS remedy, 0 AS changes_results
  UNION ALL SELECT 2, 'fill_tiles', 1
)
SELECT
  p.capture_id,
  p.device_id,
  p.module_id,
  r.remedy,
  r.position,
  p.bytes AS saving_bytes,
  CAST(NULL AS BIGINT) AS needs_bytes,
  CAST(NULL AS BIGINT) AS fits,
  r.changes_results,
  'inferred' AS evidence
FROM padding_waste p
CROSS JOIN remedies r;
