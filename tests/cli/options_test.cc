#include "cli/options.h"

#include <gtest/gtest.h>

#include "base/error.h"

namespace oomdb::cli {
namespace {

TEST(ShellQuoteTest, QuotesWhatAShellWouldChange) {
  EXPECT_EQ(ShellQuote("oom.db"), "oom.db");
  EXPECT_EQ(ShellQuote("/data/run-1/oom.db"), "/data/run-1/oom.db");
  EXPECT_EQ(ShellQuote(""), "''");
  EXPECT_EQ(ShellQuote("my file"), "'my file'");
  EXPECT_EQ(ShellQuote("it's $HOME"), "'it'\\''s $HOME'");
}

TEST(SplitAssignmentTest, CutsAtTheFirstEqualsSign) {
  EXPECT_EQ(SplitAssignment("a=b", "-p"), std::make_pair(std::string("a"), std::string("b")));
  EXPECT_EQ(SplitAssignment("a=b=c", "-p"), std::make_pair(std::string("a"), std::string("b=c")));
  EXPECT_EQ(SplitAssignment("a=", "-p"), std::make_pair(std::string("a"), std::string()));
  EXPECT_THROW(SplitAssignment("a", "-p"), Error);
  EXPECT_THROW(SplitAssignment("=b", "-p"), Error);
}

TEST(RequireDatabaseTest, WantsAName) {
  EXPECT_EQ(RequireDatabase("oom.db"), "oom.db");
  EXPECT_THROW(RequireDatabase(""), Error);
}

}  // namespace
}  // namespace oomdb::cli
