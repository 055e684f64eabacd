// The second pass: the events of one line, in the order of the wire, in bounded memory.
#ifndef OOMDB_INGEST_XPLANE_LINE_WALK_H_
#define OOMDB_INGEST_XPLANE_LINE_WALK_H_

#include <algorithm>
#include <cstdint>
#include <limits>
#include <string>
#include <string_view>

#include "ingest/base/wire.h"
#include "ingest/xplane/limits.h"
#include "ingest/xplane/space_index.h"
#include "ingest/xplane/window.h"

namespace oomdb::ingest {

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
  std::string_view body;   // The whole XEvent message; valid during the call only.
  std::string_view stats;  // Of the body, from the first stat on.
};

// The tags of an event's fields as recorders write them.
inline constexpr char kEventIdTag = 1 << 3, kEventOffsetTag = 2 << 3, kEventDurationTag = 3 << 3,
                      kEventStatTag = 4 << 3 | 2;

// Calls `visit(const RawStat&)` for each stat among the fields of an event.
template <typename Visit>
void ForEachStat(std::string_view event_fields, Visit&& visit) {
  const char* p = event_fields.data();
  const char* const end = p + event_fields.size();
  while (p != end && *p == kEventStatTag) {  // The usual order: nothing but stats to the end.
    const char* stat = p + 1;
    uint64_t length;
    if (!DecodeVarint(&stat, end, &length) || length > static_cast<uint64_t>(end - stat)) return;
    visit(ParseStat(std::string_view(stat, length)));
    p = stat + length;
  }
  WireCursor cursor(std::string_view(p, static_cast<size_t>(end - p)));
  while (cursor.Next()) {
    if (cursor.field() == 4) visit(ParseStat(cursor.bytes()));
  }
}

// The head of a line. Reads past the events only when the timestamp isn't before them, which no
// recorder does.
LineHead ReadLineHead(Window* window, Extent line);

struct WalkResult {
  int64_t events = 0;  // Seen, wanted or not.
  bool malformed =
      false;  // The line is unreadable from some point on; the events before it were visited.
};

enum class EventReading { kWanted, kUnwanted, kMalformed };

// Whether nothing but whole stats stands there.
inline bool OnlyStats(const char* p, const char* end) {
  while (p != end) {
    uint64_t length;
    if (*p != kEventStatTag || !DecodeVarint(&++p, end, &length) ||
        length > static_cast<uint64_t>(end - p)) {
      return false;
    }
    p += length;
  }
  return true;
}

// Fills the event from its body, if it is wanted. An event that counts occurrences has no time: it
// is not.
template <typename Wants>
EventReading ReadEvent(Wants&& wants, RawEvent* event) {
  const char* p = event->body.data();
  const char* const end = p + event->body.size();
  if (p != end && *p == kEventIdTag) {
    // The usual order of the wire: the id comes first, and often it is all that must be read.
    uint64_t id = 0, number = 0;
    if (!DecodeVarint(&++p, end, &id)) return EventReading::kMalformed;
    if (!wants(static_cast<int64_t>(id))) return EventReading::kUnwanted;
    event->metadata_id = static_cast<int64_t>(id);
    bool usual = true;
    if (p != end && *p == kEventOffsetTag) {
      usual = DecodeVarint(&++p, end, &number);
      event->offset_ps = static_cast<int64_t>(number);
    }
    if (usual && p != end && *p == kEventDurationTag) {
      usual = DecodeVarint(&++p, end, &number);
      event->duration_ps = static_cast<int64_t>(number);
    }
    if (usual && OnlyStats(p, end)) {
      event->stats = std::string_view(p, static_cast<size_t>(end - p));
      return EventReading::kWanted;
    }
  }
  // Anything else: field by field, from the start.
  event->metadata_id = event->offset_ps = event->duration_ps = 0;
  event->stats = event->body;
  bool has_time = true;
  WireCursor cursor(event->body);
  while (cursor.Next()) {
    if (cursor.field() == 1) event->metadata_id = cursor.int64();
    if (cursor.field() == 2) event->offset_ps = cursor.int64();
    if (cursor.field() == 3) event->duration_ps = cursor.int64();
    if (cursor.field() == 5) has_time = false;
  }
  if (cursor.malformed()) return EventReading::kMalformed;
  return has_time && wants(event->metadata_id) ? EventReading::kWanted : EventReading::kUnwanted;
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
  head.field = tag >> 3 > 0x1fffffff ? 0 : static_cast<uint32_t>(tag >> 3);
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

// Calls `wants(metadata_id)` for each event and, where that is true, `visit(const RawEvent&)`. An
// event that isn't wanted costs its tag, its length and its metadata id.
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
      const EventReading reading = ReadEvent(wants, &event);
      if (reading == EventReading::kMalformed) return {ordinal, true};
      if (reading == EventReading::kWanted) visit(static_cast<const RawEvent&>(event));
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

struct TimeSpan {
  int64_t start_ps = 0;
  int64_t end_ps = 0;
};

// Absolute times in picoseconds from a base, saturating: int64 holds 106 days of them.
class TimeBase {
 public:
  // `base_ns`: where the picoseconds begin, on the clock of the lines. `clock_unix_ns`: the Unix
  // time at which that clock was 0; recorders that write Unix times into the lines need none.
  explicit TimeBase(int64_t base_ns, int64_t clock_unix_ns = 0)
      : base_ns_(base_ns), unix_ns_(Saturate(static_cast<__int128>(base_ns) + clock_unix_ns)) {}

  // When an event of a line was. A negative duration is none.
  TimeSpan SpanOf(const LineHead& line, const RawEvent& event) const {
    TimeSpan span;
    constexpr int64_t kMax = std::numeric_limits<int64_t>::max() / 2;
    int64_t ahead;
    if (!__builtin_sub_overflow(line.timestamp_ns, base_ns_, &ahead) &&
        !__builtin_mul_overflow(ahead, 1000, &ahead) &&
        !__builtin_add_overflow(ahead, event.offset_ps, &span.start_ps) &&
        !__builtin_add_overflow(span.start_ps, std::max<int64_t>(event.duration_ps, 0),
                                &span.end_ps) &&
        span.start_ps >= -kMax && span.end_ps <= kMax) {
      return span;  // As nearly always.
    }
    span.start_ps =
        Saturate((static_cast<__int128>(line.timestamp_ns) - base_ns_) * 1000 + event.offset_ps);
    span.end_ps =
        Saturate(static_cast<__int128>(span.start_ps) + std::max<int64_t>(event.duration_ps, 0));
    return span;
  }
  // Unix ns, rounded down.
  int64_t UnixNs(int64_t picoseconds) const {
    const int64_t ns = picoseconds >= 0 ? picoseconds / 1000 : -((-(picoseconds + 1)) / 1000) - 1;
    return Saturate(static_cast<__int128>(unix_ns_) + ns);
  }
  static int64_t Saturate(__int128 value) {
    constexpr __int128 kMax = std::numeric_limits<int64_t>::max() / 2;
    return static_cast<int64_t>(value > kMax ? kMax : value < -kMax ? -kMax : value);
  }

 private:
  int64_t base_ns_;
  int64_t unix_ns_;  // Of the base.
};

}  // namespace oomdb::ingest

#endif  // OOMDB_INGEST_XPLANE_LINE_WALK_H_
