// Captures in, findings out: what the tests of the rules stand on.
//
//   RuleDatabase database;
//   database.Ingest(story.Bytes());
//   const std::vector<Finding> found = database.Findings("step_does_not_fit");
#ifndef OOMDB_TESTS_RULES_RULE_DATABASE_H_
#define OOMDB_TESTS_RULES_RULE_DATABASE_H_

#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "schema/database.h"

namespace oomdb::queries {

struct Finding {
  std::string id;
  std::string rule;
  std::optional<int64_t> device;
  std::string module_name;  // Empty: none.
  std::string severity;
  std::string evidence;
  std::string title;
  std::string detail;
  std::optional<int64_t> bytes;
};

struct Remedy {
  std::string fix;
  std::optional<int64_t> saving_bytes;
  std::optional<int64_t> needs_bytes;
  std::optional<int64_t> fits;
};

struct Item {
  std::string kind;
  std::string label;
  std::optional<int64_t> bytes;
  std::optional<int64_t> count;
};

// The rules whose findings were asked for in this process: with some, and with none.
struct AskedRules {
  std::set<std::string> fired, quiet;

  static AskedRules& OfThisProcess();
};

class RuleDatabase {
 public:
  // A throw-away database with all views; `settings` override the defaults.
  explicit RuleDatabase(const schema::SettingOverrides& settings = {});

  // A profiler capture, through its importer and the writer.
  void Ingest(const std::string& xspace_bytes, const std::string& run = "run1");
  // A bare module proto: a plan without devices.
  void IngestPlan(const std::string& hlo_bytes, const std::string& run = "run1");
  // What a program or a compiler printed.
  void IngestText(const std::string& text, const std::string& run = "run1");
  void Execute(const std::string& sql);

  // Also noted in AskedRules.
  std::vector<Finding> Findings(const std::string& rule);
  // "rule severity", sorted: what a whole capture gives.
  std::vector<std::string> Summary();
  std::vector<Remedy> Remedies(const Finding& finding);
  std::vector<Item> Items(const Finding& finding);
  std::optional<int64_t> Integer(const std::string& sql);
  schema::Database& database() { return database_; }

 private:
  schema::Database database_;
  int64_t captures_ = 0;
};

}  // namespace oomdb::queries

#endif  // OOMDB_TESTS_RULES_RULE_DATABASE_H_
