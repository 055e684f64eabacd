// The chart of an allocator over time: which moments are drawn, and what lives at each.
#ifndef OOMDB_CLI_PAGE_HEAP_CHART_H_
#define OOMDB_CLI_PAGE_HEAP_CHART_H_

#include <vector>

#include "cli/page/chart.h"
#include "cli/page/heap.h"
#include "cli/page/heap_layers.h"
#include "cli/page/plot.h"

namespace oomdb::cli::page {

struct HeapChart {
  HeapLayers layers;
  TimeAxis axis;
  Chart chart;
  std::vector<Layer> drawn;               // Of `layers`, at the points of the chart.
  const HeapExecution* failed = nullptr;  // The failure's.
};

// The highest moment is drawn, and every start, where they are not too many. `heap` must outlive
// it, and have an allocation with a time.
HeapChart ChartOf(const Heap& heap);

}  // namespace oomdb::cli::page

#endif  // OOMDB_CLI_PAGE_HEAP_CHART_H_
