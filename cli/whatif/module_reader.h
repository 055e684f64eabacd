// The module that a what-if is about: the bytes of its HLO proto, out of a capture, a dump or a
// proto file.
#ifndef OOMDB_CLI_WHATIF_MODULE_READER_H_
#define OOMDB_CLI_WHATIF_MODULE_READER_H_

#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "ingest/base/facts.h"

namespace oomdb::cli {

struct ChosenModule {
  std::string name;
  std::string platform;  // gpu, tpu, cpu; empty: not said.
  std::shared_ptr<const std::string> hlo;
  // Of the device, as its allocator says it; bytes.
  std::optional<int64_t> capacity_bytes;
};

// The module of that name in `path` (a file or a folder), else the one whose plan is the largest;
// of several that bear the name, the largest. Throws Error: nothing to read there, no such module,
// or none whose HLO proto is in it.
ChosenModule ReadModule(const std::string& path, const std::string& module);

}  // namespace oomdb::cli

#endif  // OOMDB_CLI_WHATIF_MODULE_READER_H_
