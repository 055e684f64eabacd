// The pprof format, profile.proto (https://github.com/google/pprof/tree/main/proto): samples with
// values and labels, their stacks, and a table of the texts that all of it refers to.
#ifndef OOMDB_INGEST_PROFILE_PPROF_H_
#define OOMDB_INGEST_PROFILE_PPROF_H_

#include <cstdint>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "ingest/base/facts.h"

namespace oomdb::ingest {

struct PprofFrame {
  std::string_view function;  // Empty: unknown.
  std::string_view file;      // Empty: unknown.
  MaybeInt line;
};

struct PprofSample {
  std::vector<uint64_t> locations;  // Innermost first.
  std::vector<int64_t> values;      // In step with Pprof::value_types.
  std::vector<std::pair<std::string_view, std::string_view>> labels;  // Texts only.
};

// All texts are parts of the bytes that were read, which must outlive it.
struct Pprof {
  std::vector<std::string_view> value_types;  // "allocations", "space"
  std::vector<PprofSample> samples;
  std::unordered_map<uint64_t, std::vector<PprofFrame>> locations;  // Inlined ones first.
  MaybeInt time_ns;                                                 // Unix, when it was taken.
  int64_t bad_references = 0;  // To texts, functions or locations that are not there.
  bool cut = false;            // The bytes end inside a message.
};

// Never throws: of bytes of another format little or nothing is found.
Pprof ReadPprof(std::string_view bytes);

}  // namespace oomdb::ingest

#endif  // OOMDB_INGEST_PROFILE_PPROF_H_
