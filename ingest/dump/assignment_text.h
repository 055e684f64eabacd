// …-buffer-assignment.txt: all that the compiler's buffer assignment decides, as text. It lacks the
// order of events, so the heap's peak is unknown, and in many compilers the instructions, so
// roles, op names and lines (used_values.h).
//
//   BufferAssignment:
//   allocation 0: size 4000000, parameter 0, shape |f32[100]| at ShapeIndex {}, maybe-live-out:
//    value: <8 param.1{0} (phi) @0> (size=4000000,offset=0): f32[100]{0}
#ifndef OOMDB_INGEST_DUMP_ASSIGNMENT_TEXT_H_
#define OOMDB_INGEST_DUMP_ASSIGNMENT_TEXT_H_

#include <string_view>

#include "ingest/plan/plan.h"

namespace oomdb::ingest {

bool IsAssignmentText(std::string_view text);

// Lines that are cut or of another form become issues. The module's name is not in the text.
Plan ReadAssignmentText(std::string_view text);

}  // namespace oomdb::ingest

#endif  // OOMDB_INGEST_DUMP_ASSIGNMENT_TEXT_H_
