#include "cli/nearest.h"

#include <algorithm>
#include <numeric>
#include <utility>

#include "base/ascii.h"

namespace oomdb::cli {
namespace {

constexpr size_t kMaxNames = 3;
// Names of captures are untrusted and the distance is quadratic: longer ones are compared by their
// start.
constexpr size_t kMaxCompared = 200;

size_t EditDistance(const std::string& a, const std::string& b) {
  std::vector<size_t> row(b.size() + 1);
  std::iota(row.begin(), row.end(), size_t{0});
  for (size_t i = 1; i <= a.size(); ++i) {
    size_t diagonal = row[0];
    row[0] = i;
    for (size_t j = 1; j <= b.size(); ++j) {
      const size_t replace = diagonal + (a[i - 1] == b[j - 1] ? 0 : 1);
      diagonal = row[j];
      row[j] = std::min({replace, row[j] + 1, row[j - 1] + 1});
    }
  }
  return row[b.size()];
}

}  // namespace

std::vector<std::string> NearestNames(std::string_view name,
                                      const std::vector<std::string>& candidates) {
  const std::string wanted = Lower(std::string_view(name).substr(0, kMaxCompared));
  std::vector<std::pair<size_t, std::string>> near;
  for (const std::string& candidate : candidates) {
    const std::string lower = Lower(std::string_view(candidate).substr(0, kMaxCompared));
    const size_t distance = EditDistance(wanted, lower);
    const bool part = wanted.size() >= 3 && lower.find(wanted) != std::string::npos;
    if (part || distance * 3 <= std::max(wanted.size(), lower.size()))
      near.emplace_back(distance, candidate);
  }
  std::sort(near.begin(), near.end());
  near.erase(std::unique(near.begin(), near.end()), near.end());
  std::vector<std::string> names;
  for (size_t i = 0; i < near.size() && i < kMaxNames; ++i) names.push_back(near[i].second);
  return names;
}

std::string DidYouMean(std::string_view name, const std::vector<std::string>& candidates) {
  const std::vector<std::string> names = NearestNames(name, candidates);
  if (names.empty()) return "";
  std::string text = "; did you mean " + names[0];
  for (size_t i = 1; i < names.size(); ++i)
    text += (i + 1 == names.size() ? " or " : ", ") + names[i];
  return text + "?";
}

}  // namespace oomdb::cli
