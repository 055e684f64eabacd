#include "ingest/log/wrapping.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace oomdb::ingest {
namespace {

using testing::ElementsAre;

TEST(WrappingTest, PrefixesAreStripped) {
  const std::string message = "Output size 6.0K; shares 0B with arguments.";
  for (const char* prefix : {
           "        ",
           "\t\t",
           "2025-05-18 21:59:55.086788: W external/xla/xla/tsl/framework/bfc_allocator.cc:310] ",
           "E1214 19:57:44.464390   17928 pjrt_stream_executor_client.cc:3084] ",
           "W0000 00:00:1756998431.440298    5182 hlo_rematerialization.cc:3183] ",
           "2020-05-04 09:05:40.719332: E    1578 tensorflow/compiler/xla/util.cc:76] ",
           "W external/xla/xla/service/hlo_rematerialization.cc:3005] ",
           "I0309 12:51:51.367184 140000000000000 run_docker.py:247] ",
           "I0309 12:51:51.367184 140000000000000 run_docker.py:247] E1214 19:57:44.464390   17928 "
           "a.cc:3084] ",
           "(EngineCore pid=106339) ERROR 06-03 07:41:11 [core.py:1184] ",
           "\x1b[2m\x1b[36m(MeshHostWorker pid=489)\x1b[0m ",
           "[2m[36m(MeshHostWorker pid=489)[0m ",
           "71[2m[36m(MeshHostWorker pid=489)[0m ",
           "(pid=, ip=10.0.0.1) ",
           "(RayTrainWorker(rank=0) pid=12, ip=10.0.0.1) ",
           "> ",
           "> > ",
           "&gt; ",
           " 12   ",
           "[1,0]<stderr>: ",
           "[rank3]: ",
           "worker-0  | ",
           "2024-05-18T21:59:55.086788123Z stderr F ",
           "2024-05-18 21:59:55,086 ",
           "May 18 21:59:55 node7 train[4711]: ",
           "\xE2\x94\x82    ",
       }) {
    EXPECT_EQ(Unwrap(prefix + message), message) << prefix;
  }
}

TEST(WrappingTest, WhatIsNoPrefixStays) {
  for (const char* line : {
           "4 Chunks of size 4000000000 totalling 14.90GiB",
           "1. Size: 2.00G",
           "384.81GiB( 66%);  768.00MiB; 239578644480;                1; bf16[8]",
           "Shape: f32[8]{0:T(8,128)}",
           "E1000: CompileTimeHbmOom: Ran out",
           "InUse at 797202000000 of size 4000000000 next 1",
           "Size: 2.79GiB | Requested Size: 0B | in_use: 0",
       }) {
    EXPECT_EQ(Unwrap(line), line);
  }
}

TEST(WrappingTest, MarkupAndJunkGo) {
  EXPECT_EQ(Unwrap("Used **41.74G** of 16.00G"), "Used 41.74G of 16.00G");
  EXPECT_EQ(Unwrap("Total hbm usage &gt;= 41.74G"), "Total hbm usage >= 41.74G");
  EXPECT_EQ(Unwrap("op_name=&quot;a&quot;"), "op_name=\"a\"");
  EXPECT_EQ(Unwrap(std::string("a\0b\x01 c", 6)), "ab c");
  EXPECT_EQ(Unwrap("`code`"), "code");
  EXPECT_EQ(Unwrap(""), "");
  EXPECT_EQ(Unwrap("\x1b["), "[");
}

TEST(WrappingTest, JoinedLinesAreSplit) {
  EXPECT_THAT(SplitJoined("arguments 0BOutput size 0B; shares 0B with arguments."),
              ElementsAre("arguments 0B", "Output size 0B; shares 0B with arguments."));
  EXPECT_THAT(SplitJoined(R"(x bytes.\nBufferAssignment stats:\n     total allocation:  1B)"),
              ElementsAre("x bytes.", "BufferAssignment stats:", "total allocation:  1B"));
  // An op name may have a \n of its own.
  EXPECT_THAT(SplitJoined(R"(Operator: op_name="a\nb")"),
              ElementsAre(R"(Operator: op_name="a\nb")"));
}

TEST(WrappingTest, ExceptionsAreNoPartOfTheMessage) {
  const std::string message = "RESOURCE_EXHAUSTED: x";
  for (const char* prefix :
       {"jaxlib.xla_extension.XlaRuntimeError: ", "jaxlib._jax.XlaRuntimeError: ",
        "jax.errors.JaxRuntimeError: ", "RuntimeError: Bad StatusOr access: ",
        "jax._src.traceback_util.UnfilteredStackTrace: jaxlib.xla_extension.XlaRuntimeError: ",
        "ValueError: ", "LoadError: ", "Original error: ", "Exception in device=TPU:0: ", "(1) "}) {
    EXPECT_EQ(WithoutException(prefix + message), message) << prefix;
  }
}

}  // namespace
}  // namespace oomdb::ingest
