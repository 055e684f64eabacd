// What the tests of the rules about error logs share.
#ifndef OOMDB_TESTS_RULES_ERROR_LOGS_H_
#define OOMDB_TESTS_RULES_ERROR_LOGS_H_

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "tests/rules/rule_database.h"

namespace oomdb::queries {

// A TPU's compiler, and how much it lacks.
inline std::string Headline(const std::string& used, const std::string& capacity,
                            const std::string& exceeded) {
  return "jaxlib.xla_extension.XlaRuntimeError: RESOURCE_EXHAUSTED: XLA:TPU compile permanent "
         "error. Ran out of memory in memory space hbm. Used " +
         used + " of " + capacity + " hbm. Exceeded hbm capacity by " + exceeded + ".\n\n";
}

// A request that failed while a program ran.
inline std::string Request(int64_t bytes) {
  return "jaxlib.xla_extension.XlaRuntimeError: RESOURCE_EXHAUSTED: Out of memory while trying to "
         "allocate " +
         std::to_string(bytes) + " bytes.\n";
}

// The only finding of the rule.
inline Finding Only(RuleDatabase& database, const std::string& rule) {
  const std::vector<Finding> found = database.Findings(rule);
  EXPECT_THAT(found, testing::SizeIs(1));
  return found.empty() ? Finding{} : found[0];
}

inline std::vector<std::string> Fixes(RuleDatabase& database, const Finding& finding) {
  std::vector<std::string> fixes;
  for (const Remedy& remedy : database.Remedies(finding)) fixes.push_back(remedy.fix);
  return fixes;
}

}  // namespace oomdb::queries

#endif  // OOMDB_TESTS_RULES_ERROR_LOGS_H_
