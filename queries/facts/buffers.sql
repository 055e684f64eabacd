-- id: buffers
-- title: The logical buffers of a module's plan
-- columns:
--   buffer_id: module_id * 16777216 + its place in the plan
--   module_id: the module
--   logical_buffer_id: LogicalBuffer.id
--   allocation_index: the allocation that holds it
--   memory_space: 0 device memory, 1 vmem, 2 smem, 5 host
--   class: its allocation's class
--   role: for temporaries: workspace, backward, forward, other (inferred)
--   role_via: the instruction whose name stack gave the role; NULL: its own
--   bytes: its size, with padding (bytes)
--   unpadded_bytes: elements x element size (bytes)
--   offset_bytes: its place in the allocation (bytes)
--   dtype: the element type
--   shape: as XLA prints it, without layout
--   layout: the layout
--   instruction: the instruction that defines it
--   shape_index: its place in that instruction's shape, as {0}; {} is the whole
--   opcode: that instruction's opcode
--   op_name: JAX's name stack
--   source_file: the Python file
--   source_line: its line
--   function_name: its function
--   first_live: event position in the replay
--   last_live: event position in the replay
--   at_peak: 1 when live at the heap peak, 0 when not, NULL without a trace
--   frame_id: the innermost row of frames
--   line_via: the instruction whose line that is; NULL: its own
--   stack: what a loop fills, one slice a round: kept for the backward pass alone, or carried from
--     round to round or read by other code too; NULL: neither
--   repeat_count: for temporaries at the peak: those of its shape, role and name stack, but for
--     digits
--   score_length: S of attention scores [..., S, S]; NULL: it is none
--   vocabulary_length: V of logits and their gradients [..., V]; NULL: it is none
--   padded_dimension: the dimension whose padding to the tile costs most, from 0; NULL: none
--   padded_from: its extent
--   padded_to: what it is padded to
CREATE VIEW buffers AS
SELECT m.module_id * 16777216 + b.position AS buffer_id, m.module_id, b.logical_buffer_id,
  b.allocation_index, b.memory_space, b.class, b.role, rv.content AS role_via, b.bytes,
  b.unpadded_bytes, b.offset_bytes, b.dtype, sh.content AS shape, la.content AS layout,
  ins.content AS instruction, b.shape_index, b.opcode, op.content AS op_name,
  sf.content AS source_file, b.source_line, fn.content AS function_name, b.first_live, b.last_live,
  b.at_peak, b.frame_id, lv.content AS line_via, b.stack, b.repeat_count, b.score_length,
  b.vocabulary_length, b.padded_dimension, b.padded_from, b.padded_to
FROM stored_modules m
JOIN stored_buffers b ON b.plan_id = m.plan_id
LEFT JOIN strings rv ON rv.string_id = b.role_via_id
LEFT JOIN strings lv ON lv.string_id = b.line_via_id
LEFT JOIN strings sh ON sh.string_id = b.shape_id
LEFT JOIN strings la ON la.string_id = b.layout_id
LEFT JOIN strings ins ON ins.string_id = b.instruction_id
LEFT JOIN strings op ON op.string_id = b.op_name_id
LEFT JOIN strings sf ON sf.string_id = b.source_file_id
LEFT JOIN strings fn ON fn.string_id = b.function_name_id;
