// Captures (XSpace bytes) from readable calls: the lowest layer of what tests are fed with.
//
//   CaptureBuilder capture("gpu-node-0");
//   PlaneBuilder& host = capture.Plane("/host:CPU");
//   LineBuilder& python = host.Line("python", /*timestamp_ns=*/1500);
//   const size_t step = python.Begin("PjitFunction(step)", /*start_ns=*/2000);
//   python.Event("MemoryAllocation", 2500, 0, {Text("allocator_name", "GPU_0_bfc"), Int("addr",
//   4096)}); python.End(step, 9000); capture.AddModule("jit_step", 7, hlo.Bytes());       //
//   hlo_builder.h const std::string bytes = capture.Bytes();
//
// A whole run of steps with its allocator is told more easily with GpuStory (gpu_story.h).
// References to planes and lines stay valid for the life of the builder. Times of events are those
// of the profiler's clock (line timestamp + offset); the recorders put the Unix time of its zero
// into the plane "Task Environment" (ProfileStart).
#ifndef OOMDB_TESTS_SUPPORT_CAPTURE_BUILDER_H_
#define OOMDB_TESTS_SUPPORT_CAPTURE_BUILDER_H_

#include <cstdint>
#include <list>
#include <map>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "proto/xplane.pb.h"

namespace oomdb {

struct BytesValue {
  std::string bytes;
};
struct RefValue {  // A string stored once, as the name of a stat's metadata.
  std::string text;
};

struct Stat {
  std::string name;
  std::variant<int64_t, uint64_t, double, std::string, BytesValue, RefValue> value;
};

inline Stat Int(std::string name, int64_t value) { return {std::move(name), value}; }
inline Stat UInt(std::string name, uint64_t value) { return {std::move(name), value}; }
inline Stat Real(std::string name, double value) { return {std::move(name), value}; }
inline Stat Text(std::string name, std::string value) {
  return {std::move(name), std::move(value)};
}
inline Stat Ref(std::string name, std::string value) {
  return {std::move(name), RefValue{std::move(value)}};
}
inline Stat Blob(std::string name, std::string value) {
  return {std::move(name), BytesValue{std::move(value)}};
}

class PlaneBuilder;

class LineBuilder {
 public:
  // An event with all that is known of it. A duration of 0 is an instant.
  LineBuilder& Event(std::string_view name, int64_t start_ns, int64_t duration_ns,
                     const std::vector<Stat>& stats = {});
  // An event whose end is not known yet: what comes in between is inside it.
  size_t Begin(std::string_view name, int64_t start_ns, const std::vector<Stat>& stats = {});
  void End(size_t event, int64_t end_ns);

 private:
  friend class PlaneBuilder;
  LineBuilder(PlaneBuilder& plane, proto::XLine& line) : plane_(plane), line_(line) {}

  PlaneBuilder& plane_;
  proto::XLine& line_;
};

class PlaneBuilder {
 public:
  explicit PlaneBuilder(std::string name, int64_t id);
  PlaneBuilder(const PlaneBuilder&) = delete;

  PlaneBuilder& Stats(const std::vector<Stat>& stats);
  // The line of this name, made on the first call (then with this timestamp and id; id 0: a
  // number).
  LineBuilder& Line(const std::string& name, int64_t timestamp_ns = 0, int64_t id = 0);
  // A module: an event metadata "name(program_id)" with the HLO proto in a stat (empty: none).
  PlaneBuilder& Module(const std::string& name, int64_t program_id, const std::string& hlo_bytes,
                       bool program_id_stat);
  // Recorders write names after the lines that use them; this plane has them before.
  PlaneBuilder& NamesFirst(bool names_first = true);

  // The id of the metadata of this name, made on the first call.
  int64_t EventName(std::string_view name);
  int64_t StatName(std::string_view name);
  proto::XStat MakeStat(const Stat& stat);
  proto::XPlane& proto() { return plane_; }
  std::string Bytes() const;

 private:
  proto::XPlane plane_;
  std::list<LineBuilder> lines_;
  std::map<std::string, LineBuilder*> lines_by_name_;
  std::map<std::string, int64_t, std::less<>> event_names_;
  std::map<std::string, int64_t, std::less<>> stat_names_;
  bool names_first_ = false;
};

class CaptureBuilder {
 public:
  // `host_name` as the capture itself says; empty: it says none.
  explicit CaptureBuilder(std::string host_name = "");

  // The plane of this name, made on the first call.
  PlaneBuilder& Plane(const std::string& name);
  // Into "/host:metadata". `program_id_stat`: newer recorders also write the stat program_id.
  CaptureBuilder& AddModule(const std::string& name, int64_t program_id,
                            const std::string& hlo_bytes, bool program_id_stat = false);
  // The Unix time, in nanoseconds, of the profiler's clock at 0.
  CaptureBuilder& ProfileStart(uint64_t unix_ns);
  CaptureBuilder& Warning(std::string text);

  // Serialized XSpace. The same calls give the same bytes.
  std::string Bytes() const;
  // The bytes, cut inside the last plane: what a recorder leaves that was killed.
  std::string TruncatedBytes() const;

 private:
  std::string host_name_;
  std::list<PlaneBuilder> planes_;
  std::vector<std::string> warnings_;
};

}  // namespace oomdb

#endif  // OOMDB_TESTS_SUPPORT_CAPTURE_BUILDER_H_
