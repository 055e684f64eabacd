-- id: frames
-- title: The Python stack frames that a module's plan names
-- columns:
--   module_id: the module
--   frame_id: from 1
--   parent_frame_id: the caller; NULL for the outermost
--   source_file: the Python file
--   source_line: its line
--   function_name: its function
-- how to read: buffers.frame_id is the innermost frame of a buffer; follow parent_frame_id to the
--   outermost.
CREATE VIEW frames AS
SELECT m.module_id, f.frame_id, f.parent_frame_id, sf.content AS source_file, f.source_line,
  fn.content AS function_name
FROM stored_modules m
JOIN stored_frames f ON f.plan_id = m.plan_id
LEFT JOIN strings sf ON sf.string_id = f.source_file_id
LEFT JOIN strings fn ON fn.string_id = f.function_name_id;
