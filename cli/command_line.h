// The command line as a whole: which verb, what is wrong with it, and the exit code.
#ifndef OOMDB_CLI_COMMAND_LINE_H_
#define OOMDB_CLI_COMMAND_LINE_H_

#include <string>
#include <vector>

namespace oomdb::cli {

// `arguments` without the program's name. Gives the exit code (base/error.h); never throws.
int RunCommandLine(std::vector<std::string> arguments);

}  // namespace oomdb::cli

#endif  // OOMDB_CLI_COMMAND_LINE_H_
