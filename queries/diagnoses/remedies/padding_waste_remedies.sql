-- id: padding_waste_remedies
-- title: How to fill the tiles
-- columns:
--   capture_id: the log, the dump or the capture
--   device_id: NULL
--   module_id: the module
--   position: from 1, the one to try first
--   fix: what to do
--   saving_bytes: the padding (bytes), at most
--   needs_bytes: NULL
--   fits: NULL
--   cost: what it costs
--   changes_results: 0 or 1
--   evidence: inferred
CREATE VIEW padding_waste_remedies AS
WITH fixes AS (
  SELECT 1 AS position,
    'let a large axis be the minor-most one: move the batch or another long dimension last' AS fix,
    'a transpose' AS cost, 0 AS changes_results
  UNION ALL
  SELECT 2,
    'choose dimensions that fill the tile: multiples of 128 in the last, of 8 in the one before',
    'the model changes', 1
)
SELECT
  p.capture_id,
  p.device_id,
  p.module_id,
  x.position,
  x.fix,
  p.bytes AS saving_bytes,
  CAST(NULL AS BIGINT) AS needs_bytes,
  CAST(NULL AS BIGINT) AS fits,
  x.cost,
  x.changes_results,
  'inferred' AS evidence
FROM padding_waste p
CROSS JOIN fixes x;
