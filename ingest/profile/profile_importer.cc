#include "ingest/profile/profile_importer.h"

#include <algorithm>
#include <optional>
#include <span>
#include <string>

#include "base/error.h"
#include "ingest/plan/stack_frames.h"
#include "ingest/profile/pprof.h"
#include "ingest/source/naming.h"

namespace oomdb::ingest {
namespace {

constexpr int64_t kMaxSampleBytes = int64_t{1} << 53;
constexpr uint64_t kMaxBytes = uint64_t{1} << 30;
// Stacks repeat the same few texts; a file made for it could repeat a long one without end.
constexpr size_t kMaxStackBytes = size_t{64} << 10;
constexpr size_t kMaxAllStacksBytes = size_t{1} << 30;

std::string ReadAll(const Source& source) {
  if (source.size() > kMaxBytes)
    throw Error(source.path() + ": more than 1 GiB, which no device memory profile is");
  std::string bytes(source.size(), '\0');
  source.ReadAt(0, std::span<char>(bytes.data(), bytes.size()));
  return bytes;
}

// Where the values of memory profiles stand among a sample's.
struct Columns {
  std::optional<size_t> count, bytes;

  explicit Columns(const Pprof& pprof) {
    for (size_t i = 0; i < pprof.value_types.size(); ++i) {
      if (pprof.value_types[i] == "allocations") count = i;
      if (pprof.value_types[i] == "space") bytes = i;
    }
  }
};

// Negative: unknown. Some backends say -1 for the code of an executable.
MaybeInt ValueAtColumn(const PprofSample& sample, const std::optional<size_t>& column) {
  if (!column.has_value() || *column >= sample.values.size()) return std::nullopt;
  const int64_t value = sample.values[*column];
  return value < 0 ? MaybeInt() : MaybeInt(value);
}

std::string FrameText(const PprofFrame& frame) {
  std::string text(frame.function.empty() ? "?" : frame.function);
  if (frame.file.empty()) return text;
  text += " (";
  text += frame.file;
  if (frame.line.has_value()) text += ':' + std::to_string(*frame.line);
  return text + ')';
}

// `<string>`, `<frozen importlib._bootstrap>`: code without a file.
bool IsPersonsFile(std::string_view file) {
  return !file.empty() && !file.starts_with('<') && !IsInstalledFile(file);
}

class SampleWriter {
 public:
  SampleWriter(const Pprof& pprof, FactSink& sink) : pprof_(pprof), columns_(pprof), sink_(sink) {}

  void Write() {
    for (const PprofSample& sample : pprof_.samples) {
      ProfileSampleFact fact;
      for (const auto& [key, text] : sample.labels) {
        if (key == "kind") fact.kind = text;
        if (key == "device") fact.device = text;
      }
      fact.count = ValueAtColumn(sample, columns_.count);
      fact.bytes = ValueAtColumn(sample, columns_.bytes);
      // No memory is larger: the file lies, and sums of such would overflow.
      if (fact.bytes.value_or(0) > kMaxSampleBytes) fact.bytes.reset();
      if (fact.count.value_or(0) > kMaxSampleBytes) fact.count.reset();
      ReadStack(sample, fact);
      sink_.Add(fact);
    }
    if (pprof_.bad_references > 0) {
      sink_.Add(IssueFact{"warning", "profile_bad_reference",
                          "the profile refers to frames or texts that are not in it",
                          pprof_.bad_references});
    }
    if (cut_stacks_ > 0) {
      sink_.Add(
          IssueFact{"warning", "profile_stack_cut", "stacks were too long and cut", cut_stacks_});
    }
  }

 private:
  void ReadStack(const PprofSample& sample, ProfileSampleFact& fact) {
    bool cut = false;
    for (const uint64_t id : sample.locations) {
      const auto location = pprof_.locations.find(id);
      if (location == pprof_.locations.end()) continue;
      for (const PprofFrame& frame : location->second) {
        if (fact.source_file.empty() && IsPersonsFile(frame.file)) {
          fact.source_file = frame.file;
          fact.source_line = frame.line;
          fact.function_name = frame.function;
        }
        const size_t bytes = frame.function.size() + frame.file.size();
        if (fact.stack.size() + bytes > kMaxStackBytes ||
            stack_bytes_ + bytes > kMaxAllStacksBytes) {
          cut = true;
          continue;
        }
        if (!fact.stack.empty()) fact.stack += '\n';
        fact.stack += FrameText(frame);
        stack_bytes_ += bytes;
      }
      if (cut) break;
    }
    cut_stacks_ += cut;
  }

  const Pprof& pprof_;
  const Columns columns_;
  FactSink& sink_;
  size_t stack_bytes_ = 0;
  int64_t cut_stacks_ = 0;
};

}  // namespace

bool ClaimsProfile(std::string_view file_name) {
  file_name = WithoutCompressedSuffix(file_name);
  return file_name.ends_with(".prof") || file_name.ends_with(".pprof");
}

bool HoldsProfile(const Source& source, bool) {
  if (source.size() > kMaxBytes) return false;
  // Field numbers and lengths stand at the beginning of every profile: a text, which may be large,
  // has no such bytes there.
  constexpr uint64_t kSampleBytes = 4096;
  std::string sample(std::min<uint64_t>(source.size(), kSampleBytes), '\0');
  source.ReadAt(0, std::span<char>(sample.data(), sample.size()));
  if (std::none_of(sample.begin(), sample.end(), [](char c) { return c >= 0 && c < '\t'; }))
    return false;
  const std::string bytes = ReadAll(source);
  return Columns(ReadPprof(bytes)).bytes.has_value();
}

void ImportProfile(const Source& source, const ImportOptions&, FactSink& sink) {
  const std::string bytes = ReadAll(source);
  const Pprof pprof = ReadPprof(bytes);
  if (!Columns(pprof).bytes.has_value()) {
    if (source.ended_early()) {
      throw Error(source.path() +
                  ": cut off before the texts that tell what its numbers are; fetch it again");
    }
    throw Error(source.path() +
                ": not a pprof profile of memory: it should hold samples of `space`, as "
                "jax.profiler.save_device_memory_profile writes them");
  }
  CaptureFact capture;
  capture.kind = "device_memory_profile";
  capture.truncated = pprof.cut || source.ended_early();
  capture.started_unix_ns = pprof.time_ns;
  sink.Add(capture);
  SampleWriter(pprof, sink).Write();
}

}  // namespace oomdb::ingest
