#include "tests/support/capture_builder.h"

#include <gtest/gtest.h>

#include <stdexcept>

namespace oomdb {
namespace {

proto::XSpace Parse(const std::string& bytes) {
  proto::XSpace space;
  EXPECT_TRUE(space.ParseFromString(bytes));
  return space;
}

TEST(CaptureBuilderTest, WritesWhatWasSaid) {
  CaptureBuilder capture("node");
  LineBuilder& line = capture.Plane("/host:CPU").Line("python", 1500, 77);
  const size_t outer = line.Begin("outer", 2000);
  line.Event("inner", 2500, 100,
             {Int("addr", -1), UInt("big", ~uint64_t{0}), Real("fragmentation", 0.5),
              Text("plain", "a"), Ref("ref", "GPU_0_bfc"), Blob("blob", std::string("\0x", 2))});
  line.End(outer, 9000);
  capture.AddModule("jit_f", 15, "hlo bytes", /*program_id_stat=*/true);

  const proto::XSpace space = Parse(capture.Bytes());
  ASSERT_EQ(space.planes_size(), 2);
  EXPECT_EQ(space.hostnames(0), "node");
  const proto::XPlane& host = space.planes(0);
  ASSERT_EQ(host.lines_size(), 1);
  EXPECT_EQ(host.lines(0).id(), 77);
  const proto::XEvent& event = host.lines(0).events(0);
  EXPECT_EQ(host.event_metadata().at(event.metadata_id()).name(), "outer");
  EXPECT_EQ(event.offset_ps(), 500000);
  EXPECT_EQ(event.duration_ps(), 7000000);
  const proto::XEvent& inner = host.lines(0).events(1);
  ASSERT_EQ(inner.stats_size(), 6);
  EXPECT_EQ(inner.stats(0).int64_value(), -1);
  EXPECT_EQ(inner.stats(1).uint64_value(), ~uint64_t{0});
  EXPECT_EQ(host.stat_metadata().at(static_cast<int64_t>(inner.stats(4).ref_value())).name(),
            "GPU_0_bfc");
  EXPECT_EQ(inner.stats(5).bytes_value(), std::string("\0x", 2));
  const proto::XPlane& metadata = space.planes(1);
  EXPECT_EQ(metadata.event_metadata().begin()->second.name(), "jit_f(15)");
  EXPECT_EQ(metadata.event_metadata().begin()->second.stats(1).uint64_value(), 15u);
}

TEST(CaptureBuilderTest, NamesCanComeBeforeTheLines) {
  for (const bool first : {false, true}) {
    CaptureBuilder capture;
    capture.Plane("p").NamesFirst(first).Line("l").Event("the name", 0, 1);
    const std::string bytes = capture.Bytes();
    // Field 3 (lines) and field 4 (event metadata) of the plane, by the texts they hold.
    EXPECT_EQ(bytes.find("the name") < bytes.find("\x12\x01l"), first);
    const proto::XSpace space = Parse(bytes);
    ASSERT_EQ(space.planes(0).lines_size(), 1);
    EXPECT_EQ(space.planes(0).event_metadata_size(), 1);
  }
}

TEST(CaptureBuilderTest, TruncatedBytesEndInsideTheLastPlane) {
  CaptureBuilder capture("node");
  capture.Plane("whole").Line("l").Event("e", 0, 1);
  capture.Plane("cut").Line("l").Event("e", 0, 1);
  const std::string bytes = capture.TruncatedBytes();
  EXPECT_NE(bytes.find("whole"), std::string::npos);
  proto::XSpace space;
  EXPECT_FALSE(space.ParseFromString(bytes));
}

TEST(CaptureBuilderTest, RefusesImpossibleTimes) {
  CaptureBuilder capture;
  LineBuilder& line = capture.Plane("p").Line("l", 1000);
  EXPECT_THROW(line.Event("e", 999, 1), std::logic_error);
  const size_t event = line.Begin("e", 2000);
  EXPECT_THROW(line.End(event, 1999), std::logic_error);
}

}  // namespace
}  // namespace oomdb
