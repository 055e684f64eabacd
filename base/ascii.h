// Characters, whatever the locale.
#ifndef OOMDB_BASE_ASCII_H_
#define OOMDB_BASE_ASCII_H_

namespace oomdb {

constexpr bool IsDigit(char c) { return c >= '0' && c <= '9'; }

}  // namespace oomdb

#endif  // OOMDB_BASE_ASCII_H_
