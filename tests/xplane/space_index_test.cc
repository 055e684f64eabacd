#include "ingest/xplane/space_index.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <set>
#include <span>
#include <vector>

#include "base/error.h"
#include "tests/support/capture_builder.h"
#include "tests/xplane/wire_bytes.h"

namespace oomdb::ingest {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

SpaceIndex Index(const std::string& bytes) {
  return IndexSpace(*MemorySource(bytes, "some.xplane.pb"));
}

std::string ErrorOf(const std::string& bytes) {
  try {
    Index(bytes);
  } catch (const Error& error) {
    return error.what();
  }
  return "no error";
}

CaptureBuilder SmallCapture() {
  CaptureBuilder capture("vm-7");
  capture.AddModule("jit_f", 15, "not read here", /*program_id_stat=*/true);
  capture.AddModule("jit_f", 16, "nor this");
  capture.Plane("/host:CPU").Line("python", 1500).Event("step", 2000, 100, {Text("why", "é\"\n")});
  capture.Plane("/host:CPU").Stats({Text("jax_version", "0.10.2"), Ref("again", "by reference")});
  capture.Plane("/device:GPU:3")
      .Stats({Int("memory_size", 1 << 30)})
      .Line("Stream #1")
      .Event("k", 5, 5);
  capture.Plane("/device:CUSTOM:Megascale Trace");
  capture.ProfileStart(1'790'000'000'000'000'000);
  return capture;
}

TEST(IndexSpaceTest, PlanesMetadataAndModules) {
  const SpaceIndex space = Index(SmallCapture().Bytes());
  EXPECT_FALSE(space.truncated);
  EXPECT_THAT(space.hostnames, ElementsAre("vm-7"));
  EXPECT_THAT(space.issues.all(), IsEmpty());
  ASSERT_EQ(space.planes.size(), 4u);  // The custom device is none of ours.

  const PlaneIndex& metadata = space.planes[0];
  EXPECT_EQ(metadata.kind, PlaneIndex::Kind::kMetadata);
  ASSERT_EQ(metadata.modules.size(), 2u);
  EXPECT_EQ(metadata.modules[0].name, "jit_f(15)");
  EXPECT_EQ(metadata.modules[0].program_id, 15);
  EXPECT_EQ(metadata.modules[1].program_id, std::nullopt);
  ASSERT_TRUE(metadata.modules[1].hlo);
  EXPECT_EQ(SmallCapture().Bytes().substr(metadata.modules[1].hlo->position,
                                          metadata.modules[1].hlo->length),
            "nor this");

  const PlaneIndex& host = space.planes[1];
  EXPECT_EQ(host.kind, PlaneIndex::Kind::kHost);
  EXPECT_EQ(host.texts.at("jax_version"), "0.10.2");
  EXPECT_EQ(host.texts.at("again"), "by reference");
  EXPECT_EQ(host.lines.size(), 1u);

  EXPECT_EQ(space.planes[2].kind, PlaneIndex::Kind::kGpu);
  EXPECT_EQ(space.planes[2].ordinal, 3);
  EXPECT_EQ(space.planes[2].numbers.at("memory_size"), 1 << 30);
  EXPECT_EQ(space.planes[3].kind, PlaneIndex::Kind::kEnvironment);
}

TEST(IndexSpaceTest, NamesBeforeTheLinesAreTheSame) {
  CaptureBuilder capture = SmallCapture();
  capture.Plane("/host:CPU").NamesFirst();
  capture.Plane("/host:metadata").NamesFirst();
  const SpaceIndex space = Index(capture.Bytes());
  EXPECT_EQ(space.planes[1].events.at(1).name, "step");
  EXPECT_EQ(space.planes[0].modules[0].program_id, 15);
}

TEST(IndexSpaceTest, SparseCoresAndOddNamesAreNoDevices) {
  for (const char* name : {"/device:TPU:0 SparseCore 1", "/device:GPU:", "/device:GPU:x",
                           "/device:GPU:99999999999999999999", "/device:GPU:-1"}) {
    CaptureBuilder capture;
    capture.Plane(name).Line("XLA Modules").Event("e", 1, 1);
    EXPECT_THAT(Index(capture.Bytes()).planes, IsEmpty()) << name;
  }
}

TEST(IndexSpaceTest, WhatIsNoCaptureIsRefused) {
  EXPECT_THAT(ErrorOf(""), HasSubstr("is empty"));
  EXPECT_THAT(ErrorOf("<html><body>Not Found</body></html>"),
              HasSubstr("is not a profiler capture"));
  EXPECT_THAT(ErrorOf("<html>"), HasSubstr("<html>"));  // Its first bytes are shown...
  EXPECT_THAT(ErrorOf("\x1b[2J\x07 control"),
              HasSubstr(".[2J. control"));  // ...without what a terminal obeys.
  EXPECT_THAT(ErrorOf(std::string(1000, '\xff')), HasSubstr("is not a profiler capture"));
  EXPECT_THAT(ErrorOf(BytesField(4, "only-a-host-name")), HasSubstr("it holds no plane"));
  EXPECT_THAT(ErrorOf(NumberField(1, 5)), HasSubstr("is not a profiler capture"));
  EXPECT_THAT(ErrorOf(BytesField(1, NumberField(2, 1))), HasSubstr("is not a profiler capture"));
}

// The planes that are whole are kept; what is cut is said to be.
TEST(IndexSpaceTest, TruncatedAtEveryByte) {
  const std::string bytes = SmallCapture().Bytes();
  std::vector<size_t> plane_ends;  // Of planes of ours.
  std::set<size_t> message_ends;   // Of all planes.
  {
    proto::XSpace space;
    ASSERT_TRUE(space.ParseFromString(bytes));
    size_t end = 0;
    for (const proto::XPlane& plane : space.planes()) {
      end += BytesField(1, std::string(plane.ByteSizeLong(), ' ')).size();
      message_ends.insert(end);
      if (plane.name().find("CUSTOM") == std::string::npos) plane_ends.push_back(end);
    }
    ASSERT_EQ(end + BytesField(4, "vm-7").size(), bytes.size());
  }
  size_t refused = 0;
  for (size_t length = 1; length < bytes.size(); ++length) {
    const std::string cut = bytes.substr(0, length);
    SpaceIndex space;
    try {
      space = Index(cut);
    } catch (const Error&) {
      ASSERT_LT(length, plane_ends[0]) << "something was whole";
      ++refused;
      continue;
    }
    const size_t whole = static_cast<size_t>(
        std::upper_bound(plane_ends.begin(), plane_ends.end(), length) - plane_ends.begin());
    ASSERT_EQ(space.planes.size(), whole) << length;
    const bool ends_between = message_ends.contains(length);
    ASSERT_EQ(space.truncated, !ends_between) << length;
    ASSERT_EQ(space.issues.all().empty(), ends_between) << length;
  }
  EXPECT_LT(refused, 40u);  // Once a plane's name is there, it is a capture.
}

class EndedEarly : public Source {
 public:
  explicit EndedEarly(std::string bytes) : bytes_(std::move(bytes)) {}
  uint64_t size() const override { return bytes_.size(); }
  void ReadAt(uint64_t position, std::span<char> out) const override {
    bytes_.copy(out.data(), out.size(), position);
  }
  const std::string& path() const override { return name_; }
  const std::string& compression() const override { return name_; }
  bool ended_early() const override { return true; }

 private:
  std::string bytes_;
  std::string name_ = "gzip";
};

TEST(IndexSpaceTest, ACompressedStreamThatEndsEarlyIsTruncatedEvenBetweenPlanes) {
  const SpaceIndex space = IndexSpace(EndedEarly(SmallCapture().Bytes()));
  EXPECT_TRUE(space.truncated);
  ASSERT_EQ(space.issues.all().size(), 1u);
  EXPECT_EQ(space.issues.all()[0].what, "truncated");
}

TEST(IndexSpaceTest, AMalformedPlaneIsLeftOutAndTheRestKept) {
  const std::string good = SmallCapture().Bytes();
  const std::string bad = BytesField(1, BytesField(2, "/host:CPU") + CutField(3, 99, "cut"));
  const SpaceIndex space = Index(good + bad + good);
  EXPECT_EQ(space.planes.size(), 8u);
  EXPECT_FALSE(space.truncated);
  ASSERT_EQ(space.issues.all().size(), 1u);
  EXPECT_EQ(space.issues.all()[0].what, "malformed_plane");
}

TEST(IndexSpaceTest, GarbageBehindThePlanesIsAnIssue) {
  const SpaceIndex space = Index(SmallCapture().Bytes() + std::string(100, '\xff'));
  EXPECT_EQ(space.planes.size(), 4u);
  EXPECT_FALSE(space.truncated);
  EXPECT_EQ(space.issues.all()[0].what, "unreadable_bytes");
}

TEST(IndexSpaceTest, RecordersWordsAreIssues) {
  std::string bytes = SmallCapture().Bytes() + BytesField(2, "dropped 5 events");
  for (int i = 0; i < 1000; ++i) bytes += BytesField(3, "slow");
  const SpaceIndex space = Index(bytes);
  EXPECT_EQ(space.issues.all()[0].detail, "dropped 5 events");
  EXPECT_LT(space.issues.all().size(), 50u);  // Many of a kind are counted, not repeated.
  int64_t count = 0;
  for (const IssueFact& issue : space.issues.all()) count += issue.count;
  EXPECT_EQ(count, 1001);
}

TEST(IdTableTest, AnyIdWorks) {
  IdTable<std::string> table;
  table.Expect(3);
  for (const int64_t id :
       {int64_t{0}, int64_t{63}, int64_t{64 + 12}, int64_t{1} << 40, INT64_MAX, INT64_MIN}) {
    EXPECT_EQ(table.at(id), "");
    table[id] = std::to_string(id);
    EXPECT_EQ(table.at(id), std::to_string(id));
  }
  EXPECT_EQ(table.at(63), "63");
  EXPECT_EQ(table.at(-1), "");
}

TEST(IndexSpaceTest, MetadataIdsOf64Bits) {
  CaptureBuilder capture;
  proto::XPlane& plane = capture.Plane("/host:CPU").proto();
  for (const int64_t id : {INT64_MIN, int64_t{1} << 62, int64_t{-1}}) {
    (*plane.mutable_event_metadata())[id].set_name("event " + std::to_string(id));
  }
  const SpaceIndex space = Index(capture.Bytes());
  EXPECT_EQ(space.planes[0].events.at(INT64_MIN).name, "event " + std::to_string(INT64_MIN));
  EXPECT_EQ(space.planes[0].events.at(-1).name, "event -1");
}

}  // namespace
}  // namespace oomdb::ingest
