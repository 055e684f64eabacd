-- id: allocations
-- title: The allocations of the allocators, each with its free
-- columns:
--   allocation_id: local id
--   capture_id: the capture
--   allocator_id: the allocator
--   address: NULL for what was never seen in an event
--   requested_bytes: as asked for (bytes)
--   bytes: as given (bytes)
--   alloc_ns: Unix ns; NULL: live before the capture
--   free_ns: Unix ns; NULL: live at its end
--   in_use_after_bytes: the allocator's in-use after it (bytes)
--   fragmentation: as recorded with it (fraction)
--   execution_id: the execution that made it
--   module_id: that execution's module
--   allocation_index: the plan allocation it is (inferred by size)
--   purpose: output, temp, transfer, other (inferred)
--   origin: where it came from, for people
--   alloc_event_id: its event in host_events
--   free_event_id: its free's event in host_events
CREATE VIEW allocations AS
-- The capture is its allocator's: so those of one capture are found by the index on the allocator.
SELECT a.allocation_id, p.capture_id, a.allocator_id, a.address, a.requested_bytes, a.bytes,
  a.alloc_ns, a.free_ns,
  a.in_use_after_bytes, a.fragmentation, a.execution_id, a.module_id, a.allocation_index, a.purpose,
  o.content AS origin, a.alloc_event_id, a.free_event_id
FROM stored_allocations a
JOIN allocators p ON p.allocator_id = a.allocator_id
LEFT JOIN strings o ON o.string_id = a.origin_id;
