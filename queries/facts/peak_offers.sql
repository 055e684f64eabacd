-- id: peak_offers
-- title: What remedies would leave of a plan, by what is live at its heap peak
-- columns:
--   module_id: the module
--   remedy: its key; of two both, joined by +
--   micro_batches: parts of the batch; NULL: it is not split
--   chunks: parts of the loss; NULL: it is not split
--   devices: devices that share the state; NULL: as before
--   vmap_parts: chunks instead of one vmap; NULL: it is none
--   needs_bytes: what is needed then, beside other arrays (bytes)
--   low_bytes: the least that may be (bytes)
--   high_bytes: the most that may be (bytes)
-- how to read: What a replay (plan_changes) does not ask: a vmap, and scratch of library calls. The
--   others only of plans without one: texts, plans without lifetimes or order, those of an earlier
--   version, small ones. Lifetimes don't move here, so the ranges are wide.
CREATE VIEW peak_offers AS
WITH limits AS (
  SELECT
    MAX(CASE WHEN t.name = 'fit_margin_percent' THEN t.setting END) AS same_percent,
    MAX(CASE WHEN t.name = 'fit_margin_schedule_percent' THEN t.setting END) AS schedule_percent,
    MAX(CASE WHEN t.name = 'fit_margin_bound_percent' THEN t.setting END) AS bound_percent,
    MAX(CASE WHEN t.name = 'role_min_percent' THEN t.setting END) AS role_percent
  FROM settings t
),
-- What there is to save. State is what sharding splits: parameters, results, and gradients of their
-- shapes. Chunks of the loss accumulate the gradient of the weights that make the logits.
peaks AS (
  SELECT
    p.module_id,
    m.replayed,
    p.plan_bytes,
    p.vmap_bytes,
    p.workspace_bytes,
    p.platform,
    p.forward_bytes,
    p.stack_bytes + p.block_bytes AS checkpoint_bytes,
    p.block_bytes,
    p.batch_bytes,
    p.accumulator_bytes,
    p.square_bytes,
    p.logits_bytes,
    COALESCE((SELECT MAX(a.bytes)
      FROM plan_allocations a
      WHERE a.module_id = p.module_id AND a.class = 'parameter' AND a.forward_read = 1
        AND (LOWER(a.shape) LIKE '%[' || CAST(p.vocabulary AS VARCHAR(20)) || ',%'
          OR LOWER(a.shape) LIKE '%,' || CAST(p.vocabulary AS VARCHAR(20)) || ']')), 0)
      AS logits_gradient_bytes,
    p.parameter_bytes + p.output_bytes + COALESCE(p.gradient_bytes, 0) AS state_bytes,
    CASE WHEN p.f32_copy_bytes > 0 THEN p.f32_copy_bytes ELSE p.f32_bytes END AS f32_bytes,
    COALESCE(s.bytes, 0) AS donation_bytes,
    COALESCE(s.sure_bytes, 0) AS donation_sure_bytes,
    l.same_percent,
    l.schedule_percent,
    l.bound_percent,
    l.role_percent
  FROM over_capacity_peaks p
  JOIN modules m ON m.module_id = p.module_id
  CROSS JOIN limits l
  LEFT JOIN donation_savings s ON s.module_id = p.module_id
),
powers AS (
  SELECT 2 AS parts UNION ALL SELECT 4 UNION ALL SELECT 8 UNION ALL SELECT 16 UNION ALL SELECT 32
  UNION ALL SELECT 64 UNION ALL SELECT 128 UNION ALL SELECT 256
),
-- `margin`: how the prediction may be off: 0 it keeps the schedule, 1 the compiler schedules anew,
-- 2 the compiler also decides what it keeps. `split`: what has parts.
remedies AS (
  SELECT 'donate' AS remedy, 0 AS margin, 'nothing' AS split
  UNION ALL SELECT 'checkpoint', 2, 'nothing'
  UNION ALL SELECT 'micro_batch', 1, 'batch'
  UNION ALL SELECT 'fused_attention', 2, 'nothing'
  UNION ALL SELECT 'chunk_logits', 1, 'loss'
  UNION ALL SELECT 'shard_parameters', 1, 'state'
  UNION ALL SELECT 'narrower_dtype', 2, 'nothing'
  UNION ALL SELECT 'shorter_sequence', 2, 'nothing'
  UNION ALL SELECT 'donate+checkpoint', 2, 'nothing'
  UNION ALL SELECT 'donate+chunk_logits', 1, 'loss'
  UNION ALL SELECT 'donate+fused_attention', 2, 'nothing'
  UNION ALL SELECT 'donate+micro_batch', 1, 'batch'
  UNION ALL SELECT 'checkpoint+chunk_logits', 2, 'loss'
  UNION ALL SELECT 'checkpoint+micro_batch', 2, 'batch'
  UNION ALL SELECT 'vmap', 1, 'map'
  UNION ALL SELECT 'less_workspace', 2, 'nothing'
),
tried AS (
  SELECT
    p.*,
    r.remedy,
    CASE r.margin WHEN 0 THEN p.same_percent WHEN 1 THEN p.schedule_percent ELSE p.bound_percent
    END AS margin_percent,
    CASE WHEN r.split = 'batch' THEN w.parts END AS micro_batches,
    CASE WHEN r.split = 'loss' THEN w.parts END AS chunks,
    CASE WHEN r.split = 'state' THEN w.parts END AS devices,
    CASE WHEN r.split = 'map' THEN w.parts END AS vmap_parts,
    w.parts,
    CASE WHEN LOWER(r.remedy) LIKE 'donate%' THEN 1 ELSE 0 END AS donates,
    CASE WHEN LOWER(r.remedy) LIKE '%checkpoint%' THEN 1 ELSE 0 END AS checkpoints,
    CASE WHEN LOWER(r.remedy) LIKE '%fused_attention' THEN 1 ELSE 0 END AS fuses,
    CASE WHEN r.split = 'batch' THEN 1 ELSE 0 END AS splits_batch,
    CASE WHEN r.split = 'loss' THEN 1 ELSE 0 END AS splits_loss,
    CASE WHEN r.split = 'state' THEN 1 ELSE 0 END AS splits_state
  FROM peaks p
  CROSS JOIN remedies r
  CROSS JOIN powers w
  WHERE (p.replayed = 0 OR r.remedy IN ('vmap', 'less_workspace'))
    AND (r.split <> 'nothing' OR w.parts = 2) AND (r.split <> 'loss' OR w.parts IN (4, 8, 16))
),
-- Each remedy must save something by itself.
saved AS (
  SELECT
    t.*,
    t.donates * t.donation_bytes
      + t.checkpoints * t.checkpoint_bytes
      + t.fuses * t.square_bytes
      + t.splits_batch * (t.batch_bytes - t.checkpoints * t.checkpoint_bytes - t.accumulator_bytes
        - CAST((t.batch_bytes - t.checkpoints * t.checkpoint_bytes
          - (t.batch_bytes - t.checkpoints * t.checkpoint_bytes) % NULLIF(t.parts, 0))
          / NULLIF(t.parts, 0) AS BIGINT))
      + t.splits_loss * (t.logits_bytes - t.logits_gradient_bytes
        - CAST((t.logits_bytes - t.logits_bytes % NULLIF(t.parts, 0)) / NULLIF(t.parts, 0)
          AS BIGINT))
      + t.splits_state * (t.state_bytes
        - CAST((t.state_bytes - t.state_bytes % NULLIF(t.parts, 0)) / NULLIF(t.parts, 0) AS BIGINT))
      + CASE t.remedy
        WHEN 'vmap' THEN
          CASE
            WHEN 100 * t.vmap_bytes >= t.role_percent * t.plan_bytes THEN t.vmap_bytes
              - CAST((t.vmap_bytes - t.vmap_bytes % NULLIF(t.parts, 0)) / NULLIF(t.parts, 0)
                AS BIGINT)
            ELSE 0
          END
        WHEN 'less_workspace' THEN t.workspace_bytes
        WHEN 'narrower_dtype' THEN CAST((t.f32_bytes - t.f32_bytes % 2) / 2 AS BIGINT)
        WHEN 'shorter_sequence' THEN
          CASE
            WHEN t.square_bytes > 0 THEN
              t.square_bytes - CAST((t.square_bytes - t.square_bytes % 4) / 4 AS BIGINT)
              + CAST((t.batch_bytes - t.square_bytes - (t.batch_bytes - t.square_bytes) % 2) / 2
                AS BIGINT)
            ELSE 0
          END
        ELSE 0
      END AS saving_bytes,
    -- What of the saving is not sure: of donation what lives in the results' memory; of blocks all,
    -- where the compiler is not known and may be one that undoes it; of types all; and a kernel of
    -- a TPU keeps statistics as long as a tile.
    t.donates * (t.donation_bytes - t.donation_sure_bytes)
      + CASE WHEN t.platform IS NULL THEN t.checkpoints * t.block_bytes ELSE 0 END
      + CASE WHEN COALESCE(t.platform, 'tpu') = 'tpu' THEN t.fuses * t.square_bytes ELSE 0 END
      + CASE t.remedy
        WHEN 'narrower_dtype' THEN t.f32_bytes
        WHEN 'less_workspace' THEN t.workspace_bytes
        ELSE 0
      END AS unsure_bytes,
    -- What may be saved beyond it: recomputing may free other values of the forward pass too.
    CASE
      WHEN t.checkpoints = 1 AND t.forward_bytes > t.checkpoint_bytes
        THEN t.forward_bytes - t.checkpoint_bytes
      ELSE 0
    END AS more_bytes
  FROM tried t
  WHERE (t.donates = 0 OR t.donation_bytes > 0)
    AND (t.checkpoints = 0 OR t.checkpoint_bytes > 0)
    AND (t.fuses = 0 OR t.square_bytes > 0)
    AND (t.splits_loss = 0 OR t.logits_bytes > 0)
)
SELECT
  s.module_id,
  s.remedy,
  s.micro_batches,
  s.chunks,
  s.devices,
  s.vmap_parts,
  s.plan_bytes - s.saving_bytes AS needs_bytes,
  CAST(((100 - s.margin_percent) * (s.plan_bytes - s.saving_bytes - s.more_bytes)
    - (100 - s.margin_percent) * (s.plan_bytes - s.saving_bytes - s.more_bytes) % 100) / 100
    AS BIGINT) AS low_bytes,
  CAST(((100 + s.margin_percent) * (s.plan_bytes - s.saving_bytes + s.unsure_bytes)
    - (100 + s.margin_percent) * (s.plan_bytes - s.saving_bytes + s.unsure_bytes) % 100) / 100
    AS BIGINT) AS high_bytes
FROM saved s
WHERE s.saving_bytes > 0;
