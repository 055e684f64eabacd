#include "ingest/log/partial_lines.h"

#include <algorithm>
#include <cctype>

#include "ingest/log/patterns.h"

namespace oomdb::ingest {
namespace {

// Of one line's parts together; the lines of the other stream between two of them.
constexpr size_t kMaxBytes = size_t{1} << 20;
constexpr int64_t kMaxBetween = 1000;

}  // namespace

bool PartialLines::Take(int64_t* number, std::string_view* line) {
  static const Pattern tagged(
      R"(^([0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9:.]+(?:Z|[+-][0-9:]{4,6}) std(err|out) )([FP]) )");
  std::vector<std::string_view> groups;
  if (line->substr(0, 64).find(" std") == std::string_view::npos ||
      !tagged.Starts(*line, &groups)) {
    return true;
  }
  Begun& begun = begun_[groups[2] == "err"];
  const bool goes_on = groups[3] == "P";
  if (!begun.text.empty() && *number - begun.last > kMaxBetween) begun.text.clear();
  if (begun.text.empty() && !goes_on) return true;
  if (begun.text.empty()) {
    begun.text = std::string(groups[1]) + "F ";
    begun.first = *number;
  }
  const size_t room = kMaxBytes - std::min(kMaxBytes, begun.text.size());
  begun.text += line->substr(groups[0].size()).substr(0, room);
  begun.last = *number;
  if (goes_on) return false;
  whole_ = std::exchange(begun.text, "");
  *line = whole_;
  *number = begun.first;
  return true;
}

std::vector<std::pair<int64_t, std::string>> PartialLines::TakeRest() {
  std::vector<std::pair<int64_t, std::string>> rest;
  for (Begun& begun : begun_) {
    std::string text = std::exchange(begun.text, "");
    while (!text.empty() && (std::isdigit(static_cast<unsigned char>(text.back())) != 0 ||
                             text.back() == '.' || text.back() == ',')) {
      text.pop_back();
    }
    if (!text.empty()) rest.emplace_back(begun.first, std::move(text));
  }
  return rest;
}

bool PartialLines::waits(int64_t number) const {
  for (const Begun& begun : begun_) {
    if (!begun.text.empty() && number - begun.last <= kMaxBetween) return true;
  }
  return false;
}

}  // namespace oomdb::ingest
