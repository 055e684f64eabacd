#include "schema/write_group.h"

#include <SQLiteCpp/SQLiteCpp.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "tests/schema/sample_facts.h"

namespace oomdb::schema {
namespace {

class WriteGroupTest : public testing::Test {
 protected:
  void Write(WriteGroup& group, const std::string& content_hash) {
    CaptureWriter writer(database_, SampleSource(content_hash), nullptr, &group);
    AddSampleFacts(writer);
    writer.Commit({});
  }
  // Begins a capture and gives it up.
  void GiveUp(WriteGroup& group) {
    CaptureWriter writer(database_, SampleSource("given up"), nullptr, &group);
    AddSampleFacts(writer, "plan-of-given-up", 1000);
  }
  // What another program sees.
  std::string CapturesOnDisk() {
    Database other = Database::OpenReadOnly(folder_.File("oom.db"), {});
    std::string hashes;
    for (const Row& row :
         Query(other, "SELECT content_hash FROM captures ORDER BY capture_id").rows)
      hashes += std::get<std::string>(row[0]) + " ";
    return hashes;
  }

  TestFolder folder_;
  Database database_ = Database::OpenForIngest(folder_.File("oom.db"), {});
};

TEST_F(WriteGroupTest, IsOnDiskWhenItIsCommitted) {
  WriteGroup group(database_);
  EXPECT_EQ(group.age().count(), 0);
  Write(group, "a");
  Write(group, "b");
  EXPECT_GT(group.age().count(), 0);
  EXPECT_EQ(CapturesOnDisk(), "");
  group.Commit();
  EXPECT_EQ(CapturesOnDisk(), "a b ");
  EXPECT_EQ(group.age().count(), 0);
  group.Commit();  // Nothing to do.
  Write(group, "c");
  group.Commit();
  EXPECT_EQ(CapturesOnDisk(), "a b c ");
}

TEST_F(WriteGroupTest, WhatIsGivenUpIsUndoneAlone) {
  WriteGroup group(database_);
  Write(group, "a");
  GiveUp(group);
  EXPECT_FALSE(group.lost());
  Write(group, "b");
  group.Commit();
  EXPECT_EQ(CapturesOnDisk(), "a b ");
  EXPECT_EQ(QueryInt(database_, "SELECT COUNT(*) FROM stored_plans"), 1);
  // As if each had been written alone.
  EXPECT_EQ(QueryInt(database_, "SELECT COUNT(*) FROM stored_allocations"), 200);
  EXPECT_EQ(QueryInt(database_, "SELECT MAX(capture_id) FROM captures"), 2);
}

TEST_F(WriteGroupTest, OneThatBeginsWithWhatIsGivenUp) {
  WriteGroup group(database_);
  GiveUp(group);
  Write(group, "a");
  group.Commit();
  EXPECT_EQ(CapturesOnDisk(), "a ");
}

TEST_F(WriteGroupTest, WithoutCommitNothingIsStored) {
  {
    WriteGroup group(database_);
    Write(group, "a");
  }
  EXPECT_EQ(CapturesOnDisk(), "");
  WriteSample(database_, "b");
  EXPECT_EQ(CapturesOnDisk(), "b ");
}

TEST_F(WriteGroupTest, KnowsTheCapturesOfTheGroup) {
  WriteGroup group(database_);
  Write(group, "a");
  CaptureWriter writer(database_, SampleSource("a"), nullptr, &group);
  EXPECT_EQ(writer.KnownCapture(), 1);
}

TEST_F(WriteGroupTest, WhatTheDatabaseUndoesIsLostAsAWhole) {
  WriteGroup group(database_);
  Write(group, "a");
  EXPECT_THROW(
      {
        CaptureWriter writer(database_, SampleSource("b"), nullptr, &group);
        AddSampleFacts(writer);
        // Two captures of one id: the insert is refused, with OR ROLLBACK.
        database_.connection().exec(
            "INSERT INTO captures (capture_id, content_hash, path, bytes, kind, status, "
            "ingested_unix_ns, ingester_version) SELECT capture_id + 1, 'taken', path, bytes, "
            "kind, status, ingested_unix_ns, ingester_version FROM captures");
        writer.Commit({});
      },
      SQLite::Exception);
  EXPECT_TRUE(group.lost());
  EXPECT_EQ(CapturesOnDisk(), "");
  // The next one begins another.
  Write(group, "c");
  EXPECT_FALSE(group.lost());
  group.Commit();
  EXPECT_EQ(CapturesOnDisk(), "c ");
}

}  // namespace
}  // namespace oomdb::schema
