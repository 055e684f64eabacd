#include <string>
#include <vector>

#include "cli/command_line.h"
#include "cli/interrupt.h"

int main(int argc, char** argv) {
  oomdb::cli::InstallSignalHandlers();
  return oomdb::cli::RunCommandLine(std::vector<std::string>(argv + 1, argv + argc));
}
