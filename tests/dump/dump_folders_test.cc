// Telling a dump's files apart by their names.
#include "ingest/dump/dump_folders.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace oomdb::ingest {
namespace {

using testing::ElementsAre;

DumpFileKind KindOf(const std::string& name) {
  const auto parsed = ParseDumpFileName(name);
  EXPECT_TRUE(parsed.has_value()) << name;
  return parsed.has_value() ? parsed->kind : DumpFileKind::kOther;
}

TEST(DumpNamesTest, OptimizedModulesOfEveryBackend) {
  for (const char* const name : {
           "module_0001.jit_f.cpu_after_optimizations.hlo.pb",
           "module_0001.jit_f.sm_8.0_gpu_after_optimizations.hlo.pb",
           "module_0001.jit_f.gfx942_gpu_after_optimizations.hlo.pb.zst",
           "module_0001.jit_f.cl_933746096.after_optimizations.hlo.pb",
           "1795989309821401.module_0001.jit_f.gpu_after_optimizations.hlo.pb.xz",
           "module_0001.jit_f.cl_7.after_optimizations_after_buffer_assignment.hlo.pb",
       }) {
    EXPECT_EQ(KindOf(name), DumpFileKind::kPlanProto) << name;
    EXPECT_EQ(ParseDumpFileName(name)->module, "module_0001.jit_f") << name;
    EXPECT_EQ(ParseDumpFileName(name)->module_name, "jit_f") << name;
    EXPECT_EQ(ParseDumpFileName(name)->module_id, 1) << name;
  }
  EXPECT_EQ(ParseDumpFileName("17.module_0001.jit_f.gpu_after_optimizations.hlo.pb")->time, 17u);
}

TEST(DumpNamesTest, WhatComesWithoutBuffers) {
  for (const char* const name : {
           "module_0001.jit_f.before_optimizations.hlo.pb",
           "module_0001.jit_f.cl_7.after_optimizations_before_buffer_assignment.hlo.pb",
           "module_0001.jit_f.cl_7.after_optimizations.txt",
           "module_0001.jit_f.gpu_after_optimizations-buffer-assignment-values.txt",
           "module_0001.jit_f.gpu_after_optimizations-memory-usage-report.pb",
           "module_0001.jit_after_optimizations.before_optimizations.hlo.pb",
           "module_0001.jit_f.gpu_target_config.pbtxt",
       }) {
    EXPECT_EQ(KindOf(name), DumpFileKind::kOther) << name;
  }
}

TEST(DumpNamesTest, TextsAndFailures) {
  EXPECT_EQ(KindOf("module_0001.jit_f.gpu_after_optimizations-buffer-assignment.txt"),
            DumpFileKind::kAssignmentText);
  EXPECT_EQ(KindOf("module_0001.jit_f.gpu_after_optimizations-memory-usage-report.txt.gz"),
            DumpFileKind::kUsageReport);
  EXPECT_EQ(KindOf("module_0000.fast-buffer-assignment.txt"), DumpFileKind::kAssignmentText);
  EXPECT_EQ(ParseDumpFileName("module_0000.fast-buffer-assignment.txt")->module_name, "fast");
  EXPECT_EQ(KindOf("module_0001.jit_f.cl_7.oom_intermediate_module.hlo.pb"),
            DumpFileKind::kFailedProto);
  EXPECT_EQ(KindOf("module_0001.jit_f.cl_7.oom_intermediate_module.txt"),
            DumpFileKind::kFailureMark);
  const auto top =
      ParseDumpFileName("module_0001.jit_f.cl_7.oom_top_memory_consuming_instructions");
  ASSERT_TRUE(top.has_value());
  EXPECT_EQ(top->kind, DumpFileKind::kFailureMark);
  EXPECT_EQ(top->module, "module_0001.jit_f");
  EXPECT_EQ(KindOf("1795989309821401.peak_memory_tensors.txt"), DumpFileKind::kFailureMark);
}

TEST(DumpNamesTest, OtherNamesAreNoDumps) {
  for (const char* const name :
       {"", "error.txt", "host.xplane.pb", "memory.prof", "jit_f(12).hlo_proto.pb", "module_.x",
        "module_12", "module_x.jit_f.hlo.pb", "12.txt", "99999999999999999999999.module_1.f.txt"}) {
    EXPECT_FALSE(ParseDumpFileName(name).has_value()) << name;
  }
}

TEST(DumpFoldersTest, FoldersWithAPlanAreTaken) {
  std::vector<std::string> files = {
      "d/a/error.txt",
      "d/a/module_0002.jit_g.gpu_after_optimizations-buffer-assignment.txt",
      "d/a/module_0002.jit_g.gpu_after_optimizations.hlo.pb",
      "d/a/module_0002.jit_g.ir-with-opt.ll",
      "d/b/module_0001.jit_f.before_optimizations.hlo.pb",
      "d/host.xplane.pb",
      "d/module_0001.jit_f.gpu_after_optimizations.hlo.pb",
  };
  const std::vector<DumpFolder> dumps = TakeDumpFolders(files);
  EXPECT_THAT(files,
              ElementsAre("d/a/error.txt", "d/b/module_0001.jit_f.before_optimizations.hlo.pb",
                          "d/host.xplane.pb"));
  ASSERT_EQ(dumps.size(), 2u);
  EXPECT_EQ(dumps[0].path, "d");
  EXPECT_EQ(dumps[1].path, "d/a");
  ASSERT_EQ(dumps[1].files.size(), 2u);
  EXPECT_EQ(dumps[1].files[0].name.kind, DumpFileKind::kPlanProto);
  EXPECT_EQ(dumps[1].other_files, 1u);
}

TEST(DumpFoldersTest, TheNewestOfAModuleComesFirst) {
  std::vector<std::string> files = {
      "d/10.module_0001.jit_f.gpu_after_optimizations.hlo.pb",
      "d/20.module_0001.jit_f.gpu_after_optimizations.hlo.pb",
      "d/30.module_0001.jit_f.gpu_after_optimizations-buffer-assignment.txt",
  };
  const std::vector<DumpFolder> dumps = TakeDumpFolders(files);
  ASSERT_EQ(dumps.size(), 1u);
  EXPECT_THAT(files, ElementsAre());
  EXPECT_EQ(dumps[0].files[0].name.time, 20u);
  EXPECT_EQ(dumps[0].files[1].name.time, 10u);
  EXPECT_EQ(dumps[0].files[2].name.kind, DumpFileKind::kAssignmentText);
}

}  // namespace
}  // namespace oomdb::ingest
