// Sizes and times in tests: 64_MiB, 10_s. Signed, as the database's columns are.
#ifndef OOMDB_TESTS_SUPPORT_SIZES_H_
#define OOMDB_TESTS_SUPPORT_SIZES_H_

#include <cstdint>

namespace oomdb {

constexpr int64_t operator""_KiB(unsigned long long n) { return static_cast<int64_t>(n) << 10; }
constexpr int64_t operator""_MiB(unsigned long long n) { return static_cast<int64_t>(n) << 20; }
constexpr int64_t operator""_GiB(unsigned long long n) { return static_cast<int64_t>(n) << 30; }
constexpr int64_t operator""_us(unsigned long long n) { return static_cast<int64_t>(n) * 1000; }
constexpr int64_t operator""_ms(unsigned long long n) { return static_cast<int64_t>(n) * 1000000; }
constexpr int64_t operator""_s(unsigned long long n) {
  return static_cast<int64_t>(n) * 1000000000;
}

}  // namespace oomdb

#endif  // OOMDB_TESTS_SUPPORT_SIZES_H_
