#include "cli/nearest.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace oomdb::cli {
namespace {

using testing::ElementsAre;

TEST(NearestTest, OffersWhatIsNear) {
  const std::vector<std::string> names = {"ingest", "query",          "list",
                                          "show",   "jit_train_step", "jit_eval_step"};
  EXPECT_THAT(NearestNames("ingets", names), ElementsAre("ingest"));
  EXPECT_THAT(NearestNames("INGEST", names), ElementsAre("ingest"));
  EXPECT_THAT(NearestNames("train_step", names), ElementsAre("jit_train_step"));
  EXPECT_THAT(NearestNames("step", names), ElementsAre("jit_eval_step", "jit_train_step"));
  EXPECT_THAT(NearestNames("xyz", names), ElementsAre());
  EXPECT_THAT(NearestNames("", names), ElementsAre());
  EXPECT_EQ(NearestNames("aa", {"a1", "a2", "a3", "ab", "ac"}).size(), 0u);
  EXPECT_EQ(NearestNames("aaa", {"aa1", "aa2", "aa3", "aa4"}).size(), 3u);
}

TEST(NearestTest, Sentence) {
  EXPECT_EQ(DidYouMean("xyz", {"ingest"}), "");
  EXPECT_EQ(DidYouMean("lst", {"list"}), "; did you mean list?");
  EXPECT_EQ(DidYouMean("abcd", {"abce", "abcf"}), "; did you mean abce or abcf?");
}

TEST(NearestTest, LongNamesAreCheap) {
  const std::string name(1000000, 'x');
  EXPECT_EQ(NearestNames(name, {name + "y"}).size(), 1u);
}

}  // namespace
}  // namespace oomdb::cli
