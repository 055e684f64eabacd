// An allocator's memory in layers: before the capture, what executions keep, the rest, temps.
#ifndef OOMDB_CLI_PAGE_HEAP_LAYERS_H_
#define OOMDB_CLI_PAGE_HEAP_LAYERS_H_

#include <cstdint>
#include <string>
#include <vector>

#include "cli/page/heap.h"

namespace oomdb::cli::page {

struct HeapLayer {
  std::string css;
  std::string name;            // "outputs of jit_step execution 3"
  std::vector<int64_t> bytes;  // At every moment.
};

struct HeapLayers {
  std::vector<int64_t> moments;   // Unix ns, ascending: every time at which something changes;
                                  // the first is before all.
  std::vector<HeapLayer> layers;  // From below.
  std::vector<size_t> layer_of;   // Of every allocation.
  std::vector<int64_t> total;     // At every moment.
};

// `extra`: more moments, such as the starts of executions. Requires an allocation with a time.
HeapLayers LayersOf(const Heap& heap, std::vector<int64_t> extra);

}  // namespace oomdb::cli::page

#endif  // OOMDB_CLI_PAGE_HEAP_LAYERS_H_
