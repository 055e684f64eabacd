-- id: jobs
-- title: The runs whose captures are the hosts of one job
-- columns:
--   run: the run
--   hosts: how many hosts it has
-- how to read: A run with two captures of one process is a name that several recordings share: its
--   captures are not compared as hosts.
CREATE VIEW jobs AS
SELECT c.run, COUNT(DISTINCT COALESCE(c.host, '')) AS hosts
FROM captures c
WHERE c.run IS NOT NULL AND c.kind = 'xplane'
GROUP BY c.run
HAVING COUNT(*) = COUNT(DISTINCT COALESCE(c.host, '') || '/'
  || COALESCE(CAST(c.process_index AS VARCHAR(20)), ''));
