#include "queries/materialize.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <string>
#include <utility>

#include "cli/ingest/job.h"
#include "queries/catalogue.h"
#include "schema/query.h"

namespace oomdb::cli {
namespace {

class Silent : public IngestObserver {
 public:
  void Stored(const std::string&, const schema::CaptureSummary&) override {}
  void Rejected(const std::string& path, const std::string& reason) override {
    ADD_FAILURE() << path << reason;
  }
  void PassedOver(const std::string&, const std::string&) override {}
};

schema::Database Samples(
    schema::Database database = schema::Database::Throwaway(queries::Catalogue::Get().views())) {
  IngestRequest request;
  // All but the failed compile: its error log has a test of its own.
  for (const char* sample : {"attention_oom", "cpu", "dataset_oom", "grad_leak_oom", "rocm"})
    request.paths.push_back(std::string(OOMDB_SOURCE_DIR "/sample_dbs/captures/") + sample);
  Silent silent;
  IngestPaths(database, request, silent);
  return database;
}

schema::Database WithErrorText(schema::Database database) {
  const std::string path = testing::TempDir() + "materialize_test.log";
  std::ofstream(path) << "jaxlib.xla_extension.XlaRuntimeError: RESOURCE_EXHAUSTED: Out of memory "
                         "while trying to allocate 8589934592 bytes.\n";
  IngestRequest request;
  request.paths = {path};
  Silent silent;
  IngestPaths(database, request, silent);
  std::filesystem::remove(path);
  EXPECT_EQ(schema::Query(database, "SELECT * FROM oom_events").rows.size(), 1);
  return database;
}

TEST(MaterializeTest, BlocksComeBeforeWhatMentionsThem) {
  const std::vector<std::string> order = queries::MaterializationOrder(queries::Catalogue::Get());
  const auto place = [&](const std::string& id) {
    return std::find(order.begin(), order.end(), id) - order.begin();
  };
  EXPECT_LT(place("effective_capacity"), place("module_devices"));
  EXPECT_LT(place("module_devices"), place("step_does_not_fit"));
  EXPECT_LT(place("step_does_not_fit"), static_cast<long>(order.size()));
  // Views over stored tables keep their indexes.
  EXPECT_EQ(place("buffers"), static_cast<long>(order.size()));
}

void ExpectSameAnswers(schema::Database views, schema::Database tables) {
  queries::MaterializeRules(tables, queries::Catalogue::Get());
  for (const char* name : {"findings", "finding_items", "remedies"}) {
    const std::string sql = std::string("SELECT * FROM ") + name;
    schema::Rows expected = schema::Query(views, sql);
    schema::Rows got = schema::Query(tables, sql);
    std::sort(expected.rows.begin(), expected.rows.end());
    std::sort(got.rows.begin(), got.rows.end());
    EXPECT_GT(expected.rows.size(), 0) << name;
    EXPECT_EQ(expected.columns, got.columns) << name;
    EXPECT_EQ(expected.rows, got.rows) << name;
  }
}

TEST(MaterializeTest, AnswersStayTheSame) { ExpectSameAnswers(Samples(), Samples()); }

TEST(MaterializeTest, AnswersStayTheSameWithAnErrorText) {
  ExpectSameAnswers(WithErrorText(Samples()), WithErrorText(Samples()));
}

TEST(MaterializeTest, AnswersStayTheSameWithLazyViews) {
  schema::Database lazy =
      Samples(schema::Database::ThrowawayWithLazyViews(queries::Catalogue::Get().views()));
  ExpectSameAnswers(Samples(), std::move(lazy));
}

// What a header says of a table is true: the samples have no error log.
TEST(MaterializeTest, ViewsAreEmptyWithoutTheirTable) {
  schema::Database database = Samples();
  int checked = 0;
  for (const queries::CatalogueEntry& entry : queries::Catalogue::Get().entries()) {
    if (entry.empty_without.empty()) continue;
    ++checked;
    ASSERT_EQ(schema::Query(database, "SELECT * FROM " + entry.empty_without).rows.size(), 0);
    EXPECT_EQ(schema::Query(database, "SELECT * FROM " + entry.id).rows.size(), 0) << entry.id;
  }
  EXPECT_GT(checked, 0);
}

}  // namespace
}  // namespace oomdb::cli
