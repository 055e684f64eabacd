// What was asked, and all that is answered: what the page and the JSON of a what-if say.
#ifndef OOMDB_CLI_WHATIF_QUESTION_H_
#define OOMDB_CLI_WHATIF_QUESTION_H_

#include <cstdint>
#include <iosfwd>
#include <optional>
#include <string>
#include <vector>

#include "ingest/plan/whatif/model.h"
#include "ingest/plan/whatif/search.h"
#include "ingest/plan/whatif/what_if.h"
#include "render/table.h"

namespace oomdb::cli {

struct WhatIf {
  std::string module;
  std::string run, host;  // Of its capture; empty: none.
  size_t plans = 1;       // That could be asked, with this one.
  std::string platform;
  ingest::Change change;
  std::optional<int64_t> capacity_bytes;
  // The plan's batch.
  std::optional<int64_t> batch_extent;
  std::string batch_argument;
  std::string batch_why_not;
  ingest::PackingCheck check;
  ingest::Answer answer;
  std::optional<std::vector<ingest::Combination>> combinations;  // With --search.
  std::optional<ingest::LargestBatch> largest_batch;             // With --largest-batch.

  std::optional<bool> fits() const {
    return capacity_bytes ? answer.Fits(*capacity_bytes) : std::nullopt;
  }
};

// "--donate --batch 4": the options that ask for a change; empty for none.
std::string OptionsOf(const ingest::Change& change);

void WriteJson(std::ostream& out, const WhatIf& what_if, bool one_line);
void WritePage(std::ostream& out, const WhatIf& what_if, const render::TableOptions& look);
void WriteCsv(std::ostream& out, const WhatIf& what_if, const render::TableOptions& look);

}  // namespace oomdb::cli

#endif  // OOMDB_CLI_WHATIF_QUESTION_H_
