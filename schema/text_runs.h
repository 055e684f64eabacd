// Error texts beside the plans that they are about, where paths don't say that they belong
// together.
#ifndef OOMDB_SCHEMA_TEXT_RUNS_H_
#define OOMDB_SCHEMA_TEXT_RUNS_H_

#include "schema/database.h"

namespace oomdb::schema {

// For captures named in one command: error logs of runs without any plan become part of the one
// run that has plans. Does nothing when several runs have.
void AdoptErrorTexts(Database& database);

}  // namespace oomdb::schema

#endif  // OOMDB_SCHEMA_TEXT_RUNS_H_
