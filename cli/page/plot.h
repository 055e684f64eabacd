// Shapes that all pictures of sizes are drawn from: as wide as their window, of a fixed height.
#ifndef OOMDB_CLI_PAGE_PLOT_H_
#define OOMDB_CLI_PAGE_PLOT_H_

#include <cstdint>
#include <string>
#include <vector>

#include "render/markup.h"

namespace oomdb::cli::page {

// Where sizes stand in a picture: 0 at the bottom.
struct Plot {
  double height = 0;    // CSS pixels.
  int64_t highest = 0;  // Bytes at the top.

  double Y(int64_t bytes) const;
  std::string At(int64_t bytes) const;  // Y as an attribute.
};

// One layer of a stack: its class in the style sheet, and its bytes at every point.
struct Layer {
  std::string css;
  std::vector<int64_t> bytes;
};

// The sizes beside a plot, in an element of their own; lines for them, within the plot.
void WriteSizes(render::Markup& out, const Plot& plot, size_t most);
void WriteGrid(render::Markup& out, const Plot& plot, size_t most);

// Layers upon one another, as steps: each point holds from its place (0 to 1) to the next one's,
// the last to 1. An area that is drawn over no height is left out.
void WriteStack(render::Markup& out, const Plot& plot, const std::vector<double>& places,
                const std::vector<Layer>& layers);

// One layer as a line of steps.
void WriteOutline(render::Markup& out, const Plot& plot, const std::vector<double>& places,
                  const Layer& layer);

// A line over the whole width at a size, with its words above, at its start or its end.
void WriteLevel(render::Markup& out, const Plot& plot, int64_t bytes, const std::string& css,
                const std::string& words, bool at_end = false);

// The pattern that hatches what is missing or wasted; `id` is unique in the page.
void WriteHatch(render::Markup& out, const std::string& id, const std::string& css);

}  // namespace oomdb::cli::page

#endif  // OOMDB_CLI_PAGE_PLOT_H_
