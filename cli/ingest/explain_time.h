// What `ingest --explain-time` says.
#ifndef OOMDB_CLI_INGEST_EXPLAIN_TIME_H_
#define OOMDB_CLI_INGEST_EXPLAIN_TIME_H_

#include <string>
#include <vector>

#include "ingest/base/phases.h"

namespace oomdb::cli {

// A line a phase with its seconds of wall time and its share, the sum of them, and how that
// compares to reading the files, or folders of files, at `paths` and doing nothing with them (which
// is done here, now).
std::string ExplainTime(ingest::PhaseTimes& times, const std::vector<std::string>& paths);

}  // namespace oomdb::cli

#endif  // OOMDB_CLI_INGEST_EXPLAIN_TIME_H_
