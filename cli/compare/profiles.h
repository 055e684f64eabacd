// oomdb compare of two device memory profiles: which Python lines hold more.
#ifndef OOMDB_CLI_COMPARE_PROFILES_H_
#define OOMDB_CLI_COMPARE_PROFILES_H_

#include <cstddef>
#include <string>

#include "cli/options.h"
#include "schema/database.h"

namespace oomdb::cli {

// Whether both runs have captures, all of them device memory profiles.
bool HoldOnlyProfiles(schema::Database& database, const std::string& base,
                      const std::string& changed);

// Writes what each Python line holds more or less in run `changed`: for people a sentence and the
// `top` largest differences, else all as rows. Of several profiles of a run and host the last
// counts.
void CompareProfiles(schema::Database& database, const std::string& base,
                     const std::string& changed, size_t top, Output& output);

}  // namespace oomdb::cli

#endif  // OOMDB_CLI_COMPARE_PROFILES_H_
