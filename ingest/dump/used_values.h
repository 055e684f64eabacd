// What a buffer assignment's text says of the values after the allocations, in compilers that print
// it there: the instruction of each, with JAX's name stack and the Python line.
//
//   Used values:
//   <8 fusion.21{1} @0>
//    …
//    from instruction: %fusion.21 = f32[8]{0} fusion(%a), …, metadata={op_name="jit(f)/jvp()/sub"
//        source_file="f.py" source_line=17}
#ifndef OOMDB_INGEST_DUMP_USED_VALUES_H_
#define OOMDB_INGEST_DUMP_USED_VALUES_H_

#include <string_view>

#include "ingest/plan/plan.h"

namespace oomdb::ingest {

// `text`: what follows the line `Used values:`. Fills opcode, op name and line of the plan's
// buffers, which must be ordered by id, and the role of temps where their own instruction says it:
// the other places that roles come from (ingest/plan/roles.h) are not in the text.
void ReadUsedValues(std::string_view text, Plan* plan);

}  // namespace oomdb::ingest

#endif  // OOMDB_INGEST_DUMP_USED_VALUES_H_
