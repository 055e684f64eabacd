// The one error type. Thrown for what stops the command or this input; caught once, in cli/main.
//
// A problem *in the data* that leaves the rest readable is not an error but an IssueFact
// (ingest/base/facts.h): a row of ingest_issues and a line after the ingest.
#ifndef OOMDB_BASE_ERROR_H_
#define OOMDB_BASE_ERROR_H_

#include <stdexcept>
#include <string>
#include <utility>

namespace oomdb {

// The exit codes of the command line, all of them.
enum class ExitCode : int {
  kClean = 0,
  kFailed = 1,         // Nothing could be done.
  kUsage = 2,          // Wrong options or arguments.
  kFindings = 3,       // Findings at or above --fail-on.
  kPartial = 4,        // Part of the input was rejected or truncated; the rest is stored.
  kForeignFile = 5,    // The database is newer than this program, or is not ours.
  kInterrupted = 130,  // Ctrl-C.
};

class Error : public std::runtime_error {
 public:
  // `what`: one line that says what it is, what was expected, and what to do.
  explicit Error(const std::string& what, ExitCode code = ExitCode::kFailed)
      : std::runtime_error(what), code_(code) {}
  ExitCode code() const { return code_; }

 private:
  ExitCode code_;
};

}  // namespace oomdb

#endif  // OOMDB_BASE_ERROR_H_
