#include "ingest/plan/stack_frames.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/plan/text_proto.h"

namespace oomdb::ingest {
namespace {

// model.py:7 (layer) calls flax, which calls numpy; main.py:3 is the outermost. Frame 5 stands in a
// package only, frames 6 and 7 call one another.
constexpr char kIndex[] = R"(
  file_names: "/opt/venv/lib/python3.11/site-packages/jax/numpy.py"
  file_names: "/home/me/model.py"
  file_names: "/home/me/main.py"
  function_names: "add"
  function_names: "layer"
  function_names: "main"
  file_locations { file_name_id: 1 function_name_id: 1 line: 100 }
  file_locations { file_name_id: 2 function_name_id: 2 line: 7 }
  file_locations { file_name_id: 3 function_name_id: 3 line: 3 }
  stack_frames { file_location_id: 3 }
  stack_frames { file_location_id: 2 parent_frame_id: 1 }
  stack_frames { file_location_id: 1 parent_frame_id: 2 }
  stack_frames { file_location_id: 1 parent_frame_id: 3 }
  stack_frames { file_location_id: 1 }
  stack_frames { file_location_id: 1 parent_frame_id: 7 }
  stack_frames { file_location_id: 1 parent_frame_id: 6 }
  stack_frames { file_location_id: 99 parent_frame_id: -3 }
)";

class StackFramesTest : public testing::Test {
 protected:
  proto::StackFrameIndexProto index_ = FromText<proto::StackFrameIndexProto>(kIndex);
  IssueLog log_;
  StackFrames frames_{index_, log_};
};

TEST_F(StackFramesTest, TakesTheInnermostFrameOutsidePackages) {
  const auto line = frames_.LineOf(FromText<proto::OpMetadata>("stack_frame_id: 4"));
  EXPECT_EQ(line.file, "/home/me/model.py");
  EXPECT_EQ(line.line, 7);
  EXPECT_EQ(line.function, "layer");
}

TEST_F(StackFramesTest, TakesTheInnermostWhereAllAreInPackages) {
  const auto line = frames_.LineOf(FromText<proto::OpMetadata>("stack_frame_id: 5"));
  EXPECT_EQ(line.file, "/opt/venv/lib/python3.11/site-packages/jax/numpy.py");
  EXPECT_EQ(line.line, 100);
}

TEST_F(StackFramesTest, MetadataWinsAndFindsItsFunctionInTheStack) {
  // What LineOf returns points into the metadata.
  const auto metadata = FromText<proto::OpMetadata>(
      R"(source_file: "/home/me/main.py" source_line: 3 stack_frame_id: 4)");
  const auto line = frames_.LineOf(metadata);
  EXPECT_EQ(line.file, "/home/me/main.py");
  EXPECT_EQ(line.line, 3);
  EXPECT_EQ(line.function, "main");
  const auto other_line = FromText<proto::OpMetadata>(
      R"(source_file: "/home/me/main.py" source_line: 4 stack_frame_id: 4)");
  const auto elsewhere = frames_.LineOf(other_line);
  EXPECT_EQ(elsewhere.line, 4);
  EXPECT_EQ(elsewhere.function, "");
}

TEST_F(StackFramesTest, UnknownIdsAndCyclesEnd) {
  EXPECT_EQ(frames_.LineOf(FromText<proto::OpMetadata>("stack_frame_id: 1000")).file, "");
  EXPECT_EQ(frames_.LineOf(FromText<proto::OpMetadata>("stack_frame_id: -1")).file, "");
  EXPECT_EQ(frames_.LineOf(FromText<proto::OpMetadata>("stack_frame_id: 8")).file, "");
  EXPECT_EQ(frames_.LineOf(FromText<proto::OpMetadata>("stack_frame_id: 6")).line, 100);
  const std::vector<IssueFact> issues = log_.Take();
  ASSERT_EQ(issues.size(), 1u);
  EXPECT_EQ(issues[0].what, "stack_frame_cycle");
}

TEST_F(StackFramesTest, KeepsTheFramesThatAreReached) {
  frames_.Use(3);
  frames_.Use(6);
  TextBudget text(0, log_);
  std::vector<int64_t> ids;
  std::vector<MaybeInt> parents;
  for (const PlanFrame& frame : frames_.Used(text)) {
    ids.push_back(frame.frame_id);
    parents.push_back(frame.parent_frame_id);
  }
  EXPECT_THAT(ids, testing::ElementsAre(1, 2, 3, 6, 7));
  EXPECT_THAT(parents, testing::ElementsAre(std::nullopt, 1, 2, 7, 6));
}

TEST(IsInstalledFileTest, KnowsPackagesAndTheStandardLibrary) {
  EXPECT_TRUE(IsInstalledFile("/x/site-packages/flax/linen.py"));
  EXPECT_TRUE(IsInstalledFile("/usr/lib/python3/dist-packages/absl/app.py"));
  EXPECT_TRUE(IsInstalledFile("/usr/lib/python3.11/runpy.py"));
  EXPECT_TRUE(IsInstalledFile("<frozen importlib._bootstrap>"));
  EXPECT_TRUE(IsInstalledFile("C:\\py\\Lib\\site-packages\\jax\\core.py"));
  EXPECT_FALSE(IsInstalledFile("/home/me/lib/python_tools/train.py"));
  EXPECT_FALSE(IsInstalledFile("/home/me/my-site-packages-notes/train.py"));
  EXPECT_FALSE(IsInstalledFile("train.py"));
  EXPECT_FALSE(IsInstalledFile(""));
}

}  // namespace
}  // namespace oomdb::ingest
