// Protos of tests in protobuf's text format, so that a test shows all that it is about.
#ifndef OOMDB_TESTS_PLAN_TEXT_PROTO_H_
#define OOMDB_TESTS_PLAN_TEXT_PROTO_H_

#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <sstream>
#include <string>
#include <string_view>

#include "google/protobuf/text_format.h"
#include "ingest/plan/plan.h"
#include "proto/hlo.pb.h"

namespace oomdb::ingest {

template <typename Message>
Message FromText(const std::string& text) {
  Message message;
  if (!google::protobuf::TextFormat::ParseFromString(text, &message)) {
    ADD_FAILURE() << "the test's own text proto is wrong: " << text;
  }
  return message;
}

inline Plan PlanOf(const std::string& hlo_proto_text) {
  return ReadPlan(FromText<proto::HloProto>(hlo_proto_text).SerializeAsString());
}

// The buffer with this id; a failure and an empty one where there is none.
inline PlanBuffer BufferOf(const Plan& plan, int64_t id) {
  for (const PlanBuffer& buffer : plan.buffers) {
    if (buffer.logical_buffer_id == id) return buffer;
  }
  ADD_FAILURE() << "no buffer " << id;
  return {};
}

inline bool HasIssue(const Plan& plan, std::string_view what) {
  return std::any_of(plan.issues.begin(), plan.issues.end(),
                     [&](const IssueFact& issue) { return issue.what == what; });
}

// What `class = 'temp' AND at_peak = 1` sums up to in a memory space.
inline int64_t BytesAtPeak(const Plan& plan, int64_t memory_space) {
  int64_t sum = 0;
  for (const PlanBuffer& buffer : plan.buffers) {
    if (buffer.memory_space == memory_space && buffer.at_peak == true &&
        buffer.allocation_class == AllocationClass::kTemp) {
      sum += buffer.bytes;
    }
  }
  return sum;
}

// A file below tests/plan/testdata.
inline std::string TestData(const std::string& name) {
  std::ifstream file(std::string(OOMDB_SOURCE_DIR) + "/tests/plan/testdata/" + name,
                     std::ios::binary);
  std::stringstream content;
  content << file.rdbuf();
  EXPECT_FALSE(content.str().empty()) << name;
  return content.str();
}

}  // namespace oomdb::ingest

#endif  // OOMDB_TESTS_PLAN_TEXT_PROTO_H_
