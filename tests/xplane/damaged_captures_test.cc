// Whatever is done to a capture's bytes, the importer reads what is left of it or refuses with an
// Error.
#include <gtest/gtest.h>

#include <chrono>
#include <random>

#include "base/error.h"
#include "tests/xplane/collected_facts.h"
#include "tests/xplane/sample_captures.h"
#include "tests/xplane/wire_bytes.h"

namespace oomdb::ingest {
namespace {

// The promises that hold for any bytes. True when they were a capture.
bool CheckImport(const std::string& bytes, const ImportOptions& options) {
  CollectedFacts facts;
  try {
    ImportXPlane(*MemorySource(bytes), options, facts);
  } catch (const Error& error) {
    EXPECT_FALSE(std::string(error.what()).empty());
    return false;
  }
  const auto valid = [](const std::optional<Index>& index, size_t count) {
    return !index || (*index >= 0 && *index < static_cast<Index>(count));
  };
  EXPECT_EQ(facts.captures.size(), 1u);
  for (const AllocatorFact& a : facts.allocators)
    EXPECT_TRUE(valid(a.device, facts.devices.size()));
  for (const ExecutionFact& e : facts.executions) {
    EXPECT_TRUE(valid(e.device, facts.devices.size()));
    EXPECT_TRUE(valid(e.module, facts.modules.size()));
    EXPECT_TRUE(valid(e.launch_event, facts.events.size()));
    EXPECT_LE(e.start_ns, e.end_ns);
    if (facts.capture().truncated) {
      EXPECT_NE(e.launched, false);
    }
  }
  for (const AllocationFact& a : facts.allocations) {
    EXPECT_TRUE(valid(a.allocator, facts.allocators.size()));
    EXPECT_TRUE(valid(a.execution, facts.executions.size()));
    EXPECT_TRUE(valid(a.module, facts.modules.size()));
    EXPECT_TRUE(valid(a.alloc_event, facts.events.size()));
    EXPECT_TRUE(valid(a.free_event, facts.events.size()));
    EXPECT_GE(a.bytes, 0);
    if (a.alloc_ns && a.free_ns) {
      EXPECT_LE(*a.alloc_ns, *a.free_ns);
    }
  }
  for (size_t i = 0; i < facts.events.size(); ++i) {
    EXPECT_TRUE(valid(facts.events[i].parent, i));
    EXPECT_TRUE(valid(facts.events[i].execution, facts.executions.size()));
  }
  return true;
}

ImportOptions OptionsOfRound(int round) {
  ImportOptions options;
  options.events = static_cast<EventSelection>(round % 3);
  return options;
}

TEST(DamagedCaptureTest, TheSamplesAreWhole) {
  for (const std::string& sample : SampleCaptures()) {
    for (int round = 0; round < 3; ++round) EXPECT_TRUE(CheckImport(sample, OptionsOfRound(round)));
  }
}

TEST(DamagedCaptureTest, Truncated) {
  for (const std::string& sample : SampleCaptures()) {
    const size_t step = std::max<size_t>(1, sample.size() / 600);
    int round = 0;
    for (size_t length = 0; length < sample.size(); length += step) {
      CheckImport(sample.substr(0, length), OptionsOfRound(round++));
    }
  }
}

class DamagedCaptureRandomTest : public testing::Test {
 protected:
  size_t Random(size_t below) {
    return std::uniform_int_distribution<size_t>(0, below - 1)(random_);
  }

  // Damages samples until the rounds or the time are over; most stay captures.
  template <typename Damage>
  void Run(int rounds, Damage&& damage) {
    const std::vector<std::string> samples = SampleCaptures();
    const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(3);
    int captures = 0, done = 0;
    for (; done < rounds && std::chrono::steady_clock::now() < end; ++done) {
      std::string bytes = samples[Random(samples.size())];
      damage(samples, &bytes);
      captures += CheckImport(bytes, OptionsOfRound(done));
      ASSERT_FALSE(HasFailure()) << "in round " << done;
    }
    EXPECT_GT(captures, done / 4);
  }

  std::mt19937 random_{20240229};
};

TEST_F(DamagedCaptureRandomTest, FlippedBits) {
  Run(2000, [&](const auto&, std::string* bytes) {
    for (size_t n = 1 + Random(8); n > 0; --n) {
      (*bytes)[Random(bytes->size())] ^= static_cast<char>(1 << Random(8));
    }
  });
}

TEST_F(DamagedCaptureRandomTest, BytesOfMeaning) {
  // Values that begin or end something: tags, lengths, long numbers.
  const std::string values =
      std::string("\x00\x01\x08\x0a\x12\x1a\x22\x2a\x32\x3a\x7f\x80\xff", 13);
  Run(2000, [&](const auto&, std::string* bytes) {
    for (size_t n = 1 + Random(4); n > 0; --n)
      (*bytes)[Random(bytes->size())] = values[Random(values.size())];
  });
}

TEST_F(DamagedCaptureRandomTest, SplicesInsertionsAndRemovals) {
  Run(2000, [&](const std::vector<std::string>& samples, std::string* bytes) {
    const std::string& other = samples[Random(samples.size())];
    const size_t from = Random(other.size());
    const std::string piece = other.substr(from, Random(400));
    const size_t at = Random(bytes->size());
    switch (Random(3)) {
      case 0:
        bytes->insert(at, piece);
        break;
      case 1:
        bytes->replace(at, piece.size(), piece);
        break;
      default:
        bytes->erase(at, Random(400));
    }
  });
}

// Damage below the framing: events and stats with any numbers, in messages that are whole.
TEST_F(DamagedCaptureRandomTest, AnyNumbersInWholeMessages) {
  std::vector<proto::XSpace> spaces;
  for (const std::string& sample : SampleCaptures())
    ASSERT_TRUE(spaces.emplace_back().ParseFromString(sample));
  const auto odd = [&]() -> int64_t {
    constexpr int64_t kOdd[] = {
        0, 1, -1, 5, INT64_MAX, INT64_MIN, int64_t{1} << 62, int64_t{1} << 40, -1000, 2'000'000};
    return kOdd[Random(std::size(kOdd))];
  };
  for (int round = 0; round < 600; ++round) {
    proto::XSpace space = spaces[Random(spaces.size())];
    for (proto::XPlane& plane : *space.mutable_planes()) {
      for (proto::XLine& line : *plane.mutable_lines()) {
        if (Random(8) == 0) line.set_timestamp_ns(odd());
        for (proto::XEvent& event : *line.mutable_events()) {
          if (Random(16) != 0) continue;
          switch (Random(4)) {
            case 0:
              event.set_offset_ps(odd());
              break;
            case 1:
              event.set_duration_ps(odd());
              break;
            case 2:
              event.set_metadata_id(odd());
              break;
            default:
              for (proto::XStat& stat : *event.mutable_stats()) {
                if (Random(3) == 0) stat.set_int64_value(odd());
              }
          }
        }
      }
    }
    ASSERT_TRUE(CheckImport(space.SerializeAsString(), OptionsOfRound(round)));
    ASSERT_FALSE(HasFailure()) << "in round " << round;
  }
}

}  // namespace
}  // namespace oomdb::ingest
