// What the SQL files of this room say about themselves, and the views that follow from all of them.
//
// One file is one view. Where it lies says what it is:
//   facts/…, report/…, compare/…, check/…   building blocks, for people too
//   diagnoses/<rule>.sql            a rule: one row per finding
//   diagnoses/items/<rule>_items.sql        the evidence behind its findings
//   diagnoses/remedies/<rule>_remedies.sql  what to do about them
// To add a rule: add its file (and its cases). The header of a file, before its CREATE VIEW, is
// read here:
//   -- id: NAME
//   -- title: …
//   -- asks: … / -- needs: … / -- tags: … / -- severity: … / -- cause: …
//   -- columns:
//   --   name: meaning (unit)
//   -- how to read: …
//   -- next: …
//   -- empty without: TABLE (the view has no rows where that stored table has none: then a report
//   --   doesn't compute it)
// A text may go on in lines that begin with `--   `. Facts need id, title and columns, rules all of
// it.
//
// `findings`, `finding_items`, `remedies` and `rules` are generated from the rules.
#ifndef OOMDB_QUERIES_CATALOGUE_H_
#define OOMDB_QUERIES_CATALOGUE_H_

#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "schema/database.h"
#include "schema/embedded.h"

namespace oomdb {

enum class ViewKind { kFact, kReport, kCompare, kCheck, kRule, kItems, kRemedies, kGenerated };

struct ColumnMeaning {
  std::string name;
  std::string meaning;
};

struct CatalogueEntry {
  ViewKind kind = ViewKind::kFact;
  std::string path;  // Within queries/; empty for generated ones.
  std::string id;    // The view's name.
  std::string title;
  std::string asks;
  std::string needs;
  std::string tags;
  std::string severity;
  std::string cause;
  std::vector<ColumnMeaning> columns;
  std::string how_to_read;
  std::string next;
  std::string empty_without;  // A table's name; empty: nothing is said.
  std::string select;         // What follows CREATE VIEW <id> AS.
};

class Catalogue {
 public:
  // Of files as they lie in queries/. What is wrong with them goes to problems(); such a file is
  // left out.
  explicit Catalogue(std::span<const EmbeddedFile> files);

  // Of the files compiled in.
  static const Catalogue& Get();

  // By kind, then by id.
  const std::vector<CatalogueEntry>& entries() const { return entries_; }
  const CatalogueEntry* Find(std::string_view id) const;  // Null: no such view.
  std::vector<const CatalogueEntry*> Rules() const;
  // What schema::Database stores or makes temporary.
  const std::vector<ViewDefinition>& views() const { return views_; }
  // "path: what is wrong"; a test wants none.
  const std::vector<std::string>& problems() const { return problems_; }

 private:
  void AddGenerated();

  std::vector<CatalogueEntry> entries_;
  std::vector<ViewDefinition> views_;
  std::vector<std::string> problems_;
};

// Reads one file. Throws Error, naming the file, when its header or its statement isn't as
// described above.
CatalogueEntry ReadViewFile(const EmbeddedFile& file);

}  // namespace oomdb

#endif  // OOMDB_QUERIES_CATALOGUE_H_
