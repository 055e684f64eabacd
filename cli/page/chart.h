// A picture along an axis in which one moves: at every point something is live, and it is listed.
// The program writes the picture and the list at its first point; the script moves from there.
#ifndef OOMDB_CLI_PAGE_CHART_H_
#define OOMDB_CLI_PAGE_CHART_H_

#include <cstdint>
#include <string>
#include <tuple>
#include <vector>

#include "cli/page/context.h"

namespace oomdb::cli::page {

struct Chart {
  // What is live while from <= at < to.
  struct Live {
    int64_t bytes = 0;
    int64_t from = 0, to = 0;
    size_t group = 0;
  };
  // What is listed as one line.
  struct Group {
    std::string css;   // The colour of its square.
    std::string name;  // A shape, or where it came from.
    std::string what;  // Line, operation, role.
    bool operator<(const Group& other) const {
      return std::tie(css, name, what) < std::tie(other.css, other.name, other.what);
    }
  };

  std::string id;                // Of its element.
  std::string name;              // For who can't see it: what one moves along.
  std::vector<int64_t> at;       // Of every point, ascending.
  std::vector<double> places;    // The same as drawn, 0 to 1.
  std::vector<int64_t> total;    // Live bytes at every point, exact.
  std::vector<std::string> say;  // What a point is called.
  std::vector<Live> live;        // The largest: what is smaller is the rest of the total.
  std::vector<Group> groups;
  size_t first = 0;        // The point that is shown first: the peak, the failure.
  std::string first_name;  // "peak"
};

// Keeps what fits a page: the largest things that are live, so that the rest is what matters least,
// and their groups.
void KeepLargest(Chart* chart);
// The attributes of the element in which one moves; its cursor, to be written last in it.
void WriteCursor(const Context& context, const Chart& chart, double height);
// The list at the first point, and the data for the others.
void WriteLive(const Context& context, const Chart& chart);

}  // namespace oomdb::cli::page

#endif  // OOMDB_CLI_PAGE_CHART_H_
