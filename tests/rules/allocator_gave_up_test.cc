#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/rules/rule_database.h"
#include "tests/support/gpu_story.h"

namespace oomdb::queries {
namespace {

using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;

// An eager operation of TensorFlow that allocates nothing for as long as it runs.
void Silent(GpuStory& story, const char* operation, int64_t duration_ns) {
  story.InSpan(std::string("EagerLocalExecute: ") + operation, {}, [&] {
    story.InSpan("KernelAndDeviceFunc::Run", {}, [&] { story.Sleep(duration_ns); });
  });
}

// Seven arrays that last, with what lay between them freed again.
void InPieces(GpuStory& story) {
  std::vector<Handle> large;
  for (int i = 0; i < 7; ++i) {
    large.push_back(story.Allocate(0, 7_MiB, "KernelAndDeviceFunc::Run"));
    story.Allocate(0, 1_MiB, "KernelAndDeviceFunc::Run");
  }
  story.Free(large);
  // The state of the pool is told by its next event.
  story.Allocate(0, 4, "tf.constant");
}

TEST(AllocatorGaveUpTest, AFullPoolWithoutAModule) {
  GpuStory story;
  story.Pool(0, 64_MiB);
  for (int i = 0; i < 7; ++i) story.Allocate(0, 8_MiB, "KernelAndDeviceFunc::Run");
  Silent(story, "Fill", 10_s);
  RuleDatabase database;
  database.Ingest(story.Bytes());
  const std::vector<Finding> found = database.Findings("allocator_gave_up");
  ASSERT_THAT(found, SizeIs(1));
  EXPECT_EQ(found[0].severity, "error");
  EXPECT_EQ(found[0].evidence, "inferred");
  EXPECT_THAT(found[0].title, HasSubstr("GPU_0_bfc gave up on "));
  EXPECT_THAT(found[0].title, HasSubstr("after 100000"));
  EXPECT_THAT(found[0].title, HasSubstr("with 58720256 bytes of its 67108864 bytes in use"));
  EXPECT_THAT(database.Items(found[0]), SizeIs(1));
  EXPECT_THAT(database.Remedies(found[0]), SizeIs(2));
  EXPECT_EQ(database.Integer("SELECT COUNT(*) FROM incidents WHERE verdict = 'pool full'"), 1);
}

TEST(AllocatorGaveUpTest, FreeMemoryInPiecesIsFragmented) {
  GpuStory story;
  story.Pool(0, 64_MiB);
  InPieces(story);
  Silent(story, "Fill", 10_s);
  RuleDatabase database;
  database.Ingest(story.Bytes());
  const std::vector<Finding> found = database.Findings("allocator_gave_up");
  ASSERT_THAT(found, SizeIs(1));
  EXPECT_THAT(found[0].title, HasSubstr("were free: the largest block was"));
  EXPECT_EQ(database.Integer("SELECT COUNT(*) FROM incidents WHERE verdict = 'fragmented'"), 1);
}

TEST(AllocatorGaveUpTest, AWaitThatEndedWellIsAWarning) {
  GpuStory story;
  story.Pool(0, 64_MiB);
  std::vector<Handle> held;
  for (int i = 0; i < 7; ++i) held.push_back(story.Allocate(0, 8_MiB, "KernelAndDeviceFunc::Run"));
  story.InSpan("KernelAndDeviceFunc::Run", {}, [&] {
    story.Sleep(2_s);
    story.Free(held);
    story.Allocate(0, 12_MiB);
  });
  RuleDatabase database;
  database.Ingest(story.Bytes());
  const std::vector<Finding> found = database.Findings("allocator_gave_up");
  ASSERT_THAT(found, SizeIs(1));
  EXPECT_EQ(found[0].severity, "warning");
  EXPECT_EQ(found[0].bytes, 12_MiB);
  EXPECT_THAT(found[0].title, HasSubstr("waited 2"));
}

// What takes ten seconds need not wait for memory.
TEST(AllocatorGaveUpTest, QuietWhereThePoolHadRoomOrWasAtWork) {
  {
    GpuStory story;  // Room for nearly anything.
    story.Pool(0, 64_MiB);
    story.Allocate(0, 8_MiB, "KernelAndDeviceFunc::Run");
    Silent(story, "PyFunc", 10_s);
    RuleDatabase database;
    database.Ingest(story.Bytes());
    EXPECT_THAT(database.Findings("allocator_gave_up"), IsEmpty());
  }
  {
    GpuStory story;  // It allocates, then computes.
    story.Pool(0, 64_MiB);
    for (int i = 0; i < 6; ++i) story.Allocate(0, 8_MiB, "KernelAndDeviceFunc::Run");
    story.InSpan("KernelAndDeviceFunc::Run", {}, [&] {
      story.Allocate(0, 8_MiB);
      story.Sleep(10_s);
    });
    // Far longer than an allocator waits.
    Silent(story, "PyFunc", 60_s);
    // Shorter than it waits.
    Silent(story, "PyFunc", 5_s);
    RuleDatabase database;
    database.Ingest(story.Bytes());
    EXPECT_THAT(database.Findings("allocator_gave_up"), IsEmpty());
  }
  {
    GpuStory story;  // Another pool served it.
    story.Pool(0, 64_MiB).Pool(1, 64_MiB);
    for (int i = 0; i < 7; ++i) story.Allocate(0, 8_MiB, "KernelAndDeviceFunc::Run");
    story.InSpan("KernelAndDeviceFunc::Run", {}, [&] {
      story.Sleep(5_s);
      story.Allocate(1, 8_MiB);
      story.Sleep(5_s);
    });
    RuleDatabase database;
    database.Ingest(story.Bytes());
    EXPECT_THAT(database.Findings("allocator_gave_up"), IsEmpty());
  }
}

}  // namespace
}  // namespace oomdb::queries
