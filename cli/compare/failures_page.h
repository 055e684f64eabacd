// The page of oomdb compare about two runs' failures.
#ifndef OOMDB_CLI_COMPARE_FAILURES_PAGE_H_
#define OOMDB_CLI_COMPARE_FAILURES_PAGE_H_

#include <cstddef>
#include <iosfwd>

#include "cli/compare/failures.h"
#include "render/table.h"

namespace oomdb::cli {

// For people: a sentence, the figures and the `top` largest differences of buffers. `rows` are
// those of failure_comparison.
void WriteFailures(std::ostream& out, const RunFailures& base, const RunFailures& changed,
                   const schema::Rows& rows, size_t top, const render::TableOptions& look);

}  // namespace oomdb::cli

#endif  // OOMDB_CLI_COMPARE_FAILURES_PAGE_H_
