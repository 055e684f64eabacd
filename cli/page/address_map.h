// An allocator's memory by address, when a request failed.
#ifndef OOMDB_CLI_PAGE_ADDRESS_MAP_H_
#define OOMDB_CLI_PAGE_ADDRESS_MAP_H_

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "cli/report/model.h"
#include "schema/database.h"

namespace oomdb::cli::page {

struct AddressPiece {
  int64_t address = 0, bytes = 0;
  bool in_use = false;
  std::string name;
};

// A range of addresses without a gap in what is known; two ranges never join.
struct AddressRegion {
  std::vector<AddressPiece> pieces;
};

struct AddressMap {
  std::vector<AddressRegion> regions;
  std::optional<int64_t> request, free_bytes, largest_free_bytes;
  std::optional<int64_t> pool_bytes;  // Where not all of the pool may be in the regions.
  int64_t without_address = 0;        // In use, but nothing says where.
  bool from_log = false;
};

// The dump of the allocator in an error log; else what the allocator's events say. std::nullopt
// where neither tells an address.
std::optional<AddressMap> ReadAddressMap(schema::Database& database, const Report& report);

}  // namespace oomdb::cli::page

#endif  // OOMDB_CLI_PAGE_ADDRESS_MAP_H_
