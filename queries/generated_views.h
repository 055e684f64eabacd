// The views that unite the rules.
#ifndef OOMDB_QUERIES_GENERATED_VIEWS_H_
#define OOMDB_QUERIES_GENERATED_VIEWS_H_

#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "queries/catalogue.h"

namespace oomdb::queries {

// `findings`, `finding_items`, `remedies` and `rules`, from the rules, items and remedies among
// `entries`.
std::vector<CatalogueEntry> GeneratedViews(const std::vector<CatalogueEntry>& entries);

// `findings`, `finding_items` and `remedies` of these rules alone: with their rows, and planned in
// less time.
std::vector<CatalogueEntry> FindingViews(const std::vector<CatalogueEntry>& entries,
                                         const std::set<std::string>& rules);

// The rule that the entry is, or whose findings the items or remedies belong to; empty for others.
std::string_view RuleOf(const CatalogueEntry& entry);

}  // namespace oomdb::queries

#endif  // OOMDB_QUERIES_GENERATED_VIEWS_H_
