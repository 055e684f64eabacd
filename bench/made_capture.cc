#include "bench/made_capture.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <string>
#include <vector>

#include "bench/synthetic_plan.h"

namespace oomdb {
namespace {

using Write = std::function<void(std::string_view)>;

// Wire format: https://protobuf.dev/programming-guides/encoding/
void AddVarint(std::string* out, uint64_t value) {
  for (; value >= 0x80; value >>= 7) *out += static_cast<char>(value | 0x80);
  *out += static_cast<char>(value);
}
void AddNumber(std::string* out, uint32_t field, int64_t value) {
  AddVarint(out, field << 3);
  AddVarint(out, static_cast<uint64_t>(value));
}
void AddReal(std::string* out, uint32_t field, double value) {
  AddVarint(out, field << 3 | 1);
  const auto bits = std::bit_cast<uint64_t>(value);
  for (int i = 0; i < 64; i += 8) *out += static_cast<char>(bits >> i);
}
void AddLength(std::string* out, uint32_t field, uint64_t length) {
  AddVarint(out, field << 3 | 2);
  AddVarint(out, length);
}
void AddBytes(std::string* out, uint32_t field, std::string_view bytes) {
  AddLength(out, field, bytes.size());
  *out += bytes;
}

// Field numbers: proto/xplane.proto.
constexpr uint32_t kSpacePlane = 1, kSpaceHost = 4;
constexpr uint32_t kPlaneId = 1, kPlaneName = 2, kPlaneLine = 3, kPlaneEventNames = 4,
                   kPlaneStatNames = 5, kPlaneStat = 6;

// Names of stats, and of what stats refer to; their ids are their places, from 1.
enum StatId : int64_t {
  kAllocatorName = 1,
  kBytesReserved,
  kBytesAllocated,
  kBytesAvailable,
  kFragmentation,
  kPeakBytes,
  kRequestedBytes,
  kAllocationBytes,
  kAddress,
  kDeviceOrdinal,
  kRunId,
  kHloModule,
  kProgramId,
  kHloOp,
  kHloProto,
  kProfileStart,
  kMemorySize,
  kPoolNameText,
  kModuleText,
  kStatIds,
};
constexpr const char* kStatNames[] = {
    "",
    "allocator_name",
    "bytes_reserved",
    "bytes_allocated",
    "bytes_available",
    "fragmentation",
    "peak_bytes_in_use",
    "requested_bytes",
    "allocation_bytes",
    "addr",
    "device_ordinal",
    "run_id",
    "hlo_module",
    "program_id",
    "hlo_op",
    "Hlo Proto",
    "profile_start_time",
    "memory_size",
    "GPU_0_bfc",
    "jit_host_step",
};
static_assert(std::size(kStatNames) == kStatIds);

// Names of host events: some with a meaning, then as many Python frames and thunks as a program of
// some size has.
enum EventId : int64_t {
  kPjit = 1,
  kExecuteNamed,
  kExecute,
  kBuild,
  kAllocation,
  kDeallocation,
  kLaunch,
  kDonationHolds,
  kFirstFrame,
};
constexpr const char* kEventNames[] = {
    "",
    "PjitFunction(step)",
    "CommonPjRtLoadedExecutable::Execute (jit_step)",
    "CommonPjRtLoadedExecutable::ExecuteHelperOnSingleDevice",
    "Build buffer allocations",
    "MemoryAllocation",
    "MemoryDeallocation",
    "jit_step:XLA GPU module",
    "Wait for donation holds",
};
static_assert(std::size(kEventNames) == kFirstFrame);
constexpr int64_t kFrames = 600;
constexpr int64_t kThunks = 2000;
constexpr int64_t kFirstThunk = kFirstFrame + kFrames;
constexpr int64_t kFirstThunkEnd = kFirstThunk + kThunks;

constexpr int64_t kStartUnixNs = 1'790'000'000'000'000'000;
constexpr int64_t kCapacityBytes = int64_t{16} << 30;
constexpr int64_t kBaseBytes = int64_t{4} << 30;  // In use before the capture.
constexpr int64_t kProgramIdOfStep = 7, kProgramIdOfHostStep = 9;
constexpr int kFramesAStep = 5000;
constexpr int kThunksARun = 2500;
constexpr size_t kPiece = 256 << 10;
constexpr int kWorkers = 4;

std::string EventName(int64_t id) {
  if (id < kFirstFrame) return kEventNames[id];
  if (id < kFirstThunk) {
    const int64_t frame = id - kFirstFrame;
    return fmt::format("$module_{}.py:{} function_{}", frame % 40, 10 + frame, frame);
  }
  if (id < kFirstThunkEnd) return fmt::format("multiply_add_fusion.{}", id - kFirstThunk);
  return fmt::format("end: multiply_add_fusion.{}", id - kFirstThunkEnd);
}

// Small, quick, and the same everywhere: splitmix64.
class Random {
 public:
  explicit Random(uint64_t seed) : state_(seed) {}
  uint64_t operator()() {
    uint64_t z = (state_ += 0x9e3779b97f4a7c15);
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
    z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
    return z ^ (z >> 31);
  }
  int64_t Below(int64_t bound) {
    return static_cast<int64_t>((*this)() % static_cast<uint64_t>(bound));
  }

 private:
  uint64_t state_;
};

// The events of one thread, by start, until there are as many bytes as wanted.
class Thread {
 public:
  Thread(const MadeCapture& capture, int number, const SyntheticPlan& plan, Write write)
      : number_(number),
        plan_(plan),
        random_(capture.seed * 1000 + static_cast<uint64_t>(number)),
        write_(std::move(write)) {}

  // Thread 0 runs Python; the others run thunks.
  void Run(uint64_t bytes) {
    bytes_ = bytes;
    AddNumber(&piece_, 1, 1000 + number_);
    AddBytes(&piece_, 2, number_ == 0 ? "python" : fmt::format("tf_XLAEigen/{}", number_));
    AddNumber(&piece_, 3, kStartUnixNs);
    while (written_ + piece_.size() < bytes_) number_ == 0 ? PythonStep() : RunOfThunks();
    Flush();
  }

 private:
  bool Full() const { return written_ + piece_.size() >= bytes_; }

  void Flush() {
    write_(piece_);
    written_ += piece_.size();
    piece_.clear();
  }

  void Begin(int64_t id, int64_t start_ps, int64_t duration_ps) {
    event_.clear();
    AddNumber(&event_, 1, id);
    AddNumber(&event_, 2, start_ps);
    if (duration_ps > 0) AddNumber(&event_, 3, duration_ps);
  }
  // Of a stat: its id, then its value in this field.
  void Stat(int64_t id, uint32_t field, int64_t value) {
    stat_.clear();
    AddNumber(&stat_, 1, id);
    AddNumber(&stat_, field, value);
    AddBytes(&event_, 4, stat_);
  }
  void End() {
    AddBytes(&piece_, 4, event_);
    if (piece_.size() >= kPiece) Flush();
  }
  void Event(int64_t id, int64_t start_ps, int64_t duration_ps) {
    Begin(id, start_ps, duration_ps);
    End();
  }

  void Memory(bool allocates, int64_t address, int64_t bytes) {
    in_use_ += allocates ? bytes : -bytes;
    peak_ = std::max(peak_, in_use_);
    Begin(allocates ? kAllocation : kDeallocation, now_ps_, 0);
    Stat(kAllocatorName, 7, kPoolNameText);
    Stat(kBytesReserved, 4, 0);
    Stat(kBytesAllocated, 4, in_use_);
    Stat(kBytesAvailable, 4, kCapacityBytes - in_use_);
    Stat(kPeakBytes, 4, peak_);
    Stat(kRequestedBytes, 4, bytes);
    Stat(kAllocationBytes, 4, bytes);
    Stat(kAddress, 4, address);
    stat_.clear();
    AddNumber(&stat_, 1, kFragmentation);
    AddReal(&stat_, 2, 0.125);
    AddBytes(&event_, 4, stat_);
    End();
    now_ps_ += 1'000'000;
  }

  // One execution with its allocations, then the frames of the program's own code.
  void PythonStep() {
    constexpr int64_t kOutputAddress = 0x7f0000000000, kTempAddress = 0x7f4000000000;
    const int64_t start = now_ps_;
    Event(kPjit, start, 60'000'000);
    Event(kExecuteNamed, start + 1'000'000, 55'000'000);
    Event(kExecute, start + 2'000'000, 50'000'000);
    Event(kBuild, start + 3'000'000, 10'000'000);
    now_ps_ = start + 4'000'000;
    // The output of the step before lives until this one has made its own.
    const int64_t address = kOutputAddress + (step_ % 2) * plan_.output_bytes;
    Memory(true, address, plan_.output_bytes);
    Memory(true, kTempAddress, plan_.temp_bytes);
    Event(kLaunch, start + 20'000'000, 20'000'000);
    now_ps_ = start + 45'000'000;
    Memory(false, kTempAddress, plan_.temp_bytes);
    now_ps_ = start + 62'000'000;
    if (step_ > 0) {
      Memory(false, kOutputAddress + ((step_ + 1) % 2) * plan_.output_bytes, plan_.output_bytes);
    }
    ++step_;
    for (int frames = 0; frames < kFramesAStep && !Full();) {
      const int inner = static_cast<int>(1 + random_.Below(8));
      const int64_t each_ps = 200'000 + 1000 * random_.Below(2000);
      Event(kFirstFrame + random_.Below(kFrames), now_ps_, each_ps * inner + 100'000);
      for (int i = 0; i < inner; ++i) {
        Event(i % 8 == 7 ? kDonationHolds : kFirstFrame + random_.Below(kFrames),
              now_ps_ + 50'000 + i * each_ps, each_ps - 50'000);
      }
      frames += inner + 1;
      now_ps_ += each_ps * inner + 200'000;
    }
  }

  // One run of a program on the CPU client, of which each thread has a part.
  void RunOfThunks() {
    const int64_t run = 0x40000000 + step_++;
    for (int i = 0; i < kThunksARun && !Full(); ++i) {
      const int64_t thunk = random_.Below(kThunks);
      const int64_t duration = 100'000 + 1000 * random_.Below(4000);
      Begin(kFirstThunk + thunk, now_ps_, duration);
      Stat(kDeviceOrdinal, 4, 0);
      Stat(kRunId, 4, run);
      Stat(kHloModule, 7, kModuleText);
      Stat(kProgramId, 4, kProgramIdOfHostStep);
      End();
      now_ps_ += duration;
      Begin(kFirstThunkEnd + thunk, now_ps_, 50'000);
      Stat(kDeviceOrdinal, 4, 0);
      Stat(kRunId, 4, run);
      Stat(kHloOp, 7, kModuleText);
      End();
      now_ps_ += 100'000;
    }
  }

  const int number_;
  const SyntheticPlan& plan_;
  Random random_;
  const Write write_;
  uint64_t bytes_ = 0;
  uint64_t written_ = 0;
  std::string piece_, event_, stat_;
  int64_t now_ps_ = 0;
  int64_t step_ = 0;
  int64_t in_use_ = kBaseBytes;
  int64_t peak_ = kBaseBytes;
};

// A map entry {1: id, 2: {1: id, 2: name, …}}.
void AddMetadata(std::string* out, uint32_t field, int64_t id, std::string_view name,
                 std::string_view more = {}) {
  std::string value, entry;
  AddNumber(&value, 1, id);
  AddBytes(&value, 2, name);
  value += more;
  AddNumber(&entry, 1, id);
  AddBytes(&entry, 2, value);
  AddBytes(out, field, entry);
}

void AddStatNames(std::string* plane) {
  for (int64_t id = 1; id < kStatIds; ++id) AddMetadata(plane, kPlaneStatNames, id, kStatNames[id]);
}

void AddPlaneHead(std::string* plane, int64_t id, std::string_view name) {
  AddNumber(plane, kPlaneId, id);
  AddBytes(plane, kPlaneName, name);
}

void AddPlane(std::string* space, const std::string& plane) { AddBytes(space, kSpacePlane, plane); }

std::string NumberStat(int64_t id, int64_t value) {
  std::string stat;
  AddNumber(&stat, 1, id);
  AddNumber(&stat, 3, value);
  return stat;
}

void AddModule(std::string* plane, int64_t program_id, const std::string& name,
               const SyntheticPlan& plan) {
  std::string proto, stats;
  AddNumber(&proto, 1, kHloProto);
  AddBytes(&proto, 6, plan.hlo);
  AddBytes(&stats, 5, proto);
  AddBytes(&stats, 5, NumberStat(kProgramId, program_id));
  AddMetadata(plane, kPlaneEventNames, program_id, fmt::format("{}({})", name, program_id), stats);
}

}  // namespace

void WriteCapture(const MadeCapture& capture, const Write& write) {
  const SyntheticPlan plan = MakePlan("jit_step", kProgramIdOfStep, capture.plan_instructions);
  std::string before;
  {
    std::string plane;
    AddPlaneHead(&plane, 1, "/host:metadata");
    AddModule(&plane, kProgramIdOfStep, "jit_step", plan);
    AddModule(&plane, kProgramIdOfHostStep, "jit_host_step",
              MakePlan("jit_host_step", kProgramIdOfHostStep, capture.plan_instructions));
    AddStatNames(&plane);
    AddPlane(&before, plane);
    plane.clear();
    AddPlaneHead(&plane, 2, "/device:GPU:0");
    AddBytes(&plane, kPlaneStat, NumberStat(kMemorySize, kCapacityBytes / 3 * 4));
    AddStatNames(&plane);
    AddPlane(&before, plane);
    plane.clear();
    AddPlaneHead(&plane, 3, "Task Environment");
    AddBytes(&plane, kPlaneStat, NumberStat(kProfileStart, kStartUnixNs));
    AddStatNames(&plane);
    AddPlane(&before, plane);
    AddBytes(&before, kSpaceHost, "made-host");
  }
  std::string head, names;
  AddPlaneHead(&head, 4, "/host:CPU");
  for (int64_t id = 1; id < kFirstThunkEnd + kThunks; ++id) {
    AddMetadata(&names, kPlaneEventNames, id, EventName(id));
  }
  AddStatNames(&names);

  // A message says its length before its content: the threads are made twice, first to be measured.
  const uint64_t framing = before.size() + head.size() + names.size();
  const uint64_t of_events = capture.bytes > framing ? capture.bytes - framing : 0;
  std::vector<uint64_t> wanted(1 + kWorkers);
  wanted[0] = capture.events == MadeEvents::kPython    ? of_events
              : capture.events == MadeEvents::kThreads ? 0
                                                       : of_events / 4;
  for (int i = 1; i <= kWorkers; ++i) wanted[i] = (of_events - wanted[0]) / kWorkers;
  std::vector<std::string> line_heads(wanted.size());
  uint64_t plane_bytes = head.size() + names.size();
  for (size_t i = 0; i < wanted.size(); ++i) {
    uint64_t bytes = 0;
    Thread(capture, static_cast<int>(i), plan, [&](std::string_view piece) {
      bytes += piece.size();
    }).Run(wanted[i]);
    AddLength(&line_heads[i], kPlaneLine, bytes);
    plane_bytes += line_heads[i].size() + bytes;
  }
  AddLength(&before, kSpacePlane, plane_bytes);
  write(before);
  write(head);
  for (size_t i = 0; i < wanted.size(); ++i) {
    write(line_heads[i]);
    Thread(capture, static_cast<int>(i), plan, write).Run(wanted[i]);
  }
  write(names);
}

}  // namespace oomdb
