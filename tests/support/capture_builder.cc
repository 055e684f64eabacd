#include "tests/support/capture_builder.h"

#include <google/protobuf/io/coded_stream.h>
#include <google/protobuf/io/zero_copy_stream_impl_lite.h>

#include <stdexcept>
#include <utility>

namespace oomdb {
namespace {

// Maps in the order of their keys, so that the bytes don't change from run to run.
std::string Serialize(const google::protobuf::Message& message) {
  std::string bytes;
  {
    google::protobuf::io::StringOutputStream stream(&bytes);
    google::protobuf::io::CodedOutputStream coded(&stream);
    coded.SetSerializationDeterministic(true);
    message.SerializeToCodedStream(&coded);
  }
  return bytes;
}

// A field of XSpace holding `content`: tag, length, bytes.
std::string Field(int number, const std::string& content) {
  std::string bytes;
  {
    google::protobuf::io::StringOutputStream stream(&bytes);
    google::protobuf::io::CodedOutputStream coded(&stream);
    coded.WriteTag(static_cast<uint32_t>(number << 3 | 2));
    coded.WriteVarint64(content.size());
    coded.WriteString(content);
  }
  return bytes;
}

}  // namespace

LineBuilder& LineBuilder::Event(std::string_view name, int64_t start_ns, int64_t duration_ns,
                                const std::vector<Stat>& stats) {
  End(Begin(name, start_ns, stats), start_ns + duration_ns);
  return *this;
}

size_t LineBuilder::Begin(std::string_view name, int64_t start_ns, const std::vector<Stat>& stats) {
  if (start_ns < line_.timestamp_ns()) {
    throw std::logic_error("an event before its line's timestamp: " + std::string(name));
  }
  proto::XEvent& event = *line_.add_events();
  event.set_metadata_id(plane_.EventName(name));
  event.set_offset_ps((start_ns - line_.timestamp_ns()) * 1000);
  for (const Stat& stat : stats) *event.add_stats() = plane_.MakeStat(stat);
  return static_cast<size_t>(line_.events_size() - 1);
}

void LineBuilder::End(size_t event, int64_t end_ns) {
  proto::XEvent& ended = *line_.mutable_events(static_cast<int>(event));
  const int64_t end_ps = (end_ns - line_.timestamp_ns()) * 1000;
  if (end_ps < ended.offset_ps()) throw std::logic_error("an event that ends before its start");
  ended.set_duration_ps(end_ps - ended.offset_ps());
}

PlaneBuilder::PlaneBuilder(std::string name, int64_t id) {
  plane_.set_name(std::move(name));
  plane_.set_id(id);
}

PlaneBuilder& PlaneBuilder::Stats(const std::vector<Stat>& stats) {
  for (const Stat& stat : stats) *plane_.add_stats() = MakeStat(stat);
  return *this;
}

LineBuilder& PlaneBuilder::Line(const std::string& name, int64_t timestamp_ns, int64_t id) {
  LineBuilder*& line = lines_by_name_[name];
  if (line == nullptr) {
    proto::XLine& made = *plane_.add_lines();
    made.set_name(name);
    made.set_id(id != 0 ? id : plane_.lines_size());
    made.set_timestamp_ns(timestamp_ns);
    line = &lines_.emplace_back(LineBuilder(*this, made));
  }
  return *line;
}

PlaneBuilder& PlaneBuilder::Module(const std::string& name, int64_t program_id,
                                   const std::string& hlo_bytes, bool program_id_stat) {
  const int64_t id = EventName(name + "(" + std::to_string(program_id) + ")");
  proto::XEventMetadata& metadata = (*plane_.mutable_event_metadata())[id];
  if (!hlo_bytes.empty()) *metadata.add_stats() = MakeStat(Blob("Hlo Proto", hlo_bytes));
  if (program_id_stat) {
    *metadata.add_stats() = MakeStat(UInt("program_id", static_cast<uint64_t>(program_id)));
  }
  return *this;
}

PlaneBuilder& PlaneBuilder::NamesFirst(bool names_first) {
  names_first_ = names_first;
  return *this;
}

int64_t PlaneBuilder::EventName(std::string_view name) {
  const auto found = event_names_.find(name);
  if (found != event_names_.end()) return found->second;
  const int64_t id = static_cast<int64_t>(event_names_.size()) + 1;
  event_names_.emplace(name, id);
  proto::XEventMetadata& metadata = (*plane_.mutable_event_metadata())[id];
  metadata.set_id(id);
  metadata.set_name(std::string(name));
  return id;
}

int64_t PlaneBuilder::StatName(std::string_view name) {
  const auto found = stat_names_.find(name);
  if (found != stat_names_.end()) return found->second;
  const int64_t id = static_cast<int64_t>(stat_names_.size()) + 1;
  stat_names_.emplace(name, id);
  proto::XStatMetadata& metadata = (*plane_.mutable_stat_metadata())[id];
  metadata.set_id(id);
  metadata.set_name(std::string(name));
  return id;
}

proto::XStat PlaneBuilder::MakeStat(const Stat& stat) {
  proto::XStat made;
  made.set_metadata_id(StatName(stat.name));
  if (const auto* signed_value = std::get_if<int64_t>(&stat.value)) {
    made.set_int64_value(*signed_value);
  } else if (const auto* unsigned_value = std::get_if<uint64_t>(&stat.value)) {
    made.set_uint64_value(*unsigned_value);
  } else if (const auto* real = std::get_if<double>(&stat.value)) {
    made.set_double_value(*real);
  } else if (const auto* text = std::get_if<std::string>(&stat.value)) {
    made.set_str_value(*text);
  } else if (const auto* blob = std::get_if<BytesValue>(&stat.value)) {
    made.set_bytes_value(blob->bytes);
  } else {
    made.set_ref_value(static_cast<uint64_t>(StatName(std::get<RefValue>(stat.value).text)));
  }
  return made;
}

std::string PlaneBuilder::Bytes() const {
  if (!names_first_) return Serialize(plane_);
  // Two encodings of one message, one after the other, are that message again.
  proto::XPlane names = plane_;
  names.clear_lines();
  proto::XPlane lines;
  *lines.mutable_lines() = plane_.lines();
  return Serialize(names) + Serialize(lines);
}

CaptureBuilder::CaptureBuilder(std::string host_name) : host_name_(std::move(host_name)) {}

PlaneBuilder& CaptureBuilder::Plane(const std::string& name) {
  for (PlaneBuilder& plane : planes_) {
    if (plane.proto().name() == name) return plane;
  }
  return planes_.emplace_back(name, static_cast<int64_t>(planes_.size()));
}

CaptureBuilder& CaptureBuilder::AddModule(const std::string& name, int64_t program_id,
                                          const std::string& hlo_bytes, bool program_id_stat) {
  Plane("/host:metadata").Module(name, program_id, hlo_bytes, program_id_stat);
  return *this;
}

CaptureBuilder& CaptureBuilder::ProfileStart(uint64_t unix_ns) {
  Plane("Task Environment").Stats({UInt("profile_start_time", unix_ns)});
  return *this;
}

CaptureBuilder& CaptureBuilder::Warning(std::string text) {
  warnings_.push_back(std::move(text));
  return *this;
}

std::string CaptureBuilder::Bytes() const {
  std::string bytes;
  for (const PlaneBuilder& plane : planes_) bytes += Field(1, plane.Bytes());
  for (const std::string& warning : warnings_) bytes += Field(3, warning);
  if (!host_name_.empty()) bytes += Field(4, host_name_);
  return bytes;
}

std::string CaptureBuilder::TruncatedBytes() const {
  if (planes_.empty()) throw std::logic_error("a capture without planes can't be cut inside one");
  std::string bytes;
  for (const PlaneBuilder& plane : planes_) {
    const std::string field = Field(1, plane.Bytes());
    bytes += &plane == &planes_.back() ? field.substr(0, field.size() / 2 + 1) : field;
  }
  return bytes;
}

}  // namespace oomdb
