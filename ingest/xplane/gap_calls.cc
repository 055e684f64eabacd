#include "ingest/xplane/gap_calls.h"

#include <algorithm>
#include <string>
#include <string_view>
#include <tuple>

namespace oomdb::ingest {
namespace {

// What is kept of a module's calls on a thread (the setting gap_calls_max). A training loop calls some dozens between two steps.
constexpr size_t kMaxCallsOfModule = 512;
// Eager programs launch hundreds of small modules: those that ran most often are asked.
constexpr size_t kMaxModules = 16;
// Of all calls of a thread, 16 bytes each.
constexpr size_t kMaxMarks = 4'000'000;

// The place of the first span that begins after `time`.
int32_t SpansBegunBy(const Spans& spans, int64_t time) {
  const auto next = std::upper_bound(spans.begin(), spans.end(), time,
                                     [](int64_t t, const auto& span) { return t < span.first; });
  return static_cast<int32_t>(next - spans.begin());
}

}  // namespace

GapCallCounter::GapCallCounter(const HostLine& line, int32_t line_index,
                               const LineLaunches& launches)
    : line_(line), line_index_(line_index), launches_(launches), spans_(launches.spans) {
  Join(&spans_);
}

int32_t GapCallCounter::NameOf(int64_t metadata_id) {
  const auto [found, is_new] =
      name_index_.try_emplace(metadata_id, static_cast<int32_t>(names_.size()));
  if (is_new) {
    const std::string_view name = line_.plane->events.at(metadata_id).name;
    const bool python = name.starts_with('$');
    names_.push_back({metadata_id, python, python && name.find(".py:") != std::string_view::npos,
                      IsContainerCall(name)});
  }
  return found->second;
}

void GapCallCounter::EnterGap(int32_t gap) {
  SettleLonely(-1, 0);
  gap_ = gap;
  file_before_ = -1;
}

// Who called them is guessed: the nearest call with a file, before or after.
void GapCallCounter::SettleLonely(int32_t next_file, int64_t next_ps) {
  for (const Lonely& call : lonely_) {
    const bool after = next_file >= 0 && (file_before_ < 0 || next_ps - call.start_ps <
                                                                  call.start_ps - file_before_ps_);
    Count(call.name, after ? next_file : file_before_, call.start_ps, call.end_ps, call.depth);
  }
  lonely_.clear();
}

void GapCallCounter::Saw(int64_t metadata_id, int64_t start_ps, int64_t end_ps) {
  if (start_ps < latest_ps_) open_.clear();
  latest_ps_ = start_ps;
  const int32_t gap = SpansBegunBy(spans_, start_ps);
  if (gap > 0 && start_ps < spans_[gap - 1].second) return;
  if (gap != gap_) EnterGap(gap);
  while (!open_.empty() && (open_.back().end_ps <= start_ps || open_.back().end_ps < end_ps)) {
    open_.pop_back();
  }
  const int32_t name = NameOf(metadata_id);
  const bool has_file = names_[name].has_file;
  const int32_t caller = open_.empty() ? -1 : open_.back().file;
  const int64_t depth = open_.empty() || open_.back().gap != gap ? 0 : open_.back().depth + 1;
  if (names_[name].python && end_ps > start_ps) {
    open_.push_back({end_ps, has_file ? name : caller, gap, depth});
  }
  // Before the first launch and after the last one is no gap.
  if (gap == 0 || gap == static_cast<int32_t>(spans_.size())) return;
  if (has_file) {
    SettleLonely(name, start_ps);
    file_before_ = name;
    file_before_ps_ = start_ps;
    Count(name, -1, start_ps, end_ps, depth);
  } else if (!names_[name].python || caller >= 0) {
    Count(name, names_[name].python ? caller : -1, start_ps, end_ps, depth);
  } else {
    lonely_.push_back({name, start_ps, end_ps, depth});
  }
}

void GapCallCounter::Count(int32_t name, int32_t caller, int64_t start_ps, int64_t end_ps,
                           int64_t depth) {
  if (mark_count_ == kMaxMarks) {
    ++left_out_;
    return;
  }
  const uint64_t key = static_cast<uint64_t>(name) << 32 | static_cast<uint32_t>(caller + 1);
  const auto [found, is_new] = call_index_.try_emplace(key, calls_.size());
  if (is_new) calls_.push_back({name, caller, depth, true, {}});
  Call& call = calls_[found->second];
  call.depth = std::min(call.depth, depth);
  // What encloses the next launch called the step.
  call.encloses = call.encloses && end_ps > spans_[gap_].first;
  // Nearly always the last one; not where a line is out of order.
  auto mark = call.marks.end();
  while (mark != call.marks.begin() && (mark - 1)->gap > gap_) --mark;
  if (mark == call.marks.begin() || (mark - 1)->gap != gap_) {
    mark = call.marks.insert(mark, {gap_, 0, start_ps}) + 1;
    ++mark_count_;
  }
  --mark;
  ++mark->calls;
  mark->last_start_ps = std::max(mark->last_start_ps, start_ps);
}

void GapCallCounter::AddModule(const ModuleLaunches& launches, std::vector<GapCall>* calls) const {
  // Where the module was launched: the gaps behind one of these and up to the next are one.
  std::vector<int32_t> launched;
  for (const auto& span : launches.spans) {
    const int32_t behind = SpansBegunBy(spans_, span.first);
    if (launched.empty() || launched.back() != behind) launched.push_back(behind);
  }
  if (launched.size() < 2) return;
  std::vector<std::pair<GapCall, bool>> found;  // And whether it is a container's.
  for (const Call& call : calls_) {
    GapCall fact{.module = launches.module,
                 .line = line_index_,
                 .name = names_[call.name].metadata_id,
                 .caller = call.caller < 0 ? -1 : names_[call.caller].metadata_id,
                 .all_gaps = static_cast<int64_t>(launched.size()) - 1,
                 .depth = call.depth,
                 .encloses = call.encloses};
    ptrdiff_t latest = -1;
    for (const Mark& mark : call.marks) {
      if (mark.gap < launched.front() || mark.gap >= launched.back()) continue;
      const ptrdiff_t at =
          std::upper_bound(launched.begin(), launched.end(), mark.gap) - launched.begin();
      if (at != latest) ++fact.gaps;
      latest = at;
      fact.calls += mark.calls;
      fact.last_start_ps = mark.last_start_ps;
    }
    if (fact.gaps > 0) found.emplace_back(fact, names_[call.name].container);
  }
  std::sort(found.begin(), found.end(), [](const auto& a, const auto& b) {
    const auto rank = [](const auto& one) {
      const GapCall& call = one.first;
      return std::tuple(!one.second, call.depth, -call.gaps, -call.last_start_ps, call.name,
                        call.caller);
    };
    return rank(a) < rank(b);
  });
  if (found.size() > kMaxCallsOfModule) found.resize(kMaxCallsOfModule);
  for (const auto& [fact, container] : found) calls->push_back(fact);
}

void GapCallCounter::AddTo(std::vector<GapCall>* calls) {
  SettleLonely(-1, 0);
  std::vector<const ModuleLaunches*> modules;
  for (const ModuleLaunches& one : launches_.modules) modules.push_back(&one);
  std::stable_sort(modules.begin(), modules.end(),
                   [](const auto* a, const auto* b) { return a->spans.size() > b->spans.size(); });
  if (modules.size() > kMaxModules) modules.resize(kMaxModules);
  for (const ModuleLaunches* one : modules) AddModule(*one, calls);
}

}  // namespace oomdb::ingest
