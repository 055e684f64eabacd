// What a replay needs of a compiled program, small enough to store beside its plan: with it a
// database alone answers what-if. No HLO comes back out of it that one could read or compile: the
// instructions of fusions have no names, and there are no constants, no source lines, no backend
// configurations. What is kept are operations with shapes and links, the order of the program, the
// buffer assignment with its heap trace, and the names that answers show.
#ifndef OOMDB_INGEST_PLAN_REPLAY_REPLAY_PROGRAM_H_
#define OOMDB_INGEST_PLAN_REPLAY_REPLAY_PROGRAM_H_

#include <google/protobuf/arena.h>

#include <string>
#include <string_view>

#include "ingest/plan/instructions.h"
#include "ingest/plan/stack_frames.h"
#include "proto/hlo.pb.h"

namespace oomdb::ingest {

// Takes out of `hlo` all that PlanModel does not ask for: PlanModel says the same of both. The
// index and the frames are of `hlo`, and of no use afterwards.
void ReduceToReplay(const Instructions& instructions, const StackFrames& frames,
                    proto::HloProto* hlo);
// As that, where there are none yet.
void ReduceToReplay(proto::HloProto* hlo);

// The reduced program, in columns (columns.h), compressed with Zstandard: 3 to 5 % of the HLO
// proto's bytes. Empty: it is larger than ReadReplay reads.
std::string WriteReplay(const proto::HloProto& reduced);

// What WriteReplay wrote; lives as long as `arena`. Throws Error: damaged.
const proto::HloProto& ReadReplay(std::string_view bytes, google::protobuf::Arena* arena);

}  // namespace oomdb::ingest

#endif  // OOMDB_INGEST_PLAN_REPLAY_REPLAY_PROGRAM_H_
