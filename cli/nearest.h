// What somebody may have meant.
#ifndef OOMDB_CLI_NEAREST_H_
#define OOMDB_CLI_NEAREST_H_

#include <string>
#include <string_view>
#include <vector>

namespace oomdb::cli {

// At most three of `candidates`, nearest first: by edit distance (up to a third of the longer
// name), or because `name` is a part of it. Case doesn't count.
std::vector<std::string> NearestNames(std::string_view name,
                                      const std::vector<std::string>& candidates);

// "; did you mean a, b or c?", or "" when nothing is near.
std::string DidYouMean(std::string_view name, const std::vector<std::string>& candidates);

}  // namespace oomdb::cli

#endif  // OOMDB_CLI_NEAREST_H_
