#include <algorithm>
#include <array>

#include "cli/report_model.h"
#include "cli/report_values.h"
#include "schema/query.h"

namespace oomdb {
namespace {

// Groups of listed buffers; a text lists 20 at most.
constexpr int64_t kMaxGroups = 10;

// Columns of oom_failures, and what they are called. The stage decides what `needed_bytes` is.
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

class TextReader {
 public:
  TextReader(Database& database, int64_t capture_id) : database_(database), id_(capture_id) {}

  ReportErrorText Read(std::string path) {
    text_.capture_id = id_;
    text_.path = std::move(path);
    for (const Row& row : Ask("SELECT oom_event_id, line, kind, fatal, memory_space, allocator, "
                              "message, repeat_count FROM oom_events WHERE capture_id = :id ORDER "
                              "BY line, oom_event_id")) {
      event_ids_.push_back(Integer(row[0]));
      ReportErrorEvent event;
      event.line = MaybeInteger(row[1]);
      event.kind = Text(row[2]);
      event.fatal = MaybeBool(row[3]);
      event.memory_space = Text(row[4]);
      event.allocator = Text(row[5]);
      event.message = Text(row[6]);
      event.repeat_count = Integer(row[7]);
      text_.events.push_back(std::move(event));
    }
    ReadMain();
    return std::move(text_);
  }

 private:
  std::vector<Row> Ask(const std::string& sql) { return Query(database_, sql, {{"id", id_}}).rows; }

  // The last failure to compile or to run is what ended the program.
  void ReadMain() {
    const std::vector<Row> rows =
        Ask("SELECT oom_event_id, stage, needed_bytes, capacity_bytes, short_bytes FROM "
            "oom_failures WHERE capture_id = :id ORDER BY COALESCE(fatal, 0) DESC, line DESC");
    if (rows.empty()) {
      if (!event_ids_.empty()) ReadStatistics(event_ids_.front());
      return;
    }
    text_.failed = true;
    const Row& row = rows.front();
    SetMain(Integer(row[0]));
    const bool compile = Text(row[1]) == "compile";
    AddNumber("needed_bytes", compile ? "needs" : "request", compile ? "the program" : "",
              MaybeInteger(row[2]));
    AddNumber("capacity_bytes", "capacity", "", MaybeInteger(row[3]));
    AddNumber("short_bytes", "short by", "", MaybeInteger(row[4]));
    ReadNumbers(MaybeInteger(row[2]));
    ReadBuffers();
  }

  // No failure: statistics of a program that fits, or advice.
  void ReadStatistics(int64_t event) {
    SetMain(event);
    // compiled.memory_analysis(): an alias is counted in arguments and in outputs.
    const Row row =
        Query(database_,
              "SELECT arguments_bytes + output_bytes - COALESCE(alias_bytes, 0) + temp_bytes, "
              "capacity_bytes FROM "
              "oom_events WHERE oom_event_id = :event",
              {{"event", main_}})
            .rows.at(0);
    AddNumber("needed_bytes", "needs", "arguments, outputs and temps, less aliased",
              MaybeInteger(row[0]));
    AddNumber("capacity_bytes", "capacity", "", MaybeInteger(row[1]));
    ReadNumbers(std::nullopt);
  }

  void SetMain(int64_t event) {
    main_ = event;
    const auto found = std::find(event_ids_.begin(), event_ids_.end(), event);
    text_.main = static_cast<size_t>(found - event_ids_.begin());
  }

  void AddNumber(std::string_view key, std::string_view name, std::string_view words,
                 std::optional<int64_t> bytes) {
    if (bytes)
      text_.numbers.push_back({std::string(key), std::string(name), std::string(words), *bytes});
  }

  void ReadNumbers(std::optional<int64_t> needed) {
    std::string columns;
    for (const NumberWords& number : kNumbers)
      columns += (columns.empty() ? "" : ", ") + std::string(number.column);
    const Row row =
        Query(database_, "SELECT " + columns + " FROM oom_events WHERE oom_event_id = :event",
              {{"event", main_}})
            .rows.at(0);
    for (size_t i = 0; i < kNumbers.size(); ++i) {
      const std::optional<int64_t> bytes = MaybeInteger(row[i]);
      // What is needed stands above already.
      if (kNumbers[i].column == "used_bytes" && bytes == needed) continue;
      AddNumber(kNumbers[i].column, kNumbers[i].name, kNumbers[i].words, bytes);
    }
  }

  void ReadBuffers() {
    for (const Row& row :
         Query(database_,
               "SELECT bytes, count, COALESCE(shape, label), op_name, source_file, source_line, "
               "padding_bytes FROM oom_parts WHERE oom_event_id = :event AND source = 'text' ORDER "
               "BY position LIMIT :most",
               {{"event", main_}, {"most", kMaxGroups}})
             .rows) {
      ReportGroup group;
      group.bytes = Integer(row[0]);
      group.count = Integer(row[1]);
      group.shape = Text(row[2]);
      group.op_name = Text(row[3]);
      group.source_file = Text(row[4]);
      group.source_line = MaybeInteger(row[5]);
      text_.buffers.push_back(std::move(group));
      text_.padding.push_back(MaybeInteger(row[6]));
    }
  }

  Database& database_;
  const int64_t id_;
  ReportErrorText text_;
  std::vector<int64_t> event_ids_;
  int64_t main_ = 0;
};

}  // namespace

std::vector<ReportErrorText> ReadReportErrorTexts(Database& database, int64_t capture_id) {
  std::vector<ReportErrorText> texts;
  for (const Row& row :
       Query(database,
             "SELECT c.capture_id, c.path FROM captures c, captures s WHERE s.capture_id = :id AND "
             "c.kind = 'oom_log' AND (c.capture_id = s.capture_id OR (s.kind <> 'oom_log' AND "
             "c.run = s.run)) ORDER BY c.path, c.capture_id",
             {{"id", capture_id}})
           .rows) {
    ReportErrorText text = TextReader(database, Integer(row[0])).Read(Text(row[1]));
    if (!text.events.empty()) texts.push_back(std::move(text));
  }
  return texts;
}

}  // namespace oomdb
