SELECT f.rule, f.severity, f.evidence, f.device, f.module_name, f.bytes, f.title
FROM findings f
ORDER BY f.rule
