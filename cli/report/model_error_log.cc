#include <algorithm>
#include <array>

#include "cli/report/model.h"
#include "schema/query.h"

namespace oomdb::cli {
namespace {

// Columns of oom_events, and what they are called.
struct NumberWords {
  std::string_view column, name, words;
};
constexpr auto kNumbers = std::to_array<NumberWords>({
    {"used_bytes", "in use", ""},
    {"free_bytes", "free", ""},
    {"largest_free_bytes", "largest", "the largest free block"},
    {"total_bytes", "total", "of the program"},
    {"arguments_bytes", "arguments", "parameters and inputs"},
    {"output_bytes", "outputs", ""},
    {"alias_bytes", "aliased", "outputs in the memory of arguments"},
    {"temp_bytes", "temps", ""},
    {"constant_bytes", "constants", ""},
    {"reserved_bytes", "reserved", "by the system"},
    {"fragmentation_bytes", "unused", "fragmentation within the temps"},
    {"tensor_core_bytes", "TensorCore", ""},
    {"sparse_core_bytes", "SparseCore", ""},
});

class LogReader {
 public:
  LogReader(schema::Database& database, int64_t capture_id)
      : database_(database), id_(capture_id) {}

  ReportErrorLog Read(std::string path) {
    log_.capture_id = id_;
    log_.path = std::move(path);
    events_ =
        schema::ReadView(database_, "oom_events", {{"capture_id", id_}}, "line, oom_event_id");
    for (const schema::Record& row : events_) {
      log_.events.push_back({.line = row.MaybeInteger("line"),
                             .kind = row.Text("kind"),
                             .fatal = row.MaybeFlag("fatal"),
                             .memory_space = row.Text("memory_space"),
                             .allocator = row.Text("allocator"),
                             .message = row.Text("message"),
                             .repeat_count = row.Integer("repeat_count")});
    }
    if (!events_.empty()) ReadMain();
    return std::move(log_);
  }

 private:
  // The last failure to compile or to run is what ended the program. Without one, statistics of a
  // program that fits, or advice.
  void ReadMain() {
    const std::vector<schema::Record> failures = schema::ReadView(
        database_, "oom_failures", {{"capture_id", id_}}, "COALESCE(fatal, 0) DESC, line DESC");
    log_.failed = !failures.empty();
    log_.main = log_.failed ? PlaceOf(failures.front().Integer("oom_event_id")) : 0;
    const schema::Record& event = events_.at(*log_.main);
    if (!log_.failed) {
      AddNumber("needed_bytes", "needs", "arguments, outputs and temps, less aliased",
                NeededByAnalysis(event));
      AddNumber("capacity_bytes", "capacity", "", event.MaybeInteger("capacity_bytes"));
      return AddNumbers(event, std::nullopt);
    }
    const schema::Record& failure = failures.front();
    const bool compile = failure.Text("stage") == "compile";
    const std::optional<int64_t> needed = failure.MaybeInteger("needed_bytes");
    AddNumber("needed_bytes", compile ? "needs" : "request", compile ? "the program" : "", needed);
    AddNumber("capacity_bytes", "capacity", "", failure.MaybeInteger("capacity_bytes"));
    AddNumber("short_bytes", "short by", "", failure.MaybeInteger("short_bytes"));
    AddNumbers(event, needed);
    ReadBuffers(failure.Integer("oom_event_id"));
  }

  size_t PlaceOf(int64_t event) const {
    const auto found = std::find_if(events_.begin(), events_.end(), [&](const schema::Record& row) {
      return row.Integer("oom_event_id") == event;
    });
    return static_cast<size_t>(found - events_.begin());
  }

  // compiled.memory_analysis(): an alias is counted in arguments and in outputs.
  static std::optional<int64_t> NeededByAnalysis(const schema::Record& event) {
    int64_t sum = -event.Integer("alias_bytes");
    for (const char* part : {"arguments_bytes", "output_bytes", "temp_bytes"}) {
      if (event.IsNull(part)) return std::nullopt;
      sum += event.Integer(part);
    }
    return sum;
  }

  void AddNumber(std::string_view key, std::string_view name, std::string_view words,
                 std::optional<int64_t> bytes) {
    if (bytes)
      log_.numbers.push_back({std::string(key), std::string(name), std::string(words), *bytes});
  }

  void AddNumbers(const schema::Record& event, std::optional<int64_t> needed) {
    for (const NumberWords& number : kNumbers) {
      const std::optional<int64_t> bytes = event.MaybeInteger(number.column);
      // What is needed stands above already.
      if (number.column == "used_bytes" && bytes == needed) continue;
      AddNumber(number.column, number.name, number.words, bytes);
    }
  }

  void ReadBuffers(int64_t event) {
    for (const schema::Record& row :
         schema::ReadView(database_, "oom_parts",
                          {{"oom_event_id", event}, {"source", std::string("text")}}, "position")) {
      log_.buffers.push_back({.bytes = row.Integer("bytes"),
                              .count = row.Integer("count"),
                              .shape = row.Text(row.IsNull("shape") ? "label" : "shape"),
                              .op_name = row.Text("op_name"),
                              .source_file = row.Text("source_file"),
                              .source_line = row.MaybeInteger("source_line"),
                              .padding_bytes = row.MaybeInteger("padding_bytes")});
    }
  }

  schema::Database& database_;
  const int64_t id_;
  std::vector<schema::Record> events_;
  ReportErrorLog log_;
};

}  // namespace

std::vector<ReportErrorLog> ReadReportErrorLogs(schema::Database& database,
                                                const ReportCapture& capture) {
  // The capture itself, else the logs of its run.
  schema::Parameters which = {{"kind", std::string("oom_log")}};
  if (capture.kind == "oom_log") {
    which["capture_id"] = capture.capture_id;
  } else if (!capture.run.empty()) {
    which["run"] = capture.run;
  } else {
    return {};
  }
  std::vector<ReportErrorLog> logs;
  for (const schema::Record& log :
       schema::ReadView(database, "captures", which, "path, capture_id")) {
    ReportErrorLog read = LogReader(database, log.Integer("capture_id")).Read(log.Text("path"));
    if (!read.events.empty()) logs.push_back(std::move(read));
  }
  return logs;
}

}  // namespace oomdb::cli
