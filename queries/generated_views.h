// The views that unite the rules.
#ifndef OOMDB_QUERIES_GENERATED_VIEWS_H_
#define OOMDB_QUERIES_GENERATED_VIEWS_H_

#include <vector>

#include "queries/catalogue.h"

namespace oomdb {

// `findings`, `finding_items`, `remedies` and `rules`, from the rules, items and remedies among
// `entries`.
std::vector<CatalogueEntry> GeneratedViews(const std::vector<CatalogueEntry>& entries);

}  // namespace oomdb

#endif  // OOMDB_QUERIES_GENERATED_VIEWS_H_
