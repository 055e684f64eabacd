-- id: plan_parts
-- title: What every module's memory at the heap peak is for, thing by thing
-- columns:
--   module_id: the module
--   place: its place in the plan, from 0
--   memory_space: 0 device memory, 1 vmem, 2 smem, 5 host
--   class: parameter, output, constant or temp
--   kind: weights, optimizer_state, gradients, activations, backward, batch, kv_cache, collectives,
--     workspace, constants, results or other (inferred)
--   bytes: its size (bytes)
--   allocation_index: the allocation that holds it
--   name: of parameters: JAX's name, such as params['w']; NULL: the program gives none
--   shape: its shape; NULL where the plan does not say it
--   dtype: its element type
--   layout: its layout
--   instruction: the instruction that makes it
--   op_name: the JAX operation that makes it
--   source_file: its Python file
--   source_line: its line
--   copy_of: of temps: the instruction whose value it repeats, which is there at the peak too
--   copied_dtype: the element type of that one
--   idle_from: of temps: place in the schedule of the last that touches it up to the peak
--   idle_to: of the next that reads it; NULL: unknown, or nothing does
--   schedule_length: instructions of the entry computation's schedule
--   reader: the instruction that reads it next
--   reader_op_name: its JAX operation
--   reader_file: its Python file
--   reader_line: its line
--   hole_bytes: of temps: the free memory above it at the peak (bytes); NULL: none
--   hole_end: the instruction whose temp ends that; NULL: the end of the allocation
-- how to read: The sizes of a module in memory space 0 add up to its peak_bytes. An allocation of a
--   parameter, an output or a constant counts once, as what the program was given or hands back; a
--   donated parameter is no output. Without a heap trace the temp allocations stand for the temps.
CREATE VIEW plan_parts AS
SELECT
  m.module_id,
  a.place,
  a.memory_space,
  a.class,
  a.kind,
  a.bytes,
  a.allocation_index,
  nm.content AS name,
  sh.content AS shape,
  b.dtype,
  la.content AS layout,
  ins.content AS instruction,
  op.content AS op_name,
  sf.content AS source_file,
  b.source_line,
  co.content AS copy_of,
  a.copied_dtype,
  a.idle_from,
  a.idle_to,
  p.schedule_length,
  rd.content AS reader,
  ro.content AS reader_op_name,
  rf.content AS reader_file,
  a.reader_line,
  a.hole_bytes,
  he.content AS hole_end
FROM stored_modules m
JOIN stored_plans p ON p.plan_id = m.plan_id
JOIN stored_plan_parts a ON a.plan_id = m.plan_id
LEFT JOIN stored_buffers b ON b.plan_id = a.plan_id AND b.position = a.buffer_position
LEFT JOIN strings nm ON nm.string_id = a.name_id
LEFT JOIN strings sh ON sh.string_id = a.shape_id
LEFT JOIN strings la ON la.string_id = b.layout_id
LEFT JOIN strings ins ON ins.string_id = b.instruction_id
LEFT JOIN strings op ON op.string_id = b.op_name_id
LEFT JOIN strings sf ON sf.string_id = b.source_file_id
LEFT JOIN strings co ON co.string_id = a.copy_of_id
LEFT JOIN strings rd ON rd.string_id = a.reader_id
LEFT JOIN strings ro ON ro.string_id = a.reader_op_name_id
LEFT JOIN strings rf ON rf.string_id = a.reader_file_id
LEFT JOIN strings he ON he.string_id = a.hole_end_id;
