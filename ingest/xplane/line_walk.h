// The second pass: the events of one line, in the order of the wire, in bounded memory.
#ifndef OOMDB_INGEST_XPLANE_LINE_WALK_H_
#define OOMDB_INGEST_XPLANE_LINE_WALK_H_

#include <algorithm>
#include <cstdint>
#include <limits>
#include <string>
#include <string_view>

#include "ingest/base/wire.h"
#include "ingest/xplane/space_index.h"
#include "ingest/xplane/window.h"

namespace oomdb {

// What stands beside a line's events.
struct LineHead {
  int64_t id = 0;  // For host threads a 64-bit hash.
  std::string name;
  int64_t timestamp_ns = 0;
};

struct RawEvent {
  int64_t ordinal = 0;  // Its place in the line, from 0.
  int64_t metadata_id = 0;
  int64_t offset_ps = 0;
  int64_t duration_ps = 0;
  std::string_view body;  // The whole XEvent message; valid during the call only.
};

// Calls `visit(const RawStat&)` for each stat of an event.
template <typename Visit>
void ForEachStat(std::string_view event_body, Visit&& visit) {
  WireCursor cursor(event_body);
  while (cursor.Next()) {
    if (cursor.field() == 4) visit(ParseStat(cursor.bytes()));
  }
}

// The head of a line. Reads past the events only when the timestamp isn't before them, which no recorder does.
LineHead ReadLineHead(Window* window, Extent line);

// Events longer than this are passed over: no recorder writes one, and the window must stay bounded.
inline constexpr uint64_t kMaxEventBytes = uint64_t{16} << 20;

struct WalkResult {
  int64_t events = 0;      // Seen, wanted or not.
  bool malformed = false;  // The line is unreadable from some point on; the events before it were visited.
};

// Stands for an event that nobody asked for.
inline constexpr int64_t kUnwanted = std::numeric_limits<int64_t>::min();

// Fills the event from its body, or marks it unwanted. False when the body is malformed.
template <typename Wants>
bool ReadEvent(Wants&& wants, RawEvent* event) {
  constexpr char kMetadataIdTag = 1 << 3;
  if (!event->body.empty() && event->body[0] == kMetadataIdTag) {
    // The usual order of the wire: the id comes first, and often it is all that must be read.
    const char* p = event->body.data() + 1;
    uint64_t id;
    if (!DecodeVarint(&p, event->body.data() + event->body.size(), &id)) return false;
    if (!wants(static_cast<int64_t>(id))) {
      event->metadata_id = kUnwanted;
      return true;
    }
  }
  WireCursor cursor(event->body);
  while (cursor.Next()) {
    if (cursor.field() == 1) event->metadata_id = cursor.int64();
    if (cursor.field() == 2) event->offset_ps = cursor.int64();
    if (cursor.field() == 3) event->duration_ps = cursor.int64();
  }
  if (!wants(event->metadata_id)) event->metadata_id = kUnwanted;
  return !cursor.malformed();
}

// The tag, length and payload of a field in memory.
struct FieldInMemory {
  uint32_t field = 0;
  const char* payload = nullptr;  // Null: the head isn't whole in memory.
  uint64_t length = 0;            // Of the payload; may reach beyond what is in memory.
};

inline FieldInMemory ReadFieldHead(const char* p, const char* limit) {
  FieldInMemory head;
  uint64_t tag, ignored;
  if (!DecodeVarint(&p, limit, &tag)) return head;
  head.field = static_cast<uint32_t>(tag >> 3);
  switch (static_cast<WireType>(tag & 7)) {
    case WireType::kVarint:
      if (DecodeVarint(&p, limit, &ignored)) head.payload = p;
      break;
    case WireType::kFixed64:
      head.payload = p;
      head.length = 8;
      break;
    case WireType::kFixed32:
      head.payload = p;
      head.length = 4;
      break;
    case WireType::kBytes:
      if (DecodeVarint(&p, limit, &head.length)) head.payload = p;
      break;
    default:
      head.field = 0;  // No message of ours: field 0 does not exist.
      head.payload = p;
  }
  return head;
}

// Calls `wants(metadata_id)` for each event and, where that is true, `visit(const RawEvent&)`. An event that
// isn't wanted costs its tag, its length and its metadata id.
template <typename Wants, typename Visit>
WalkResult WalkEvents(Window* window, Extent line, Wants&& wants, Visit&& visit) {
  constexpr uint32_t kEvents = 4;
  constexpr uint64_t kHeadBytes = 20;  // Two varints.
  const uint64_t end = line.position + line.length;
  int64_t ordinal = 0;
  uint64_t need = kHeadBytes;
  for (uint64_t position = line.position; position < end;) {
    const uint64_t left = end - position;
    const std::string_view peeked = window->Peek(position, std::min(need, left));
    const std::string_view bytes = peeked.substr(0, std::min<uint64_t>(peeked.size(), left));
    const char* const limit = bytes.data() + bytes.size();
    const char* p = bytes.data();
    need = kHeadBytes;
    while (p < limit) {  // As many whole fields as are in memory.
      const FieldInMemory head = ReadFieldHead(p, limit);
      if (head.payload == nullptr) break;
      const uint64_t whole = static_cast<uint64_t>(head.payload - p) + head.length;
      if (head.field == 0 || head.length > left || whole > left - (p - bytes.data())) {
        return {ordinal, true};
      }
      if (whole > static_cast<uint64_t>(limit - p)) {
        need = whole;
        break;
      }
      p += whole;
      if (head.field != kEvents) continue;
      RawEvent event;
      event.ordinal = ordinal++;
      event.body = std::string_view(head.payload, head.length);
      if (!ReadEvent(wants, &event)) return {ordinal, true};
      if (event.metadata_id != kUnwanted) visit(static_cast<const RawEvent&>(event));
    }
    const auto consumed = static_cast<uint64_t>(p - bytes.data());
    if (consumed == 0 && need <= kHeadBytes) return {ordinal, true};  // A cut head.
    position += consumed;
    if (need > kMaxEventBytes) {
      position += need;
      need = kHeadBytes;
      ++ordinal;
    }
  }
  return {ordinal, false};
}

// Absolute times in picoseconds from a base, saturating: int64 holds 106 days of them.
class TimeBase {
 public:
  explicit TimeBase(int64_t base_ns) : base_ns_(base_ns) {}
  int64_t Picoseconds(int64_t timestamp_ns, int64_t offset_ps) const {
    return Saturate((static_cast<__int128>(timestamp_ns) - base_ns_) * 1000 + offset_ps);
  }
  // Unix ns, rounded down.
  int64_t UnixNs(int64_t picoseconds) const {
    const int64_t ns = picoseconds >= 0 ? picoseconds / 1000 : -((-(picoseconds + 1)) / 1000) - 1;
    return Saturate(static_cast<__int128>(base_ns_) + ns);
  }
  static int64_t Saturate(__int128 value) {
    constexpr __int128 kMax = std::numeric_limits<int64_t>::max() / 2;
    return static_cast<int64_t>(value > kMax ? kMax : value < -kMax ? -kMax : value);
  }

 private:
  int64_t base_ns_;
};

}  // namespace oomdb

#endif  // OOMDB_INGEST_XPLANE_LINE_WALK_H_
