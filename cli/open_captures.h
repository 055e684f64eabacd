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

// A database that is named like a capture is one that is asked: moves it from `paths` to `database`
// when it is the only path.
void AdoptDatabase(std::vector<std::string>* paths, std::string* database);

// `paths`: captures or folders to read; when there are none, `file` is opened for reading. What
// can't be read is said on standard error, and `exit_code` becomes that of the ingest. Throws
// Error: kUsage when neither is given, kFailed when nothing could be read.
// `run`: the captures' run; else from their paths. `standard_input`: sees what "-" reads.
// `every_run`: content that lies in the folders of several runs is a capture of each.
schema::Database OpenCaptures(const std::vector<std::string>& paths, const std::string& file,
                              const schema::SettingOverrides& settings, ExitCode& exit_code,
                              const std::optional<std::string>& run = std::nullopt,
                              const ingest::ByteObserver& standard_input = {},
                              bool every_run = false);

// A database file for reading, with all views. A deadline runs from now on (watchdog.h), and what
// there is to say of the opening is said on standard error.
schema::Database OpenFile(const std::string& path, const schema::SettingOverrides& settings = {});
void SayNotice(const schema::Database& database);
// The file that OpenFile opened last and ": ", for an error that doesn't name it; else "".
const std::string& FileBeingRead();

// More of them, for a throw-away database.
void AddCaptures(schema::Database& database, const std::vector<std::string>& paths,
                 ExitCode& exit_code, const std::optional<std::string>& run,
                 const ingest::ByteObserver& standard_input = {}, bool every_run = false);

// The runs of a database; the empty name for captures without a run.
std::vector<std::string> RunNames(schema::Database& database);

// The hashes of what the captures of a run hold, sorted: of two runs with the same ones nothing
// differs.
std::vector<std::string> ContentsOf(schema::Database& database, const std::string& run);

// Does nothing when the database holds captures of `run`, or any for an empty name. Throws Error
// (kUsage), offering the nearest names, when no capture is of that run, and (kFailed) when there is
// no capture at all.
void CheckRun(schema::Database& database, const std::string& run);

}  // namespace oomdb::cli

#endif  // OOMDB_CLI_OPEN_CAPTURES_H_
