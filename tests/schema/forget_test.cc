#include "schema/forget.h"

#include <gtest/gtest.h>

#include "queries/catalogue.h"
#include "tests/schema/sample_facts.h"

namespace oomdb::schema {
namespace {

TEST(ForgetTest, RemovesTheCaptureAndWhatOnlyItNeeded) {
  Database database = Database::Throwaway(queries::Catalogue::Get().views());
  const int64_t first = WriteSample(database, "a", "shared").capture_id;
  const int64_t second = WriteSample(database, "b", "shared").capture_id;
  {
    CaptureSource source = SampleSource("c");
    source.run = "run2";
    CaptureWriter writer(database, source);
    AddSampleFacts(writer, "own");
    ingest::AllocationFact allocation;
    allocation.origin = "only here";
    allocation.bytes = 1;
    writer.Add(allocation);
    writer.Commit({{"batch", "8"}});
  }
  ASSERT_EQ(QueryInt(database, "SELECT COUNT(*) FROM strings WHERE content = 'only here'"), 1);

  ForgetCaptures(database, {3});
  EXPECT_EQ(QueryInt(database, "SELECT COUNT(*) FROM captures"), 2);
  EXPECT_EQ(QueryInt(database, "SELECT COUNT(*) FROM stored_plans"), 1);
  EXPECT_EQ(QueryInt(database, "SELECT COUNT(*) FROM run_labels"), 0);
  EXPECT_EQ(QueryInt(database, "SELECT COUNT(*) FROM strings WHERE content = 'only here'"), 0);

  ForgetCaptures(database, {first});
  EXPECT_EQ(QueryInt(database, "SELECT COUNT(*) FROM allocations"), 100);
  EXPECT_EQ(QueryInt(database, "SELECT COUNT(*) FROM buffers"),
            2);  // The other capture's plan stays.
  EXPECT_TRUE(Query(database, "SELECT * FROM pragma_foreign_key_check").rows.empty());

  ForgetCaptures(database, {second});
  for (const Row& row :
       Query(database, "SELECT name FROM sqlite_master WHERE type = 'table' AND name <> 'settings'")
           .rows) {
    const std::string table = std::get<std::string>(row[0]);
    EXPECT_EQ(QueryInt(database, "SELECT COUNT(*) FROM " + table), 0) << table;
  }
}

}  // namespace
}  // namespace oomdb::schema
