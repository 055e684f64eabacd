#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "queries/catalogue.h"
#include "schema/describe.h"
#include "schema/migrations.h"
#include "tests/cli/program.h"

namespace oomdb::cli {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::StartsWith;

class ListShowTest : public ProgramTest {};

TEST_F(ListShowTest, ListsWhatADatabaseHolds) {
  ASSERT_EQ(Oomdb("ingest --db oom.db logs").exit_code, 0);
  EXPECT_THAT(Oomdb("list captures --db oom.db --format csv").out,
              HasSubstr("1,run1,host,xplane,complete,1,1,1,"));
  EXPECT_THAT(Oomdb("list modules --db oom.db --format csv").out,
              HasSubstr("run1,host,1,jit_step,7,"));
  EXPECT_THAT(Oomdb("list executions --db oom.db --format csv").out,
              HasSubstr("run1,host,0,1,jit_step,1,"));
}

TEST_F(ListShowTest, ListsWhatTheProgramKnowsWithoutADatabase) {
  EXPECT_THAT(Oomdb("list tables --format csv").out,
              AllOf(HasSubstr("findings,view,"), HasSubstr("captures,table,")));
  for (const queries::CatalogueEntry* rule : queries::Catalogue::Get().Rules()) {
    EXPECT_THAT(Oomdb("list rules --format csv").out, HasSubstr("\n" + rule->id + ","));
  }
  EXPECT_THAT(Oomdb("list settings --format csv").out, HasSubstr("capacity_bytes,,"));
  EXPECT_THAT(Oomdb("list settings --capacity 1K --format csv").out,
              HasSubstr("capacity_bytes,1024,"));
  const Outcome wrong = Oomdb("list module");
  EXPECT_EQ(wrong.exit_code, 2);
  EXPECT_THAT(wrong.err, HasSubstr("did you mean modules?"));
  EXPECT_EQ(Oomdb("list captures").exit_code, 2);
}

TEST_F(ListShowTest, ExplainsEveryTableAndView) {
  for (const schema::TableDescription& table : schema::DescribeTables(schema::SchemaSql())) {
    const Outcome outcome = Oomdb("show " + table.name);
    EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
    EXPECT_THAT(outcome.out, AllOf(StartsWith(table.name), HasSubstr("CREATE TABLE " + table.name),
                                   HasSubstr(table.columns.at(0).name)));
  }
  for (const queries::CatalogueEntry& entry : queries::Catalogue::Get().entries()) {
    const Outcome outcome = Oomdb("show " + entry.id);
    EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
    EXPECT_THAT(outcome.out, AllOf(StartsWith(entry.id), HasSubstr("CREATE VIEW " + entry.id)));
  }
  const Outcome wrong = Oomdb("show finding");
  EXPECT_EQ(wrong.exit_code, 2);
  EXPECT_THAT(wrong.err, HasSubstr("findings"));
}

TEST_F(ListShowTest, ShowsTheSameToMachines) {
  const nlohmann::json rule =
      nlohmann::json::parse(Oomdb("show step_does_not_fit --format json").out);
  EXPECT_EQ(rule["kind"], "rule");
  EXPECT_THAT(rule["file"].get<std::string>(), StartsWith("queries/"));
  EXPECT_EQ(rule["asks"], queries::Catalogue::Get().Find("step_does_not_fit")->asks);
  EXPECT_EQ(rule["columns"][0]["name"], "capture_id");
  EXPECT_FALSE(rule["columns"][0]["meaning"].get<std::string>().empty());
  EXPECT_THAT(rule["sql"].get<std::string>(), StartsWith("CREATE VIEW step_does_not_fit AS"));
  EXPECT_EQ(nlohmann::json::parse(Oomdb("show findings --format json").out)["kind"], "view");
  EXPECT_EQ(nlohmann::json::parse(Oomdb("show captures --format json").out)["kind"], "table");
  EXPECT_EQ(Oomdb("show captures --format csv").exit_code, 2);
}

}  // namespace
}  // namespace oomdb::cli
