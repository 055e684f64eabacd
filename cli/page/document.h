// One self-contained HTML file: the style sheet, the script and the data are inside, and its
// content security policy lets nothing else in.
#ifndef OOMDB_CLI_PAGE_DOCUMENT_H_
#define OOMDB_CLI_PAGE_DOCUMENT_H_

#include <string>
#include <string_view>

#include "cli/json.h"

namespace oomdb::cli::page {

// `header` and `main` are markup of the program's own; `title` is text. `charts` is what the script
// moves with.
std::string Document(std::string_view title, std::string_view header, std::string_view main,
                     const Json& charts);

}  // namespace oomdb::cli::page

#endif  // OOMDB_CLI_PAGE_DOCUMENT_H_
