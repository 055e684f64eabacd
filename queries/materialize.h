// Computing the building blocks once.
//
// A rule stands on views that stand on views, and SQLite expands each of them at every mention:
// asking for all findings, their items and their remedies plans the same blocks dozens of times.
// Who asks for all of them in one session (the report) has the blocks computed once, as tables of
// the session.
#ifndef OOMDB_QUERIES_MATERIALIZE_H_
#define OOMDB_QUERIES_MATERIALIZE_H_

#include <string>
#include <vector>

#include "queries/catalogue.h"
#include "schema/database.h"

namespace oomdb::queries {

// Replaces, in a read-only or a throw-away database, the rules and the views that they stand on by
// tables with the same rows. Views over stored tables alone stay views. What is ingested or set
// afterwards is not seen. Throws SQLite::Exception.
void MaterializeRules(schema::Database& database, const Catalogue& catalogue);

// The same for one view, of whose rows those that meet `condition` are kept (all without one): for
// who asks for few of them, several times.
void MaterializeView(schema::Database& database, const Catalogue& catalogue, const std::string& id,
                     const std::string& condition = "");

// The ids of the entries to compute, each after those it mentions.
std::vector<std::string> MaterializationOrder(const Catalogue& catalogue);

}  // namespace oomdb::queries

#endif  // OOMDB_QUERIES_MATERIALIZE_H_
