// The database that ingest, merge and forget write to.
#ifndef OOMDB_CLI_WRITING_H_
#define OOMDB_CLI_WRITING_H_

#include <string>

#include "schema/database.h"

namespace oomdb::cli {

// Database::OpenForIngest with our views. While another program writes to the file, here and later,
// a line on standard error says once that it is waited for; Ctrl-C ends the wait.
schema::Database OpenToWrite(const std::string& path, bool must_exist = false);

}  // namespace oomdb::cli

#endif  // OOMDB_CLI_WRITING_H_
