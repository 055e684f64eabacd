#include "ingest/plan/hlo_bytes.h"

#include <limits>

#include "base/error.h"

namespace oomdb::ingest {

proto::HloProto& ParseHlo(std::string_view bytes, google::protobuf::Arena* arena) {
  if (bytes.empty()) {
    throw Error("empty where an HloProto was expected: the module's plan was not written");
  }
  if (bytes.size() > std::numeric_limits<int>::max()) {
    throw Error("an HloProto of more than 2 GiB, which protobuf cannot hold: the plan is not read");
  }
  auto& hlo = *google::protobuf::Arena::CreateMessage<proto::HloProto>(arena);
  if (!hlo.ParseFromArray(bytes.data(), static_cast<int>(bytes.size()))) {
    throw Error("not a whole HloProto: the bytes are cut off, damaged or of another format");
  }
  if (hlo.hlo_module().computations_size() == 0) {
    throw Error("no HLO module in it: expected an HloProto, as XLA writes to *.hlo.pb");
  }
  return hlo;
}

}  // namespace oomdb::ingest
