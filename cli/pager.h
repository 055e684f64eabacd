// Long text on a terminal goes through a pager, as git does it.
#ifndef OOMDB_CLI_PAGER_H_
#define OOMDB_CLI_PAGER_H_

#include <string>

namespace oomdb::cli {

// Shows `text` in $OOMDB_PAGER, else $PAGER, else `less -FRX`; false, and nothing shown, when there is
// none. An empty variable asks for none.
bool ShowInPager(const std::string& text);

}  // namespace oomdb::cli

#endif  // OOMDB_CLI_PAGER_H_
