// What a program needs, in parts, and what there is: of its plan, else of an error log.
#ifndef OOMDB_CLI_PAGE_NEED_PARTS_H_
#define OOMDB_CLI_PAGE_NEED_PARTS_H_

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "cli/page/context.h"

namespace oomdb::cli::page {

struct NeedPart {
  std::string name, css;
  int64_t bytes = 0;
};

struct Need {
  std::vector<NeedPart> parts;  // Together `bytes`.
  int64_t bytes = 0;
  std::optional<int64_t> capacity, memory;  // What may be used; the device's memory.
  // Of the verdict's finding those that say what is needed then; none where the verdict is about
  // another number.
  std::vector<const ReportRemedy*> remedies;
};

// Of a plan; std::nullopt where it says nothing.
std::optional<Need> NeedOfPlan(const ReportPlan& plan);
// std::nullopt where nothing says it, or where what an error log says is no more than there is.
std::optional<Need> NeedOf(const Context& context);

}  // namespace oomdb::cli::page

#endif  // OOMDB_CLI_PAGE_NEED_PARTS_H_
