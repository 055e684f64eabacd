// What the SQL files of this room say about themselves, and the views that follow from all of them.
//
// Where a file lies says what it is:
//   facts/…, report/…, compare/…, check/…   one view each: building blocks, for people too
//   rules/<rule>.sql                a rule, with all that belongs to it, in this order:
//     <rule>            one row per finding
//     <rule>_items      optional: the evidence behind its findings
//     <rule>_remedies   optional: what to do about them
//     <rule>_quiet      optional: one row where it had its evidence, for when it found nothing
// To add a rule: add its file (and its cases). Each statement has a header, comment lines before
// its CREATE VIEW, which is read here. Facts need id, title and columns:
//   -- id: NAME
//   -- title: …
//   -- columns:
//   --   name: meaning (unit)
//   -- empty without: TABLE (the view has no rows where that stored table has none: then a report
//   --   doesn't compute it)
// A text may go on in lines that begin with `--   `, in a block with `--     `. A rule needs, too:
//   -- asks: … / -- needs: … / -- tags: … / -- severity: … / -- cause: … / -- how to read: … /
//   -- next: …
//   -- rank: N               its place among findings of equal severity, from 1; no two have one
//   -- says: TEMPLATE        the column title of its findings (queries/words.h has the grammar)
//   -- detail: TEMPLATE      their column detail
// and may say:
//   -- hint: yes             a suggestion, never the verdict of a report
//   -- explained by: a, b    where one of these rules fires for the same thing, a report folds it
//   -- quiet: TEMPLATE       over the columns of <rule>_quiet: what a report says when the rule had
//   --   its evidence and found nothing
// Any view may have text columns made of templates; a template may name them as its columns:
//   -- words NAME: TEMPLATE
//   -- words NAME by COLUMN: (chosen by a text column; NULL for a key without a line)
//   --   KEY: TEMPLATE
// In rules/ the columns that all rules have are known (queries/rule_file.cc); `columns` lists only
// others, and those that mean something special. What a statement gives and nobody lists is for
// templates alone.
//
// `findings`, `finding_items`, `remedies` and `rules` are generated from the rules.
#ifndef OOMDB_QUERIES_CATALOGUE_H_
#define OOMDB_QUERIES_CATALOGUE_H_

#include <functional>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/embedded.h"
#include "queries/words.h"
#include "schema/database.h"

namespace oomdb::queries {

enum class ViewKind {
  kFact,
  kReport,
  kCompare,
  kCheck,
  kRule,
  kItems,
  kRemedies,
  kQuiet,
  kGenerated
};

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
  // Of rules. Their templates name columns of the view; `quiet` names those of <id>_quiet.
  int rank = 0;  // From 1.
  bool hint = false;
  std::vector<std::string> explained_by;
  Template says, detail, quiet;
  std::map<std::string, Template, std::less<>> words;  // Text columns made of words.
  std::string select;                                  // What follows CREATE VIEW <id> AS.
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
  const std::vector<schema::ViewDefinition>& views() const { return views_; }
  // "path: what is wrong"; a test wants none.
  const std::vector<std::string>& problems() const { return problems_; }

 private:
  void CheckRules();
  void AddGenerated();

  std::vector<CatalogueEntry> entries_;
  std::vector<schema::ViewDefinition> views_;
  std::vector<std::string> problems_;
};

}  // namespace oomdb::queries

#endif  // OOMDB_QUERIES_CATALOGUE_H_
