SELECT f.rule, r.position, r.fix, r.saving_bytes, r.needs_bytes, r.fits, r.changes_results
FROM remedies r
JOIN findings f ON f.finding_id = r.finding_id
ORDER BY f.rule, r.position
