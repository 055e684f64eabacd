// What the pages of oomdb compare name things by.
#ifndef OOMDB_CLI_COMPARE_WORDS_H_
#define OOMDB_CLI_COMPARE_WORDS_H_

#include <cstdint>
#include <string>
#include <utility>

namespace oomdb {

// Of two paths the shortest ends that tell them apart, safe to show: of a/1/memory.prof and
// a/2/memory.prof, 1/memory.prof and 2/memory.prof.
std::pair<std::string, std::string> ShortNames(const std::string& base, const std::string& changed);

// "+2.00 GiB", "-1.50 KiB".
std::string Signed(int64_t bytes);

// "4 × f32[8,1024,512]"; "–" for none.
std::string Buffers(int64_t count, const std::string& shape);

}  // namespace oomdb

#endif  // OOMDB_CLI_COMPARE_WORDS_H_
