// The database that a reading verb asks: a file, or captures read into a throw-away one.
#ifndef OOMDB_CLI_OPEN_CAPTURES_H_
#define OOMDB_CLI_OPEN_CAPTURES_H_

#include <optional>
#include <string>
#include <vector>

#include "base/error.h"
#include "cli/options.h"
#include "ingest/source/source.h"
#include "schema/database.h"

namespace oomdb::cli {

// `paths`: captures or folders to read; when there are none, `file` is opened for reading. What
// can't be read is said on standard error, and `exit_code` becomes that of the ingest. Throws
// Error: kUsage when neither is given, kFailed when nothing could be read.
// `run`: the captures' run; else from their paths. `standard_input`: sees what "-" reads.
schema::Database OpenCaptures(const std::vector<std::string>& paths, const std::string& file,
                              const schema::SettingOverrides& settings, ExitCode& exit_code,
                              const std::optional<std::string>& run = std::nullopt,
                              const ingest::ByteObserver& standard_input = {});

// More of them, for a throw-away database.
void AddCaptures(schema::Database& database, const std::vector<std::string>& paths,
                 ExitCode& exit_code, const std::optional<std::string>& run,
                 const ingest::ByteObserver& standard_input = {});

// The runs of a database; the empty name for captures without a run.
std::vector<std::string> RunNames(schema::Database& database);

// Does nothing when the database holds captures of `run`, or any for an empty name. Throws Error
// (kUsage), offering the nearest names, when no capture is of that run, and (kFailed) when there is
// no capture at all.
void CheckRun(schema::Database& database, const std::string& run);

}  // namespace oomdb::cli

#endif  // OOMDB_CLI_OPEN_CAPTURES_H_
