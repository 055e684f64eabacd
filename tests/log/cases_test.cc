// Walks tests/log/cases: see README.md there.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <functional>
#include <sstream>
#include <string>
#include <string_view>
#include <vector>

#include "ingest/log/forms.h"
#include "ingest/log/log_importer.h"
#include "ingest/log/wrapping.h"
#include "schema/capture_writer.h"
#include "schema/database.h"
#include "schema/query.h"

namespace oomdb::ingest {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kNextLog = "==== the next log ====\n";

std::string Read(const fs::path& path) {
  std::ifstream in(path, std::ios::binary);
  std::ostringstream content;
  content << in.rdbuf();
  return content.str();
}

std::vector<fs::path> CaseLogs() {
  std::vector<fs::path> logs;
  for (const auto& entry : fs::directory_iterator(OOMDB_SOURCE_DIR "/tests/log/cases")) {
    if (entry.path().extension() == ".log") logs.push_back(entry.path());
  }
  std::sort(logs.begin(), logs.end());
  return logs;
}

std::vector<std::string> LogsIn(const std::string& text) {
  std::vector<std::string> logs;
  size_t begin = 0;
  for (size_t next; (next = text.find(kNextLog, begin)) != std::string::npos;
       begin = next + kNextLog.size()) {
    logs.push_back(text.substr(begin, next - begin));
  }
  logs.push_back(text.substr(begin));
  return logs;
}

std::string Printed(const schema::Value& value) {
  if (const auto* number = std::get_if<int64_t>(&value)) return std::to_string(*number);
  if (const auto* text = std::get_if<std::string>(&value)) return *text;
  return "not an integer or a text";
}

// The rows of a table, a column a line, without NULLs and ids.
std::string RowsOf(schema::Database& database, const std::string& table, const std::string& rest,
                   const schema::Parameters& parameters, const std::string& indent,
                   const std::function<std::string(int64_t)>& below = {}) {
  const schema::Rows found =
      schema::Query(database, "SELECT * FROM " + table + " " + rest, parameters);
  std::string text;
  for (const schema::Row& row : found.rows) {
    text += indent + table + '\n';
    int64_t event = 0;
    for (size_t i = 0; i < row.size(); ++i) {
      const std::string& column = found.columns[i];
      if (column == "oom_event_id") event = std::get<int64_t>(row[i]);
      if (column.ends_with("_id") || std::holds_alternative<std::monostate>(row[i])) continue;
      text += indent + "  " + column + ": " + Printed(row[i]) + '\n';
    }
    if (below) text += below(event);
  }
  return text;
}

// What the tables hold after `log` was read.
std::string RowsFrom(const std::string& log) {
  schema::Database database = schema::Database::Throwaway({});
  schema::CaptureSource source;
  source.path = "train.log";
  source.content_hash = "0";
  schema::CaptureWriter writer(database, source);
  ImportLog(*MemorySource(log, "train.log"), ImportOptions(), writer);
  writer.Commit({});
  const auto listed = [&](int64_t event) {
    const std::string of_event = "WHERE oom_event_id = :event ORDER BY position";
    return RowsOf(database, "oom_buffers", of_event, {{"event", event}}, "  ") +
           RowsOf(database, "oom_chunks", of_event, {{"event", event}}, "  ");
  };
  return RowsOf(database, "oom_events", "ORDER BY oom_event_id", {}, "", listed) +
         RowsOf(database, "ingest_issues", "ORDER BY what", {}, "");
}

class LogCaseTest : public testing::TestWithParam<fs::path> {};

TEST_P(LogCaseTest, GivesItsRows) {
  std::string rows;
  for (const std::string& log : LogsIn(Read(GetParam()))) {
    if (!rows.empty()) rows += kNextLog;
    rows += RowsFrom(log);
  }
  const fs::path expected = fs::path(GetParam()).replace_extension(".rows");
  if (std::getenv("OOMDB_UPDATE_CASES") != nullptr && Read(expected) != rows)
    std::ofstream(expected, std::ios::binary) << rows;
  EXPECT_EQ(rows, Read(expected)) << expected;
}

INSTANTIATE_TEST_SUITE_P(Cases, LogCaseTest, testing::ValuesIn(CaseLogs()),
                         [](const auto& info) { return info.param.stem().string(); });

TEST(LogCasesTest, EveryFormHasOne) {
  std::vector<std::string> lines;
  for (const fs::path& path : CaseLogs()) {
    std::istringstream text(Read(path));
    for (std::string line; std::getline(text, line);) lines.push_back(Unwrap(line));
  }
  for (const Form& form : Forms()) {
    EXPECT_TRUE(std::any_of(lines.begin(), lines.end(),
                            [&](const std::string& line) { return FormOf(line) == &form; }))
        << form.id << ": no line of tests/log/cases is of the form with " << form.needle;
  }
}

}  // namespace
}  // namespace oomdb::ingest
