// The bytes of an HloProto, parsed.
#ifndef OOMDB_INGEST_PLAN_HLO_BYTES_H_
#define OOMDB_INGEST_PLAN_HLO_BYTES_H_

#include <google/protobuf/arena.h>

#include <string_view>

#include "proto/hlo.pb.h"

namespace oomdb::ingest {

// Lives as long as `arena`. Throws Error: empty, not a whole HloProto, larger than protobuf can
// hold, or without a module.
proto::HloProto& ParseHlo(std::string_view bytes, google::protobuf::Arena* arena);

}  // namespace oomdb::ingest

#endif  // OOMDB_INGEST_PLAN_HLO_BYTES_H_
