#include "queries/catalogue.h"

#include <fmt/format.h>

#include <algorithm>
#include <tuple>
#include <utility>

#include "base/error.h"
#include "queries/generated_views.h"
#include "queries/rule_file.h"

namespace oomdb::queries {

// Generated: every .sql file of this room.
std::span<const EmbeddedFile> EmbeddedQueries();

Catalogue::Catalogue(std::span<const EmbeddedFile> files) {
  for (const EmbeddedFile& file : files) {
    try {
      for (CatalogueEntry& entry : ReadViewFile(file)) entries_.push_back(std::move(entry));
    } catch (const Error& error) {
      problems_.emplace_back(error.what());
    }
  }
  std::sort(entries_.begin(), entries_.end(), [](const CatalogueEntry& a, const CatalogueEntry& b) {
    return std::tie(a.kind, a.id) < std::tie(b.kind, b.id);
  });
  CheckRules();
  AddGenerated();
  for (size_t i = 0; i < entries_.size(); ++i) {
    if (Find(entries_[i].id) != &entries_[i]) {
      problems_.push_back(entries_[i].path + ": another file has the same id");
    } else {
      views_.push_back({entries_[i].id, entries_[i].select});
    }
  }
}

// What one file can't know of the others.
void Catalogue::CheckRules() {
  std::map<int, std::string> ranks;
  for (const CatalogueEntry& entry : entries_) {
    if (entry.kind != ViewKind::kRule) continue;
    if (entry.rank > 0 && !ranks.emplace(entry.rank, entry.id).second) {
      problems_.push_back(
          fmt::format("{}: {} has the rank {} too", entry.path, ranks[entry.rank], entry.rank));
    }
    for (const std::string& cause : entry.explained_by) {
      const CatalogueEntry* const found = Find(cause);
      if (found == nullptr || found->kind != ViewKind::kRule || cause == entry.id) {
        problems_.push_back(
            fmt::format("{}: `explained by`: {} is not another rule", entry.path, cause));
      }
    }
  }
}

void Catalogue::AddGenerated() {
  for (CatalogueEntry& view : GeneratedViews(entries_)) entries_.push_back(std::move(view));
}

const Catalogue& Catalogue::Get() {
  static const Catalogue catalogue(EmbeddedQueries());
  return catalogue;
}

const CatalogueEntry* Catalogue::Find(std::string_view id) const {
  for (const CatalogueEntry& entry : entries_) {
    if (entry.id == id) return &entry;
  }
  return nullptr;
}

std::vector<const CatalogueEntry*> Catalogue::Rules() const {
  std::vector<const CatalogueEntry*> rules;
  for (const CatalogueEntry& entry : entries_) {
    if (entry.kind == ViewKind::kRule) rules.push_back(&entry);
  }
  return rules;
}

}  // namespace oomdb::queries
