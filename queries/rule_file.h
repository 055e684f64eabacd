// Reading one .sql file: its headers and its statements.
#ifndef OOMDB_QUERIES_RULE_FILE_H_
#define OOMDB_QUERIES_RULE_FILE_H_

#include <vector>

#include "base/embedded.h"
#include "queries/catalogue.h"

namespace oomdb::queries {

// The views of a file: one, or in rules/ the rule and what belongs to it. Throws Error, naming the
// file, when a header or a statement isn't as described in queries/catalogue.h.
std::vector<CatalogueEntry> ReadViewFile(const EmbeddedFile& file);

}  // namespace oomdb::queries

#endif  // OOMDB_QUERIES_RULE_FILE_H_
