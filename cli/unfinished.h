// Files that are being written and not yet what they are to be: who ends the program removes them.
#ifndef OOMDB_CLI_UNFINISHED_H_
#define OOMDB_CLI_UNFINISHED_H_

#include <string>

namespace oomdb::cli {

void AddUnfinished(const std::string& path);
void ForgetUnfinished(const std::string& path);
// Allocates nothing: memory may be what ran out.
void RemoveUnfinished();

}  // namespace oomdb::cli

#endif  // OOMDB_CLI_UNFINISHED_H_
