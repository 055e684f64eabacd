// The table of forms as such; the texts of each are in tests/log/cases.
#include "ingest/log/forms.h"

#include <gtest/gtest.h>

#include <cctype>

#include "tests/log/read_log.h"

namespace oomdb::ingest {
namespace {

// Reads a pattern of the table as far as the test needs it: what every text that it matches holds.
class RequiredText {
 public:
  RequiredText(std::string_view pattern, std::string_view needle)
      : pattern_(pattern), needle_(needle) {}

  // True when `needle` stands in each text that the pattern matches, as far as can be seen from
  // letters in a row and from groups that must be there.
  bool Holds() { return EveryBranch(); }

 private:
  // Up to the end, or to the bracket that closes this group.
  bool EveryBranch() {
    bool every = true;
    bool found = false;
    std::string run;
    const auto end_run = [&] {
      found = found || run.find(needle_) != std::string::npos;
      run.clear();
    };
    while (at_ < pattern_.size() && pattern_[at_] != ')') {
      const char c = pattern_[at_++];
      if (c == '|') {
        end_run();
        every = every && found;
        found = false;
      } else if (c == '(') {
        end_run();
        if (Next("?")) at_ = pattern_.find(':', at_) + 1;  // (?:  (?i:
        const bool inside = EveryBranch();
        ++at_;  // The bracket.
        found = found || (inside && !Next("?") && !Next("*"));
      } else if (c == '[') {
        end_run();
        at_ = pattern_.find(']', at_ + 1) + 1;
      } else if (c == '\\' && std::isalnum(static_cast<unsigned char>(pattern_[at_]))) {
        end_run();  // \d, \b
        ++at_;
      } else if (c == '?' || c == '*' || c == '{') {
        if (!run.empty()) run.pop_back();  // The letter before it may be missing.
        end_run();
      } else {
        run += c == '\\' ? pattern_[at_++] : c;
      }
    }
    end_run();
    return every && found;
  }

  bool Next(std::string_view text) const { return pattern_.substr(at_).starts_with(text); }

  const std::string_view pattern_;
  const std::string_view needle_;
  size_t at_ = 0;
};

TEST(FormsTest, RequiredTextIsReadFromPatterns) {
  EXPECT_TRUE(RequiredText(R"(a (\d+) bytes\. b)", " bytes. b").Holds());
  EXPECT_TRUE(RequiredText("[Oo]ut (?:of me|of you)(?: x)?", "of ").Holds());
  EXPECT_TRUE(RequiredText("an a|(?:in )?an a", "an a").Holds());
  EXPECT_FALSE(RequiredText("a(?: b)? c", " b").Holds());
  EXPECT_FALSE(RequiredText("a b|c", "a b").Holds());
  EXPECT_FALSE(RequiredText("(?:a b|c) d", "a b").Holds());
  EXPECT_FALSE(RequiredText("killed?", "killed").Holds());
}

TEST(FormsTest, EveryNeedleStandsInItsPattern) {
  // A needle that its own form can do without would hide texts.
  for (const Form& form : Forms()) {
    EXPECT_FALSE(form.needle.empty()) << form.id;
    EXPECT_TRUE(RequiredText(form.pattern, form.needle).Holds())
        << form.id << ": '" << form.needle << "' can be missing in " << form.pattern;
  }
}

TEST(FormsTest, ACodeMayStandInTheLineBeforeHoweverThatEnds) {
  for (const char* between : {" ", "\n", "\r\n"}) {
    const OomEventFact oom =
        ReadLog("RESOURCE_EXHAUSTED: E1000: CompileTimeHbmOom:" + std::string(between) +
                "Ran out of memory on HBM, the total memory required for HLO "
                "temporaries (2.00G) exceeds available HBM (1.00G).")
            .only();
    EXPECT_EQ(oom.error_code, "E1000");
    EXPECT_EQ(oom.used_bytes, 2 * kGi);
  }
}

}  // namespace
}  // namespace oomdb::ingest
