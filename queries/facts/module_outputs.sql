-- id: module_outputs
-- title: The leaves of a module's result, in order
-- columns:
--   module_id: the module
--   position: from 0
--   shape: without layout
--   bytes: its size (bytes)
--   aliased: 1 when it takes over a donated parameter
--   role: the role of the instruction that makes it (inferred); NULL: unknown
--   opcode: that instruction's opcode; a fusion's root's
--   instruction: its name
--   memory_space: 0 device memory, 5 host
--   donor_is_read: 1 when the loop that fills it reads a parameter of its shape meanwhile, so that
--     donating that one saves nothing
CREATE VIEW module_outputs AS
SELECT m.module_id, o.position, s.content AS shape, o.bytes, o.aliased, o.role, o.opcode,
  i.content AS instruction, o.memory_space, o.donor_is_read
FROM stored_modules m
JOIN stored_module_outputs o ON o.plan_id = m.plan_id
JOIN strings s ON s.string_id = o.shape_id
LEFT JOIN strings i ON i.string_id = o.instruction_id;
