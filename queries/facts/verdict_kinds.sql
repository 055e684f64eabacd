-- id: verdict_kinds
-- title: What a report's first words can be, and what each means
-- columns:
--   verdict: the words, as in findings and incidents; capitals in a report
--   meaning: what happened
--   pictures: what a page draws first, in this order: need, log buffers, hosts, heap, curve,
--     icicle, addresses, log
-- how to read: The verdict of a report is that of its worst incident; `well` only where every
--   question that a capture could answer was answered, else `can't tell`, with what would tell.
CREATE VIEW verdict_kinds AS
SELECT 'too large' AS verdict, 'the program alone needs more than there is' AS meaning,
  'need, curve' AS pictures
UNION ALL SELECT 'leak', 'every execution leaves something behind', 'heap'
UNION ALL SELECT 'pool full', 'an allocator gave up or waited, and no module is to blame',
  'heap, log'
UNION ALL SELECT 'other arrays', 'the program would fit, but other arrays take its room',
  'heap, need'
UNION ALL SELECT 'fragmented', 'enough is free, but not in one piece', 'addresses, heap'
UNION ALL SELECT 'second copy', 'nothing is donated: old and new state are held at once',
  'need, curve'
UNION ALL SELECT 'outside the pool', 'memory that the allocator does not manage ran out', 'log'
UNION ALL SELECT 'on-chip', 'a kernel needs more of the chip''s own small memory', 'log'
UNION ALL SELECT 'host', 'the machine''s own memory ran out', 'log'
UNION ALL SELECT 'odd host', 'one host or device of a job is unlike the others', 'hosts'
UNION ALL SELECT 'did not compile', 'the compiler refused the program', 'need, log buffers'
UNION ALL SELECT 'regressed', 'a program needs more than in the run before', 'curve'
UNION ALL SELECT 'well', 'every question that the capture could answer was answered well', 'curve'
UNION ALL SELECT 'can''t tell', 'the evidence is missing; the report says what would tell', 'curve';
