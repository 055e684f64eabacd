#include "ingest/xplane/space_index.h"

#include <algorithm>

#include "base/error.h"

namespace oomdb::ingest {
namespace {

// Field numbers of XSpace, XPlane and XEventMetadata: proto/xplane.proto.
constexpr uint32_t kSpacePlanes = 1, kSpaceErrors = 2, kSpaceWarnings = 3, kSpaceHostnames = 4;
constexpr uint32_t kPlaneId = 1, kPlaneName = 2, kPlaneLines = 3, kPlaneEventMetadata = 4,
                   kPlaneStatMetadata = 5, kPlaneStats = 6;

constexpr size_t kMaxHostnames = 1000;
constexpr uint64_t kMaxHeadBytes = 20;  // A tag and a length or number: two varints.

constexpr std::string_view kWhatItIsNot = "is not a profiler capture (XSpace, .xplane.pb): ";
constexpr std::string_view kWhatToDo =
    "; name the .xplane.pb under plugins/profile/<run>/ of the log directory";

[[noreturn]] void ThrowNotACapture(const Source& source, std::string_view why) {
  throw Error(source.path() + " " + std::string(kWhatItIsNot) + std::string(why) +
              std::string(kWhatToDo));
}

// The head of one field in the source: what WireCursor does in memory, at a position.
struct FieldHead {
  uint32_t field = 0;
  WireType type = WireType::kVarint;
  uint64_t number = 0;   // For varints.
  uint64_t payload = 0;  // Position of the bytes of a kBytes field.
  uint64_t length = 0;   // Their length.
  uint64_t next = 0;     // Position of the next field; may lie beyond the end of the message.
};

bool ReadHead(Window* window, uint64_t position, uint64_t end, FieldHead* head) {
  const std::string_view bytes = window->Peek(position, std::min(kMaxHeadBytes, end - position));
  const char* p = bytes.data();
  const char* limit = p + std::min<uint64_t>(bytes.size(), end - position);
  uint64_t tag;
  if (!DecodeVarint(&p, limit, &tag) || (tag >> 3) == 0 || (tag >> 3) > 0x1fffffff) return false;
  head->field = static_cast<uint32_t>(tag >> 3);
  head->type = static_cast<WireType>(tag & 7);
  head->length = 0;
  switch (head->type) {
    case WireType::kVarint:
      if (!DecodeVarint(&p, limit, &head->number)) return false;
      break;
    case WireType::kFixed64:
      head->length = 8;
      break;
    case WireType::kFixed32:
      head->length = 4;
      break;
    case WireType::kBytes:
      if (!DecodeVarint(&p, limit, &head->length) || head->length > (uint64_t{1} << 62))
        return false;
      break;
    default:
      return false;
  }
  head->payload = position + static_cast<uint64_t>(p - bytes.data());
  head->next = head->payload + head->length;
  return true;
}

class SpaceIndexer {
 public:
  explicit SpaceIndexer(const Source& source) : source_(source), window_(source) {}

  SpaceIndex Run() {
    if (source_.size() == 0) {
      throw Error(source_.path() +
                  " is empty: the recording program was stopped before it wrote "
                  "anything; record again");
    }
    ReadSpace();
    if (whole_planes_ == 0 && !cut_plane_looked_right_)
      ThrowNotACapture(source_, "it holds no plane");
    if (source_.ended_early() && !index_.truncated) {
      index_.truncated = true;
      index_.issues.Add("error", "truncated",
                        "the compressed file ends before its end: what follows is missing");
    }
    return std::move(index_);
  }

 private:
  void ReadSpace() {
    const uint64_t size = source_.size();
    for (uint64_t position = 0; position < size;) {
      FieldHead head;
      if (!ReadHead(&window_, position, size, &head)) {
        if (whole_planes_ == 0) ThrowNotACapture(source_, FirstBytes());
        EndUnreadable(size - position);
        return;
      }
      const bool known = head.field >= kSpacePlanes && head.field <= kSpaceHostnames;
      if ((known && head.type != WireType::kBytes) || (!known && whole_planes_ == 0)) {
        ThrowNotACapture(source_, FirstBytes());
      }
      if (head.next > size) {
        EndInside(head, position);
        return;
      }
      if (head.field == kSpacePlanes) {
        TakePlane(head);
      } else if (head.field == kSpaceHostnames && index_.hostnames.size() < kMaxHostnames) {
        index_.hostnames.emplace_back(Text(head));
      } else if (head.field == kSpaceErrors) {
        index_.issues.Add("warning", "recorder_error", Text(head));
      } else if (head.field == kSpaceWarnings) {
        index_.issues.Add("info", "recorder_warning", Text(head));
      }
      position = head.next;
    }
  }

  // No message begins here: the head of the last one may be cut, else these are not bytes of a
  // capture.
  void EndUnreadable(uint64_t left) {
    if (left < kMaxHeadBytes) {
      index_.truncated = true;
      index_.issues.Add("error", "truncated",
                        "the file ends inside the first bytes of a message; it is left out");
    } else {
      index_.issues.Add("error", "unreadable_bytes",
                        std::to_string(left) + " bytes after the last whole plane make no message");
    }
  }

  void EndInside(const FieldHead& head, uint64_t position) {
    index_.truncated = true;
    PlaneIndex cut;
    if (head.field == kSpacePlanes) {
      cut_plane_looked_right_ =
          ReadPlane({head.payload, source_.size() - head.payload}, &cut, true);
    }
    const std::string what = head.field == kSpacePlanes ? "a plane" : "a message";
    index_.issues.Add(
        "error", "truncated",
        "the file ends inside " + what + (cut.name.empty() ? "" : " (" + cut.name + ")") + ": " +
            std::to_string(source_.size() - position) + " bytes of it are there, of " +
            std::to_string(head.next - position) + "; it is left out");
  }

  void TakePlane(const FieldHead& head) {
    PlaneIndex plane;
    if (!ReadPlane({head.payload, head.length}, &plane, false)) {
      if (whole_planes_ == 0) ThrowNotACapture(source_, FirstBytes());
      index_.issues.Add("error", "malformed_plane",
                        "plane " + plane.name + " at byte " + std::to_string(head.payload) +
                            " is not an XPlane message; it is left out");
      return;
    }
    ++whole_planes_;
    if (plane.kind == PlaneIndex::Kind::kOther) return;
    if (index_.planes.size() == kMaxPlanes) {
      index_.issues.Add(
          "error", "too_many_planes",
          "more than " + std::to_string(kMaxPlanes) + " planes; the rest is left out");
      return;
    }
    index_.planes.push_back(std::move(plane));
  }

  std::string FirstBytes() {
    const std::string_view bytes = window_.Peek(0, 16);
    std::string shown;
    for (const char c : bytes.substr(0, 16)) shown += (c >= 0x20 && c < 0x7f) ? c : '.';
    return "its first bytes are \"" + shown + "\"";
  }

  std::string Text(const FieldHead& head) {
    constexpr uint64_t kMaxText = 4096;
    return std::string(
        window_.Peek(head.payload, kMaxText).substr(0, std::min(head.length, kMaxText)));
  }

  // Reads the plane's metadata and notes where its lines are. False when it is not an XPlane. With
  // `cut`, the plane ends early: true when what is there begins like one.
  bool ReadPlane(Extent extent, PlaneIndex* plane, bool cut) {
    const uint64_t end = extent.position + extent.length;
    // Parsed when the plane's name and, for event metadata, the names of stats are known.
    std::vector<Extent> event_metadata, stat_metadata, stats;
    bool any_field = false;
    for (uint64_t position = extent.position; position < end;) {
      FieldHead head;
      if (!ReadHead(&window_, position, end, &head)) return cut && !plane->name.empty();
      if (head.field == kPlaneId && head.type != WireType::kVarint) return false;
      if (head.field >= kPlaneName && head.field <= kPlaneStats && head.type != WireType::kBytes) {
        return false;
      }
      if (head.next > end) return cut && !plane->name.empty();
      const Extent payload{head.payload, head.length};
      if (head.field == kPlaneName) plane->name = Text(head);
      if (head.field == kPlaneLines) TakeLine(payload, plane);
      if (head.field == kPlaneEventMetadata) event_metadata.push_back(payload);
      if (head.field == kPlaneStatMetadata) stat_metadata.push_back(payload);
      if (head.field == kPlaneStats) stats.push_back(payload);
      any_field = true;
      position = head.next;
    }
    if (cut) return !plane->name.empty();
    Classify(plane);
    if (plane->kind == PlaneIndex::Kind::kOther) return any_field || extent.length == 0;
    plane->stat_names.Expect(stat_metadata.size());
    plane->stat_keys.Expect(stat_metadata.size());
    plane->events.Expect(event_metadata.size());
    plane->roles.Expect(event_metadata.size());
    for (const Extent& entry : stat_metadata) ReadStatMetadata(entry, plane);
    if (plane->kind != PlaneIndex::Kind::kGpu) {  // What a kernel is called, nobody asks.
      for (const Extent& entry : event_metadata) ReadEventMetadata(entry, plane);
    }
    for (const Extent& entry : stats) ReadPlaneStat(entry, plane);
    return true;
  }

  void TakeLine(const Extent& line, PlaneIndex* plane) {
    if (lines_ == kMaxLines) {
      index_.issues.Add(
          "error", "too_many_lines",
          "more than " + std::to_string(kMaxLines) + " threads and streams; the rest is left out");
      return;
    }
    ++lines_;
    plane->lines.push_back(line);
  }

  static void Classify(PlaneIndex* plane) {
    const std::string_view name = plane->name;
    const auto ordinal_after = [&](std::string_view prefix) -> int64_t {
      if (!name.starts_with(prefix) || name.size() == prefix.size()) return -1;
      int64_t number = 0;
      for (const char c :
           name.substr(prefix.size())) {  // "TPU:0 SparseCore 1" is not a device of its own.
        if (c < '0' || c > '9' || number > INT32_MAX) return -1;
        number = number * 10 + (c - '0');
      }
      return number;
    };
    if (name == "/host:metadata") {
      plane->kind = PlaneIndex::Kind::kMetadata;
    } else if (name.starts_with("/host:")) {
      plane->kind = PlaneIndex::Kind::kHost;
    } else if (name == "Task Environment") {
      plane->kind = PlaneIndex::Kind::kEnvironment;
    } else if (const int64_t gpu = ordinal_after("/device:GPU:"); gpu >= 0) {
      plane->kind = PlaneIndex::Kind::kGpu;
      plane->ordinal = gpu;
    } else if (const int64_t tpu = ordinal_after("/device:TPU:"); tpu >= 0) {
      plane->kind = PlaneIndex::Kind::kTpu;
      plane->ordinal = tpu;
    }
  }

  void ReadStatMetadata(Extent extent, PlaneIndex* plane) {
    WireCursor entry(Bytes(extent, kMaxMetadataBytes));
    int64_t id = 0;
    std::string_view name;
    while (entry.Next()) {
      if (entry.field() == 1) id = entry.int64();
      if (entry.field() != 2) continue;
      WireCursor metadata(entry.bytes());
      while (metadata.Next()) {
        if (metadata.field() == 1 && id == 0) id = metadata.int64();
        if (metadata.field() == 2) name = metadata.bytes();
      }
    }
    plane->stat_names[id] = std::string(name.substr(0, kMaxNameBytes));
    const StatKey key = StatKeyOf(name);
    plane->stat_keys[id] = key;
    plane->has_run_ids |= key == StatKey::kRunId;
    plane->has_launch_ids |= key == StatKey::kHloModule || key == StatKey::kCorrelationId;
  }

  // A map entry {1: id, 2: XEventMetadata}. For /host:metadata the HLO proto stays where it is:
  // only its extent is kept.
  void ReadEventMetadata(Extent extent, PlaneIndex* plane) {
    const bool is_module = plane->kind == PlaneIndex::Kind::kMetadata;
    const std::string_view bytes = Bytes(extent, is_module ? kMaxModuleBytes : kMaxMetadataBytes);
    WireCursor entry(bytes);
    ModuleMetadata module;
    std::string_view name;
    while (entry.Next()) {
      if (entry.field() == 1) module.metadata_id = entry.int64();
      if (entry.field() != 2) continue;
      WireCursor metadata(entry.bytes());
      while (metadata.Next()) {
        if (metadata.field() == 1 && module.metadata_id == 0) module.metadata_id = metadata.int64();
        if (metadata.field() == 2) name = metadata.bytes();
        if (metadata.field() != 5 || !is_module) continue;
        const RawStat stat = ParseStat(metadata.bytes());
        const StatKey key = plane->stat_keys.at(stat.metadata_id);
        if (key == StatKey::kHloProto && stat.kind == RawStat::Kind::kText) {
          module.hlo =
              Extent{extent.position + static_cast<uint64_t>(stat.text.data() - bytes.data()),
                     stat.text.size()};
        } else if (key == StatKey::kProgramId && stat.kind == RawStat::Kind::kNumber) {
          module.program_id = stat.number;
        }
      }
    }
    if (entry.malformed()) {
      index_.issues.Add("warning", "malformed_metadata",
                        "an event name of plane " + plane->name + " is unreadable");
      return;
    }
    name = name.substr(0, kMaxNameBytes);
    if (is_module) {
      module.name = std::string(name);
      plane->modules.push_back(std::move(module));
      return;
    }
    EventMetadata& event = plane->events[module.metadata_id];
    event.name = std::string(name);
    event.meaning = MeaningOf(event.name);
    plane->roles[module.metadata_id] = event.meaning.role;
  }

  void ReadPlaneStat(Extent extent, PlaneIndex* plane) {
    const RawStat stat = ParseStat(Bytes(extent, kMaxMetadataBytes));
    const std::string& name = plane->stat_names.at(stat.metadata_id);
    if (name.empty()) return;
    switch (stat.kind) {
      case RawStat::Kind::kNumber:
        plane->numbers[name] = stat.number;
        break;
      case RawStat::Kind::kText:
        if (stat.text.size() <= 4096) plane->texts[name] = std::string(stat.text);
        break;
      case RawStat::Kind::kReference:
        plane->texts[name] = plane->stat_names.at(stat.number);
        break;
      default:
        break;
    }
  }

  std::string_view Bytes(Extent extent, uint64_t max_bytes) {
    if (extent.length > max_bytes) {
      index_.issues.Add(
          "warning", "oversized_metadata",
          "a metadata entry of " + std::to_string(extent.length) + " bytes is left out");
      return {};
    }
    return window_.Peek(extent.position, extent.length).substr(0, extent.length);
  }

  const Source& source_;
  Window window_;
  SpaceIndex index_;
  size_t whole_planes_ = 0;
  size_t lines_ = 0;
  bool cut_plane_looked_right_ = false;
};

}  // namespace

RawStat ParseAnyStat(std::string_view bytes) {
  RawStat stat;
  WireCursor cursor(bytes);
  while (cursor.Next()) {
    switch (cursor.field()) {
      case 1:
        stat.metadata_id = cursor.int64();
        break;
      case 2:
        stat.kind = RawStat::Kind::kDouble;
        stat.real = cursor.fixed_double();
        break;
      case 3:
      case 4:
        stat.kind = RawStat::Kind::kNumber;
        stat.number = cursor.int64();
        break;
      case 5:
      case 6:
        stat.kind = RawStat::Kind::kText;
        stat.text = cursor.bytes();
        break;
      case 7:
        stat.kind = RawStat::Kind::kReference;
        stat.number = cursor.int64();
        break;
      default:
        break;
    }
  }
  return stat;
}

std::string_view TextOf(const RawStat& stat, const PlaneIndex& plane) {
  if (stat.kind == RawStat::Kind::kText) return stat.text;
  if (stat.kind == RawStat::Kind::kReference) return plane.stat_names.at(stat.number);
  return {};
}

SpaceIndex IndexSpace(const Source& source) { return SpaceIndexer(source).Run(); }

}  // namespace oomdb::ingest
