// Two runs side by side to look at: one HTML file with pictures.
#ifndef OOMDB_CLI_PAGE_COMPARE_PAGE_H_
#define OOMDB_CLI_PAGE_COMPARE_PAGE_H_

#include <string>
#include <vector>

#include "cli/compare/difference.h"
#include "schema/database.h"

namespace oomdb::cli::page {

struct Comparison {
  std::string base_run, new_run;    // As in the database.
  std::string base_name, new_name;  // As they are shown.
  std::string sentence;             // What the text says first.
  std::string module;               // The largest that both have; empty: none.
  // Its peaks' differences, largest first, and those of all modules with their names.
  std::vector<const Difference*> buffers;
  std::vector<std::pair<std::string, const Difference*>> modules;
  std::string text;  // The comparison for people, without colours.
};

std::string CompareHtml(schema::Database& database, const Comparison& comparison);

}  // namespace oomdb::cli::page

#endif  // OOMDB_CLI_PAGE_COMPARE_PAGE_H_
