// The verbs of the command line. To add one: its file cli/<verb>.cc with its Register function, a
// line here and one in command_line.cc.
#ifndef OOMDB_CLI_VERBS_H_
#define OOMDB_CLI_VERBS_H_

#include "base/error.h"

namespace CLI {
class App;
}

namespace oomdb {

// Each adds its subcommand to `app`, with options, help and an example that runs. When the command
// line names the subcommand, its callback does the work while `app` parses; it throws Error, or
// writes to `exit_code` what the program is to exit with when that is not kClean. Both references
// must outlive the parsing.
void RegisterIngest(CLI::App& app, ExitCode& exit_code);
void RegisterReport(CLI::App& app, ExitCode& exit_code);
void RegisterQuery(CLI::App& app, ExitCode& exit_code);
void RegisterList(CLI::App& app, ExitCode& exit_code);
void RegisterShow(CLI::App& app, ExitCode& exit_code);
void RegisterCheck(CLI::App& app, ExitCode& exit_code);
void RegisterMerge(CLI::App& app, ExitCode& exit_code);
void RegisterForget(CLI::App& app, ExitCode& exit_code);
void RegisterHosts(CLI::App& app, ExitCode& exit_code);
void RegisterCompare(CLI::App& app, ExitCode& exit_code);
void RegisterSweep(CLI::App& app, ExitCode& exit_code);
void RegisterSelfTest(CLI::App& app, ExitCode& exit_code);

}  // namespace oomdb

#endif  // OOMDB_CLI_VERBS_H_
