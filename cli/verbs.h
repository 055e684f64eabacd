// The verbs of the command line. To add one: its file cli/<verb>.cc with its Register function, a
// line here and one in command_line.cc.
#ifndef OOMDB_CLI_VERBS_H_
#define OOMDB_CLI_VERBS_H_

#include "base/error.h"
#include "cli/verb.h"

namespace oomdb::cli {

// Each adds its verb, with options, help and an example that runs. When the command line names it,
// it does its work while the command line is read; it throws Error, or writes to `exit_code` what
// the program is to exit with when that is not kClean. `exit_code` must outlive the reading.
void RegisterIngest(Verbs& verbs, ExitCode& exit_code);
void RegisterReport(Verbs& verbs, ExitCode& exit_code);
void RegisterQuery(Verbs& verbs, ExitCode& exit_code);
void RegisterList(Verbs& verbs, ExitCode& exit_code);
void RegisterShow(Verbs& verbs, ExitCode& exit_code);
void RegisterCheck(Verbs& verbs, ExitCode& exit_code);
void RegisterMerge(Verbs& verbs, ExitCode& exit_code);
void RegisterForget(Verbs& verbs, ExitCode& exit_code);
void RegisterHosts(Verbs& verbs, ExitCode& exit_code);
void RegisterCompare(Verbs& verbs, ExitCode& exit_code);
void RegisterSweep(Verbs& verbs, ExitCode& exit_code);
void RegisterWhatIf(Verbs& verbs, ExitCode& exit_code);
void RegisterSelfTest(Verbs& verbs, ExitCode& exit_code);
// `verbs` must outlive the reading, too.
void RegisterCompletion(Verbs& verbs, ExitCode& exit_code);

}  // namespace oomdb::cli

#endif  // OOMDB_CLI_VERBS_H_
