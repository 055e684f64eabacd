// The compiled programs that tests of what-if ask.
#ifndef OOMDB_TESTS_PLAN_WHAT_IF_PLANS_H_
#define OOMDB_TESTS_PLAN_WHAT_IF_PLANS_H_

#include <span>
#include <string>

#include "ingest/source/source.h"

namespace oomdb::ingest {

// The bytes of testdata/whatif/<name>.hlo.pb.gz, an HloProto: "cuda_gpt".
inline std::string WhatIfPlan(const std::string& name) {
  const auto source = OpenSource(std::string(OOMDB_SOURCE_DIR) + "/tests/plan/testdata/whatif/" +
                                 name + ".hlo.pb.gz");
  std::string bytes(source->size(), '\0');
  source->ReadAt(0, std::span<char>(bytes.data(), bytes.size()));
  return bytes;
}

}  // namespace oomdb::ingest

#endif  // OOMDB_TESTS_PLAN_WHAT_IF_PLANS_H_
