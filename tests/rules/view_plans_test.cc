// Asked for one capture, no stored view may read a table that holds the rows of all of them from
// one end to the other. EXPLAIN QUERY PLAN names only aliases, so what is looked at is the
// bytecode: which table or index a cursor opens, and whether a loop begins at its first row.
// ANALYZE is never run, so the plans don't depend on what is stored; a test holds that too.
#include <SQLiteCpp/SQLiteCpp.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "queries/catalogue.h"
#include "tests/rules/rule_database.h"
#include "tests/support/gpu_story.h"

namespace oomdb::queries {
namespace {

// They grow with what the captures hold, not with their number alone.
const std::set<std::string> kBigTables = {"oom_buffers",
                                          "oom_chunks",
                                          "profile_samples",
                                          "stored_allocations",
                                          "stored_buffers",
                                          "stored_executions",
                                          "stored_failed_live",
                                          "stored_frames",
                                          "stored_host_events",
                                          "stored_module_outputs",
                                          "stored_plan_allocations",
                                          "stored_plan_parts",
                                          "stored_start_rises",
                                          "strings"};

// What people know one capture by; the first of them that a view has is asked for.
const std::vector<std::string> kKeys = {"capture_id", "run", "base_run", "module_id",
                                        "oom_event_id"};

// What is read from one end to the other all the same, each with its reason. Nothing else is.
const std::map<std::string, std::set<std::string>> kInherent = {
    // A device is compared with its peers of the run, whichever captures those are in.
    {"host_devices", {"stored_executions_by_start"}},
    {"host_oddities", {"stored_executions_by_start"}},
    {"host_comparison", {"stored_executions_by_start"}},
    {"host_skew", {"stored_executions_by_start"}},
    {"host_skew_items", {"stored_executions_by_start"}},
    {"host_skew_remedies", {"stored_executions_by_start"}},
    // It is made of these.
    {"findings", {"stored_executions_by_start"}},
    {"incident_findings", {"stored_executions_by_start", "stored_executions_by_capture"}},
    {"incidents", {"stored_executions_by_start", "stored_executions_by_capture"}},
};

struct Instruction {
  std::string opcode;
  int64_t p1 = 0, p2 = 0, p3 = 0;
  std::string p4;
};

std::vector<Instruction> Program(schema::Database& database, const std::string& sql) {
  SQLite::Statement statement(database.connection(), "EXPLAIN " + sql);
  std::vector<Instruction> program;
  while (statement.executeStep()) {
    program.push_back({statement.getColumn(1).getString(), statement.getColumn(2).getInt64(),
                       statement.getColumn(3).getInt64(), statement.getColumn(4).getInt64(),
                       statement.getColumn(5).getString()});
  }
  return program;
}

struct Stored {
  std::string table;
  std::string name;  // Of the table, or of its index.
};

std::map<int64_t, Stored> RootPages(schema::Database& database) {
  SQLite::Statement statement(
      database.connection(),
      "SELECT rootpage, tbl_name, name FROM sqlite_schema WHERE rootpage > 0");
  std::map<int64_t, Stored> pages;
  while (statement.executeStep()) {
    pages[statement.getColumn(0).getInt64()] = {statement.getColumn(1).getString(),
                                                statement.getColumn(2).getString()};
  }
  return pages;
}

// A cursor is set to its first or last row and then moved on. A seek past NULL is the same: nearly
// nothing is left out. (An automatic index is filled by such a loop, so it is seen here as well.)
std::set<std::string> ScannedTables(schema::Database& database, const std::string& sql) {
  const std::map<int64_t, Stored> pages = RootPages(database);
  const std::vector<Instruction> program = Program(database, sql);
  std::set<int64_t> moved, nulls, others;
  for (const Instruction& i : program) {
    if (i.opcode == "Next" || i.opcode == "Prev") moved.insert(i.p1);
    if (i.opcode == "Null") {
      for (int64_t r = i.p2; r <= std::max(i.p2, i.p3); ++r) nulls.insert(r);
    }
    if (i.opcode == "Column" || i.opcode == "Rowid") others.insert(i.p3);
    if (i.opcode == "SCopy" || i.opcode == "Copy" || i.opcode == "Integer") others.insert(i.p2);
  }
  std::map<int64_t, Stored> cursors;
  std::set<std::string> scanned;
  for (const Instruction& i : program) {
    if (i.opcode == "OpenRead" && i.p3 == 0) {
      const auto page = pages.find(i.p2);
      if (page != pages.end()) cursors[i.p1] = page->second;
    }
    const auto cursor = cursors.find(i.p1);
    if (cursor == cursors.end() || kBigTables.count(cursor->second.table) == 0) continue;
    const bool is_first = i.opcode == "Rewind" || i.opcode == "Last";
    const bool is_past_null =
        i.opcode == "SeekGT" && i.p4 == "1" && nulls.count(i.p3) > 0 && others.count(i.p3) == 0;
    if ((is_first && moved.count(i.p1) > 0) || is_past_null) scanned.insert(cursor->second.name);
  }
  return scanned;
}

std::optional<std::string> QuestionAboutOne(const CatalogueEntry& entry) {
  for (const std::string& key : kKeys) {
    for (const ColumnMeaning& column : entry.columns) {
      if (column.name != key) continue;
      const bool is_text = key == "run" || key == "base_run";
      return "SELECT * FROM " + entry.id + " WHERE " + key + " = " + (is_text ? "'run1'" : "1") +
             (key == "base_run" ? " AND new_run = 'run2'" : "");
    }
  }
  return std::nullopt;
}

std::string Joined(const std::set<std::string>& names) {
  std::string text;
  for (const std::string& name : names) text += " " + name;
  return text;
}

TEST(ViewPlansTest, OneCaptureWithoutReadingWhatTheOthersHold) {
  schema::Database database = schema::Database::Throwaway(Catalogue::Get().views(), {});
  size_t asked = 0;
  for (const CatalogueEntry& entry : Catalogue::Get().entries()) {
    const std::optional<std::string> sql = QuestionAboutOne(entry);
    if (!sql) continue;
    ++asked;
    const std::set<std::string> scanned = ScannedTables(database, *sql);
    const auto inherent = kInherent.find(entry.id);
    EXPECT_EQ(Joined(scanned), inherent == kInherent.end() ? "" : Joined(inherent->second)) << *sql;
  }
  EXPECT_GT(asked, 80u);
}

// The check sees what it is there for.
TEST(ViewPlansTest, SeesScansOfTablesOfIndexesAndForAutomaticIndexes) {
  schema::Database database = schema::Database::Throwaway(Catalogue::Get().views(), {});
  const auto scanned = [&](const std::string& sql) {
    return Joined(ScannedTables(database, "SELECT * FROM " + sql));
  };
  EXPECT_EQ(scanned("stored_allocations WHERE capture_id = 1"), " stored_allocations");
  EXPECT_EQ(scanned("(SELECT module_id FROM stored_executions)"), " stored_executions_by_module");
  EXPECT_EQ(scanned("(SELECT start_ns FROM stored_executions WHERE device_id IS NOT NULL)"),
            " stored_executions_by_start");
  EXPECT_EQ(scanned("captures c LEFT JOIN oom_chunks o ON o.bytes = c.bytes"), " oom_chunks");
  EXPECT_EQ(scanned("stored_executions WHERE capture_id = 1"), "");
  EXPECT_EQ(scanned("captures"), "");
}

TEST(ViewPlansTest, DontDependOnWhatIsStored) {
  schema::Database empty = schema::Database::Throwaway(Catalogue::Get().views(), {});
  RuleDatabase filled;
  HloBuilder hlo("jit_step");
  hlo.Parameter(Value(8_MiB)).Output(Value(4_MiB)).Temp(4_MiB);
  for (int number = 0; number < 3; ++number) {
    GpuStory story;
    story.Pool(0, 64_MiB + number * 256, {.in_use_before = 10_MiB}).Module(hlo, 1);
    for (int i = 0; i < 6; ++i) story.Step("jit_step");
    filled.Ingest(story.Bytes(), "run" + std::to_string(number));
  }
  ASSERT_EQ(filled.Integer("SELECT COUNT(*) FROM executions"), 18);
  EXPECT_EQ(filled.Integer("SELECT COUNT(*) FROM sqlite_schema WHERE name LIKE 'sqlite_stat%'"), 0);
  for (const CatalogueEntry& entry : Catalogue::Get().entries()) {
    const std::string sql = "SELECT * FROM " + entry.id;
    const std::vector<Instruction> few = Program(empty, sql);
    const std::vector<Instruction> many = Program(filled.database(), sql);
    ASSERT_EQ(few.size(), many.size()) << sql;
    for (size_t i = 0; i < few.size(); ++i) {
      ASSERT_EQ(few[i].opcode, many[i].opcode) << sql << ", instruction " << i;
      ASSERT_EQ(few[i].p2, many[i].p2) << sql << ", instruction " << i;
    }
  }
}

}  // namespace
}  // namespace oomdb::queries
