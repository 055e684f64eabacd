// oomdb hosts: the odd one first, then the hosts side by side.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/cli/program.h"
#include "tests/support/gpu_story.h"

namespace oomdb::cli {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;
using testing::StartsWith;

class HostsVerbTest : public ProgramTest {
 protected:
  // Three hosts of two devices; `leaking` keeps the outputs of its steps.
  void WriteJob(int leaking, const std::string& name_end = "") {
    for (int host = 0; host < 3; ++host) {
      GpuStory story(GpuStory::Dialect::kNew, fmt::format("worker-{}{}", host, name_end));
      HloBuilder step("jit_step");
      step.Parameter(128_MiB).Output(32_MiB);
      step.Temp(100_MiB);
      story.Pool(0, 4_GiB, {.in_use_before = 128_MiB}).Pool(1, 4_GiB, {.in_use_before = 128_MiB});
      story.Module(step, 7);
      for (int i = 0; i < 6; ++i) {
        for (const Execution& done : story.StepOnAll("jit_step")) {
          if (host != leaking) story.Free(done.outputs);
        }
      }
      Write(fmt::format("job/{}.xplane.pb", host), story.Bytes());
    }
  }
};

TEST_F(HostsVerbTest, NamesTheOddOneFirst) {
  ASSERT_EQ(Shell("mkdir -p job").exit_code, 0);
  WriteJob(1);
  const Outcome outcome = Oomdb("hosts job");
  EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
  EXPECT_THAT(outcome.out,
              StartsWith("worker-1 stands out: it grows by 32.0 MiB per execution of jit_step, the "
                         "median of 3 hosts is 0 B\n"));
  EXPECT_THAT(outcome.out, HasSubstr("◀ growth, in use"));
  EXPECT_THAT(outcome.out, HasSubstr("4.00 GiB           6        128 MiB     288 MiB  32.0 MiB"));
  EXPECT_FALSE(Exists("oom.db"));
}

TEST_F(HostsVerbTest, MachineFormatsHaveTheRowsAlone) {
  ASSERT_EQ(Shell("mkdir -p job").exit_code, 0);
  WriteJob(1);
  ASSERT_EQ(Oomdb("ingest --db oom.db job --run job1").exit_code, 0);
  EXPECT_THAT(Oomdb("hosts --db oom.db --format csv").out,
              AllOf(StartsWith("run,host,device,capacity_bytes,executions,"),
                    HasSubstr("\njob1,worker-1,0,4294967296,6,134217728,301989888,33554432,"),
                    HasSubstr(",1,\"growth, in use\",jit_step,complete\n"),
                    HasSubstr(",0,,jit_step,complete\n")));
  EXPECT_THAT(Oomdb("hosts --db oom.db --format jsonl").out, StartsWith("{\"run\": \"job1\", "));
  const Outcome unknown = Oomdb("hosts --db oom.db --run job2");
  EXPECT_EQ(unknown.exit_code, 2);
  EXPECT_THAT(unknown.err, HasSubstr("did you mean job1?"));
  EXPECT_EQ(Oomdb("hosts").exit_code, 2);
}

TEST_F(HostsVerbTest, SaysWhyNothingStandsOut) {
  ASSERT_EQ(Shell("mkdir -p job").exit_code, 0);
  WriteJob(-1);
  const Outcome equal = Oomdb("hosts job");
  EXPECT_THAT(equal.out, AllOf(StartsWith("no host of job stands out: 3 hosts, 6 devices\n"),
                               Not(HasSubstr("◀"))));
  const Outcome one = Oomdb("hosts job/0.xplane.pb");
  EXPECT_THAT(one.out, StartsWith("job is one host with 2 devices: nothing to compare it with\n"));
}

TEST_F(HostsVerbTest, NamesCanNotDriveTheTerminal) {
  ASSERT_EQ(Shell("mkdir -p job").exit_code, 0);
  WriteJob(1, "\x1b[31m");
  const Outcome outcome = Oomdb("hosts job");
  EXPECT_THAT(outcome.out, AllOf(Not(HasSubstr("\x1b")), HasSubstr("\\x1b")));
}

}  // namespace
}  // namespace oomdb::cli
