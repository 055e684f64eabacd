#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <string>

#include "tests/cli/program.h"

namespace oomdb::cli {
namespace {

using testing::HasSubstr;
using Json = nlohmann::json;

class WhatIfVerbTest : public ProgramTest {
 protected:
  static std::string Plan(const std::string& name) {
    return std::string(OOMDB_SOURCE_DIR) + "/tests/plan/testdata/whatif/" + name + ".hlo.pb.gz ";
  }
  Json AskJson(const std::string& arguments) {
    const Outcome outcome = Oomdb("what-if " + arguments + " --format json");
    EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
    return Json::parse(outcome.out);
  }
};

TEST_F(WhatIfVerbTest, ARangeAndWhetherItFits) {
  const Json answer = AskJson(Plan("cuda_gpt") + "--batch 0.5x --capacity 300MiB");
  EXPECT_EQ(answer["fits"], true);
  EXPECT_EQ(answer["before"]["needs_bytes"], 302346944);
  EXPECT_NEAR(answer["needs_bytes"].get<double>(), 179630512, 2e6);
  EXPECT_LT(answer["needs_low_bytes"], answer["needs_bytes"]);
  EXPECT_GT(answer["needs_high_bytes"], answer["needs_bytes"]);
  EXPECT_EQ(answer["batch"]["extent"], 8);
  EXPECT_EQ(answer["self_check"]["error"], 0);
  EXPECT_EQ(answer["change"], "--batch 0.5x");
  EXPECT_EQ(answer["largest"].size(), 10u);
  EXPECT_EQ(AskJson(Plan("cuda_gpt") + "--batch 4 --capacity 1MiB")["fits"], false);
  EXPECT_TRUE(AskJson(Plan("cuda_gpt") + "--batch 4 --capacity 171MiB")["fits"].is_null());
  EXPECT_TRUE(AskJson(Plan("cuda_gpt") + "--batch 4")["fits"].is_null());
}

TEST_F(WhatIfVerbTest, UnknownComesWithItsReason) {
  const Json answer = AskJson(Plan("tpu_mlp") + "--fused-attention --capacity 80GiB");
  EXPECT_TRUE(answer["needs_bytes"].is_null());
  EXPECT_TRUE(answer["fits"].is_null());
  EXPECT_THAT(answer["why_unknown"].get<std::string>(), HasSubstr("no scores of attention"));
  const Outcome page = Oomdb("what-if " + Plan("tpu_mlp") + "--fused-attention");
  EXPECT_EQ(page.exit_code, 0);
  EXPECT_THAT(page.out, HasSubstr("not known what it would need"));
}

TEST_F(WhatIfVerbTest, ThePageSaysItInASentence) {
  const Outcome page =
      Oomdb("what-if " + Plan("cuda_gpt") + "--checkpoint --capacity 16GiB --largest-batch");
  EXPECT_EQ(page.exit_code, 0);
  EXPECT_THAT(page.out, HasSubstr("with --checkpoint jit_train_step would need "));
  EXPECT_THAT(page.out, HasSubstr("instead of 288 MiB: it fits in 16.0 GiB"));
  EXPECT_THAT(page.out, HasSubstr("largest batch on a device: "));
  EXPECT_THAT(page.out, HasSubstr("computed again"));
}

TEST_F(WhatIfVerbTest, SearchNamesWhatFits) {
  const Json answer = AskJson(Plan("cuda_gpt") + "--search --capacity 200MiB");
  ASSERT_FALSE(answer["combinations"].empty());
  EXPECT_EQ(answer["combinations"][0]["fits"], true);
  const Outcome csv =
      Oomdb("what-if " + Plan("cuda_gpt") + "--search --capacity 200MiB --format csv");
  EXPECT_THAT(csv.out, HasSubstr("module,change,capacity_bytes"));
}

TEST_F(WhatIfVerbTest, ACaptureSaysModuleAndCapacity) {
  const Outcome outcome = Oomdb("what-if logs --module nothing");
  EXPECT_EQ(outcome.exit_code, 2);
  EXPECT_THAT(outcome.err, HasSubstr("no module nothing"));
}

TEST_F(WhatIfVerbTest, ADatabaseAloneAnswersTheSame) {
  ASSERT_EQ(Oomdb("ingest --db oom.db " + Plan("cuda_gpt") + Plan("tpu_mlp")).exit_code, 0);
  for (const std::string change :
       {"", "--donate", "--batch 0.5x --checkpoint", "--accumulate 4", "--fused-attention",
        "--chunk-loss 4", "--batch-size 64 --batch 2x", "--search --largest-batch"}) {
    const std::string asked = " --capacity 200MiB " + change;
    EXPECT_EQ(AskJson("--db oom.db --module 'jit_train_step(1)'" + asked),
              AskJson(Plan("cuda_gpt") + asked))
        << change;
  }
  // Without a name it is the largest.
  EXPECT_EQ(AskJson("--db oom.db --donate"), AskJson(Plan("tpu_mlp") + "--donate"));
  EXPECT_EQ(AskJson("--db oom.db --capture 1 --donate"), AskJson(Plan("cuda_gpt") + "--donate"));
  EXPECT_THAT(Oomdb("what-if --db oom.db --donate").out,
              HasSubstr("plan: jit_train_step of run whatif, the largest of 2 (--module"));
  EXPECT_EQ(Oomdb("what-if --db oom.db --module jit_train_ste").exit_code, 2);
  EXPECT_EQ(Oomdb("what-if --db oom.db --run none").exit_code, 2);
}

TEST_F(WhatIfVerbTest, AMergeTakesReplaysAlong) {
  ASSERT_EQ(Oomdb("ingest --db a.db " + Plan("cuda_gpt")).exit_code, 0);
  ASSERT_EQ(Oomdb("ingest --db b.db " + Plan("tpu_mlp")).exit_code, 0);
  ASSERT_EQ(Oomdb("merge oom.db b.db a.db").exit_code, 0);
  EXPECT_EQ(AskJson("--db oom.db --module 'jit_train_step(1)' --donate"),
            AskJson(Plan("cuda_gpt") + "--donate"));
  ASSERT_EQ(Oomdb("forget --db oom.db --capture 1").exit_code, 0);
  EXPECT_EQ(Ask("SELECT COUNT(*) FROM stored_replays"), "1");
}

TEST_F(WhatIfVerbTest, StandardInputIsRead) {
  const Outcome outcome =
      Shell("zcat " + Plan("cuda_gpt") + " | oomdb what-if - --donate --format json");
  EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
  EXPECT_EQ(Json::parse(outcome.out)["needs_bytes"],
            AskJson(Plan("cuda_gpt") + "--donate")["needs_bytes"]);
}

TEST_F(WhatIfVerbTest, ADatabaseWithoutReplaysSaysWhatToDo) {
  ASSERT_EQ(Oomdb("ingest --db oom.db " + Plan("cuda_gpt")).exit_code, 0);
  ASSERT_EQ(Shell("python3 -c \"import sqlite3; d = sqlite3.connect('oom.db'); "
                  "d.execute('DELETE FROM stored_replays'); d.commit()\"")
                .exit_code,
            0);
  const Outcome old = Oomdb("what-if --db oom.db --donate");
  EXPECT_EQ(old.exit_code, 1);
  EXPECT_THAT(old.err, HasSubstr("ingest it again to ask what-if: oomdb forget --db oom.db "
                                 "--capture 1, then oomdb ingest --db oom.db "));
  // What is read again has them.
  ASSERT_EQ(Oomdb("forget --db oom.db --capture 1").exit_code, 0);
  ASSERT_EQ(Oomdb("ingest --db oom.db " + Plan("cuda_gpt")).exit_code, 0);
  EXPECT_EQ(Oomdb("what-if --db oom.db --donate").exit_code, 0);
  // A small plan was never worth one; the capture itself still answers.
  const std::string capture = std::string(OOMDB_SOURCE_DIR) + "/sample_dbs/captures/cpu/donate ";
  const std::string small_module = "--module 'jit__normal(10)' --donate";
  ASSERT_EQ(Oomdb("ingest --db small.db " + capture).exit_code, 0);
  const Outcome small = Oomdb("what-if --db small.db " + small_module);
  EXPECT_EQ(small.exit_code, 1);
  EXPECT_THAT(small.err, HasSubstr("below the setting replay_min_bytes"));
  EXPECT_EQ(Oomdb("what-if " + capture + small_module).exit_code, 0);
}

TEST_F(WhatIfVerbTest, MistakesAreSaid) {
  EXPECT_EQ(Oomdb("what-if").exit_code, 2);
  EXPECT_EQ(Oomdb("what-if none.hlo.pb").exit_code, 1);
  Write("bad.hlo.pb", "not a proto");
  EXPECT_EQ(Oomdb("what-if bad.hlo.pb").exit_code, 1);
  Write("empty.hlo.pb", "");
  EXPECT_EQ(Oomdb("what-if empty.hlo.pb").exit_code, 1);
  for (const std::string wrong :
       {"--batch 0", "--batch half", "--batch -1x", "--batch nanx", "--batch 0x", "--sequence 3",
        "--offload weights", "--accumulate 0", "--fsdp 2 --zero1 2", "--search", "--largest-batch",
        "--capacity lots"}) {
    const Outcome outcome = Oomdb("what-if " + Plan("cuda_gpt") + wrong);
    EXPECT_EQ(outcome.exit_code, 2) << wrong << outcome.err;
  }
}

}  // namespace
}  // namespace oomdb::cli
