// What an allocator held over time, from its recorded allocations.
#ifndef OOMDB_CLI_PAGE_HEAP_H_
#define OOMDB_CLI_PAGE_HEAP_H_

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "cli/report/model.h"
#include "schema/database.h"

namespace oomdb::cli::page {

struct HeapAllocation {
  int64_t bytes = 0;
  std::optional<int64_t> address;
  std::optional<int64_t> from_ns, to_ns;  // Unix ns; none: before the capture, after its end.
  std::optional<int64_t> execution_id;
  std::string purpose, origin;
};

struct HeapExecution {
  int64_t execution_id = 0, sequence = 0;
  int64_t start_ns = 0, end_ns = 0;  // Unix ns.
  bool failed = false;
  std::optional<int64_t> in_use_at_start;
  int64_t wait_ns = 0;
  std::string module_name;
};

// A request that failed, as in failed_executions.
struct HeapFailure {
  int64_t execution_id = 0;
  std::optional<int64_t> bytes, free_bytes, largest_free_bytes;
};

struct Heap {
  std::string allocator;
  std::optional<int64_t> capacity_bytes;
  std::vector<HeapAllocation> allocations;  // By time; those before the capture first.
  std::vector<HeapExecution> executions;    // Of all modules on its device, by start.
  std::optional<HeapFailure> failure;       // The first of the report's module.
};

// Of the device that the report shows, else of the capture's busiest allocator; std::nullopt without
// allocation events.
std::optional<Heap> ReadHeap(schema::Database& database, const Report& report);

// Time as it is drawn: what is long and empty, such as a wait of seconds among microseconds, is cut
// short, and the picture says so.
class TimeAxis {
 public:
  struct Cut {
    double place = 0;     // Its middle, 0 to 1.
    int64_t long_ns = 0;  // How long it really is.
  };

  // `moments`: every time at which something happens, Unix ns, ascending; at least one.
  explicit TimeAxis(const std::vector<int64_t>& moments);

  double Place(int64_t time_ns) const;  // 0 to 1; before the first moment a margin.
  const std::vector<Cut>& cuts() const { return cuts_; }

 private:
  std::vector<int64_t> times_;  // Ends of stretches of even scale.
  std::vector<double> places_;
  std::vector<Cut> cuts_;
};

}  // namespace oomdb::cli::page

#endif  // OOMDB_CLI_PAGE_HEAP_H_
