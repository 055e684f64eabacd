// The views that unite the rules.
#ifndef OOMDB_QUERIES_GENERATED_VIEWS_H_
#define OOMDB_QUERIES_GENERATED_VIEWS_H_

#include <set>
#include <string>
#include <vector>

#include "queries/catalogue.h"

namespace oomdb {

// `findings`, `finding_items`, `remedies` and `rules`, from the rules, items and remedies among
// `entries`.
std::vector<CatalogueEntry> GeneratedViews(const std::vector<CatalogueEntry>& entries);

// What is behind the findings of some rules alone: SELECTs with the rows and columns that
// `finding_items` and `remedies` have of these rules.
struct EvidenceSql {
  std::string items;
  std::string remedies;
};
EvidenceSql EvidenceOf(const std::set<std::string>& rules,
                       const std::vector<CatalogueEntry>& entries);

}  // namespace oomdb

#endif  // OOMDB_QUERIES_GENERATED_VIEWS_H_
