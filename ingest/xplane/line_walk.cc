#include "ingest/xplane/line_walk.h"

namespace oomdb::ingest {
namespace {

// Field numbers of XLine: proto/xplane.proto.
constexpr uint32_t kLineId = 1, kLineName = 2, kLineTimestamp = 3, kLineEvents = 4;

}  // namespace

LineHead ReadLineHead(Window* window, Extent line) {
  LineHead head;
  const uint64_t end = line.position + line.length;
  for (uint64_t position = line.position; position < end;) {
    const uint64_t left = end - position;
    constexpr uint64_t kEnough = 64 << 10;  // A head with a long name.
    const std::string_view peeked = window->Peek(position, std::min(kEnough, left));
    const std::string_view bytes = peeked.substr(0, std::min<uint64_t>(peeked.size(), left));
    const FieldInMemory field = ReadFieldHead(bytes.data(), bytes.data() + bytes.size());
    if (field.payload == nullptr || field.field == 0) break;
    const auto head_bytes = static_cast<uint64_t>(field.payload - bytes.data());
    if (field.length > left - head_bytes) break;
    // Recorders write the head in the order of the field numbers, so the timestamp stands before
    // the events; only where it didn't, the events are stepped over to look for it behind them.
    if (field.field == kLineEvents && head.timestamp_ns != 0) break;
    if (field.field < kLineEvents && head_bytes + field.length <= bytes.size()) {
      WireCursor cursor(bytes.substr(0, head_bytes + field.length));
      cursor.Next();
      if (field.field == kLineId) head.id = cursor.int64();
      if (field.field == kLineName) head.name = std::string(cursor.bytes());
      if (field.field == kLineTimestamp) head.timestamp_ns = cursor.int64();
    }
    position += head_bytes + field.length;
  }
  return head;
}

}  // namespace oomdb::ingest
