#include "ingest/xplane/line_walk.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <vector>

#include "proto/xplane.pb.h"
#include "tests/xplane/wire_bytes.h"

namespace oomdb::ingest {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

struct Walked {
  std::vector<int64_t> ordinals;
  std::vector<int64_t> ids;
  std::vector<int64_t> offsets_ps;
  std::vector<int64_t> durations_ps;
  WalkResult result;
};

template <typename Wants>
Walked Walk(const std::string& line, Wants wants, size_t window_bytes = 1 << 20) {
  const auto source = MemorySource(line);
  Window window(*source, window_bytes);
  Walked walked;
  walked.result = WalkEvents(&window, {0, line.size()}, wants, [&](const RawEvent& event) {
    walked.ordinals.push_back(event.ordinal);
    walked.ids.push_back(event.metadata_id);
    walked.offsets_ps.push_back(event.offset_ps);
    walked.durations_ps.push_back(event.duration_ps);
  });
  return walked;
}

bool All(int64_t) { return true; }

proto::XLine SomeLine(int event_count) {
  proto::XLine line;
  line.set_id(-3);
  line.set_name("python");
  line.set_timestamp_ns(1500);
  for (int i = 0; i < event_count; ++i) {
    proto::XEvent& event = *line.add_events();
    event.set_metadata_id(i + 1);
    event.set_offset_ps(1000 * i);
    event.set_duration_ps(i);
    event.add_stats()->set_str_value(std::string(static_cast<size_t>(7 * i), 's'));
  }
  return line;
}

TEST(WalkEventsTest, EventsSplitAcrossEveryWindowBorder) {
  const std::string line = SomeLine(12).SerializeAsString();
  const Walked whole = Walk(line, All);
  ASSERT_EQ(whole.ids.size(), 12u);
  EXPECT_EQ(whole.ids[11], 12);
  EXPECT_EQ(whole.offsets_ps[11], 11000);
  EXPECT_EQ(whole.durations_ps[11], 11);
  for (size_t window_bytes = 1; window_bytes <= line.size() + 1; ++window_bytes) {
    const Walked walked = Walk(line, All, window_bytes);
    ASSERT_EQ(walked.ids, whole.ids) << window_bytes;
    ASSERT_EQ(walked.offsets_ps, whole.offsets_ps) << window_bytes;
    ASSERT_EQ(walked.durations_ps, whole.durations_ps) << window_bytes;
    ASSERT_FALSE(walked.result.malformed) << window_bytes;
  }
}

TEST(WalkEventsTest, UnwantedEventsCountAndKeepTheirPlace) {
  const std::string line = SomeLine(5).SerializeAsString();
  const Walked walked = Walk(line, [](int64_t id) { return id == 3 || id == 5; });
  EXPECT_THAT(walked.ordinals, ElementsAre(2, 4));
  EXPECT_EQ(walked.result.events, 5);
}

TEST(WalkEventsTest, EventsWithoutATimeAreNoEvents) {
  proto::XLine line = SomeLine(2);
  line.mutable_events(0)->set_num_occurrences(17);
  EXPECT_THAT(Walk(line.SerializeAsString(), All).ids, ElementsAre(2));
}

TEST(WalkEventsTest, FieldsInAnyOrderAndIdsOf64Bits) {
  const std::string event = NumberField(3, 5) + NumberField(2, 70) +
                            NumberField(1, uint64_t{1} << 63) + NumberField(99, 1);
  const Walked walked = Walk(BytesField(4, event) + BytesField(4, ""), All);
  EXPECT_THAT(walked.ids, ElementsAre(INT64_MIN, 0));
  EXPECT_THAT(walked.offsets_ps, ElementsAre(70, 0));
}

// What recorders write is read in one go, the rest field by field: with the same result.
TEST(WalkEventsTest, UsualAndUnusualOrdersSayTheSame) {
  const std::string id = NumberField(1, 300), offset = NumberField(2, uint64_t{1} << 40),
                    duration = NumberField(3, 1000), stat = BytesField(4, NumberField(1, 8)),
                    more = BytesField(4, NumberField(1, 9) + NumberField(3, 5)),
                    unknown = NumberField(77, 1);
  for (const std::string& event :
       {id + offset + duration + stat + more, offset + id + duration + stat + more,
        id + stat + offset + more + duration, id + duration + offset + stat + unknown + more,
        unknown + id + offset + duration + stat + more, id + offset + duration + stat + more + id,
        NumberField(1, 299) + offset + duration + stat + more + id}) {
    const std::string line = BytesField(4, event);
    const auto source = MemorySource(line);
    Window window(*source);
    std::vector<int64_t> stats;
    const WalkResult result = WalkEvents(&window, {0, line.size()}, All, [&](const RawEvent& e) {
      EXPECT_EQ(e.metadata_id, 300);
      EXPECT_EQ(e.offset_ps, int64_t{1} << 40);
      EXPECT_EQ(e.duration_ps, 1000);
      ForEachStat(e.stats, [&](const RawStat& s) { stats.push_back(s.metadata_id); });
    });
    EXPECT_FALSE(result.malformed);
    EXPECT_THAT(stats, ElementsAre(8, 9));
  }
}

TEST(WalkEventsTest, NumbersAndStatsThatAreCutAreMalformed) {
  const std::string id = NumberField(1, 3);
  for (const std::string& event : {id + Tag(2, 0), id + NumberField(2, 5) + Tag(3, 0),
                                   id + NumberField(2, 5) + Tag(3, 0) + "\x80",
                                   id + NumberField(2, 5) + CutField(4, 9, "cut")}) {
    const Walked walked = Walk(BytesField(4, event), All);
    EXPECT_THAT(walked.ids, IsEmpty());
    EXPECT_TRUE(walked.result.malformed);
  }
}

TEST(ParseStatTest, UsualAndUnusualOrdersSayTheSame) {
  const std::string id = NumberField(1, 200);
  const std::string real = Tag(2, 1) + std::string("\0\0\0\0\0\0\xe0\x3f", 8);
  for (const std::string& value : {real, NumberField(3, 7), NumberField(4, uint64_t(-7)),
                                   BytesField(5, "text"), BytesField(6, ""), NumberField(7, 900)}) {
    const std::string usual = id + value, unusual = value + id;
    const RawStat one = ParseStat(usual), other = ParseStat(unusual), any = ParseAnyStat(usual);
    for (const RawStat& stat : {other, any}) {
      EXPECT_EQ(one.metadata_id, stat.metadata_id);
      EXPECT_EQ(one.kind, stat.kind);
      EXPECT_EQ(one.number, stat.number);
      EXPECT_EQ(one.real, stat.real);
      EXPECT_EQ(one.text, stat.text);
    }
    EXPECT_EQ(one.metadata_id, 200);
    EXPECT_NE(one.kind, RawStat::Kind::kNone);
  }
  EXPECT_EQ(ParseStat(id).kind, RawStat::Kind::kNone);
  EXPECT_EQ(ParseStat(id + NumberField(3, 7) + NumberField(4, 8)).number,
            8);  // The last one stands.
  EXPECT_EQ(ParseStat(NumberField(3, 7)).metadata_id, 0);
  EXPECT_EQ(ParseStat("").kind, RawStat::Kind::kNone);
}

TEST(WalkEventsTest, AMalformedEventEndsTheLine) {
  const std::string good = BytesField(4, NumberField(1, 1));
  for (const std::string& bad :
       {BytesField(4, Tag(1, 0)), BytesField(4, NumberField(2, 1) + Tag(1, 3)),
        CutField(4, 1000, "short"), Tag(4, 3), std::string("\x80")}) {
    const Walked walked = Walk(good + good + bad, All);
    EXPECT_THAT(walked.ids, ElementsAre(1, 1));
    EXPECT_TRUE(walked.result.malformed);
  }
}

TEST(WalkEventsTest, AnEventTooLargeToHoldIsPassedOver) {
  const std::string large =
      BytesField(4, NumberField(1, 9) + BytesField(4, std::string(kMaxEventBytes, 'x')));
  const Walked walked = Walk(large + BytesField(4, NumberField(1, 2)), All);
  EXPECT_THAT(walked.ids, ElementsAre(2));
  EXPECT_THAT(walked.ordinals, ElementsAre(1));
}

LineHead HeadOf(const std::string& line) {
  const auto source = MemorySource(line);
  Window window(*source, 8);
  return ReadLineHead(&window, {0, line.size()});
}

TEST(ReadLineHeadTest, AsRecordersWriteIt) {
  const LineHead head = HeadOf(SomeLine(3).SerializeAsString());
  EXPECT_EQ(head.id, -3);
  EXPECT_EQ(head.name, "python");
  EXPECT_EQ(head.timestamp_ns, 1500);
}

TEST(ReadLineHeadTest, BehindTheEvents) {
  const std::string event = BytesField(4, NumberField(1, 1) + NumberField(2, 5));
  const LineHead head = HeadOf(event + event + NumberField(3, 77) + BytesField(2, "late"));
  EXPECT_EQ(head.timestamp_ns, 77);
  EXPECT_EQ(head.name, "late");
}

TEST(ReadLineHeadTest, WrongTypesAndCutHeadsAreNothing) {
  EXPECT_EQ(HeadOf(BytesField(3, "no number") + NumberField(2, 5)).timestamp_ns, 0);
  EXPECT_EQ(HeadOf(NumberField(3, 4) + CutField(2, 100, "cut")).timestamp_ns, 4);
  EXPECT_EQ(HeadOf("").name, "");
  EXPECT_EQ(HeadOf(Tag(0, 0)).id, 0);
}

TEST(ForEachStatTest, VisitsStatsOfEveryType) {
  proto::XEvent event;
  event.add_stats()->set_str_value("text");
  event.add_stats()->set_ref_value(8);
  event.add_stats()->set_int64_value(-2);
  event.add_stats()->set_uint64_value(uint64_t{1} << 63);
  event.add_stats()->set_double_value(0.25);
  event.add_stats()->set_bytes_value("bytes");
  std::vector<RawStat> stats;
  const std::string bytes = event.SerializeAsString();
  ForEachStat(bytes, [&](const RawStat& stat) { stats.push_back(stat); });
  ASSERT_EQ(stats.size(), 6u);
  EXPECT_EQ(stats[0].text, "text");
  EXPECT_EQ(stats[1].kind, RawStat::Kind::kReference);
  EXPECT_EQ(stats[1].number, 8);
  EXPECT_EQ(stats[2].number, -2);
  EXPECT_EQ(stats[3].number, INT64_MIN);
  EXPECT_EQ(stats[4].real, 0.25);
  EXPECT_EQ(stats[5].text, "bytes");
}

TEST(TimeBaseTest, AbsoluteTimesFromTimestampAndOffset) {
  const TimeBase base(1000, 5'000'000);
  LineHead line;
  line.timestamp_ns = 1500;
  RawEvent event;
  event.offset_ps = 2'999;
  event.duration_ps = -5;
  const TimeSpan span = base.SpanOf(line, event);
  EXPECT_EQ(span.start_ps, 502'999);
  EXPECT_EQ(span.end_ps, 502'999);  // A negative duration is none.
  EXPECT_EQ(base.UnixNs(span.start_ps), 5'001'502);
  EXPECT_EQ(base.UnixNs(-1), 5'000'999);
}

TEST(TimeBaseTest, ImpossibleTimesSaturate) {
  const TimeBase base(0, INT64_MAX);
  LineHead line;
  RawEvent event;
  line.timestamp_ns = INT64_MAX;
  event.offset_ps = INT64_MAX;
  event.duration_ps = INT64_MAX;
  EXPECT_EQ(base.SpanOf(line, event).end_ps, INT64_MAX / 2);
  line.timestamp_ns = INT64_MIN;
  EXPECT_EQ(base.SpanOf(line, event).start_ps, -(INT64_MAX / 2));
  EXPECT_EQ(base.UnixNs(INT64_MAX / 2), INT64_MAX / 2);
}

}  // namespace
}  // namespace oomdb::ingest
