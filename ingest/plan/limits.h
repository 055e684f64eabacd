// What keeps the reading of an untrusted plan bounded: sums that can't overflow, a budget for text
// that many rows repeat, and a log that counts equal problems instead of repeating them.
#ifndef OOMDB_INGEST_PLAN_LIMITS_H_
#define OOMDB_INGEST_PLAN_LIMITS_H_

#include <cstddef>
#include <cstdint>
#include <limits>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "ingest/base/facts.h"

namespace oomdb::ingest {

// How many steps a search through a module of so many instructions may take in all: real ones are
// short; a module made to be long must not make them quadratic.
constexpr int64_t SearchSteps(int64_t instructions) { return 100'000 + 16 * instructions; }

// More leaves than any program takes or returns (the largest models have some ten thousand).
inline constexpr size_t kMaxLeaves = 1'000'000;

// The problems of one plan: the first of each key is described, the others are counted.
class IssueLog {
 public:
  // `what`: a stable key. `detail`: one line for people, used for the first of this key.
  void Warn(std::string_view what, std::string_view detail) {
    for (IssueFact& issue : issues_) {
      if (issue.what == what) {
        ++issue.count;
        return;
      }
    }
    issues_.push_back({"warning", std::string(what), std::string(detail), 1});
  }
  std::vector<IssueFact> Take() { return std::move(issues_); }

 private:
  std::vector<IssueFact> issues_;  // One per key; there are few keys.
};

// Admits sizes as long as they and their sum stay far from overflow, so that whatever is summed
// later, here or in SQL, is exact.
class SizeGuard {
 public:
  // `size` where it is possible, else 0 and an issue.
  int64_t Admit(int64_t size, IssueLog& log) {
    if (size < 0 || size > kMaxTotal - total_) {
      log.Warn("plan_size_impossible",
               "a size in the buffer assignment is negative or too large; it counts as 0");
      return 0;
    }
    total_ += size;
    return size;
  }

 private:
  static constexpr int64_t kMaxTotal = std::numeric_limits<int64_t>::max() / 4;
  int64_t total_ = 0;
};

// Limits the text that rows copy out of a proto. A real plan needs a few times the proto's size;
// one made to repeat a long name for every buffer would need its square.
class TextBudget {
 public:
  TextBudget(int64_t proto_bytes, IssueLog& log)
      : left_(kFloor + kTimesProto * proto_bytes), log_(log) {}

  // `text`, or an empty string once the budget is spent.
  std::string Copy(std::string_view text) {
    if (std::cmp_greater(text.size(), left_)) {
      log_.Warn("plan_text_limit", "names and shapes repeat too much text; some are left out");
      return {};
    }
    left_ -= static_cast<int64_t>(text.size());
    return std::string(text);
  }

 private:
  static constexpr int64_t kFloor = int64_t{16} << 20;
  static constexpr int64_t kTimesProto = 16;
  int64_t left_;
  IssueLog& log_;
};

}  // namespace oomdb::ingest

#endif  // OOMDB_INGEST_PLAN_LIMITS_H_
