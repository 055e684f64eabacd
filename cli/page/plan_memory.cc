#include "cli/page/plan_memory.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <queue>
#include <tuple>
#include <utility>

#include "render/words.h"
#include "schema/query.h"

namespace oomdb::cli::page {
namespace {

struct Span {
  int64_t first = 0, last = 0;
  size_t buffer = 0;
};

// Buffers that begin at one place of one allocation are one memory while they are live together.
using Home = std::pair<int64_t, int64_t>;

// Whose row stands for the memory: the largest; of equal ones that of the peak, then the oldest.
auto Worth(const PlanBuffer& buffer, const Span& span) {
  return std::tuple(buffer.bytes, buffer.at_peak, -span.first, -static_cast<int64_t>(span.buffer));
}

void AddStretches(const std::vector<Span>& spans, PlanMemory* memory) {
  std::vector<int64_t> marks;
  for (const Span& span : spans) {
    marks.push_back(span.first);
    marks.push_back(span.last);
  }
  std::sort(marks.begin(), marks.end());
  marks.erase(std::unique(marks.begin(), marks.end()), marks.end());
  const auto less = [&](const Span* a, const Span* b) {
    return Worth(memory->buffers[a->buffer], *a) < Worth(memory->buffers[b->buffer], *b);
  };
  std::priority_queue<const Span*, std::vector<const Span*>, decltype(less)> live(less);
  size_t next = 0;  // Spans come by their first position.
  for (size_t i = 0; i + 1 < marks.size(); ++i) {
    for (; next < spans.size() && spans[next].first <= marks[i]; ++next) live.push(&spans[next]);
    while (!live.empty() && live.top()->last <= marks[i]) live.pop();
    if (live.empty()) continue;
    const size_t buffer = live.top()->buffer;
    std::vector<PlanStretch>& all = memory->stretches;
    if (!all.empty() && all.back().buffer == buffer && all.back().to == marks[i]) {
      all.back().to = marks[i + 1];
    } else {
      all.push_back({memory->buffers[buffer].bytes, marks[i], marks[i + 1], buffer});
    }
  }
}

void AddUp(PlanMemory* memory) {
  int64_t end = 0;
  for (const PlanStretch& s : memory->stretches) end = std::max(end, s.to);
  memory->by_role.assign(static_cast<size_t>(end) + 1, {});
  for (const PlanStretch& s : memory->stretches) {
    const size_t role = memory->buffers[s.buffer].role;
    memory->by_role[static_cast<size_t>(s.from)][role] += s.bytes;
    memory->by_role[static_cast<size_t>(s.to)][role] -= s.bytes;
  }
  std::array<int64_t, kRoles.size()> now{};
  for (auto& roles : memory->by_role) {
    int64_t sum = 0;
    for (size_t r = 0; r < kRoles.size(); ++r) sum += now[r] += roles[r];
    roles = now;
    memory->temps.push_back(sum);
  }
  memory->peak = static_cast<size_t>(std::max_element(memory->temps.begin(), memory->temps.end()) -
                                     memory->temps.begin());
}

}  // namespace

size_t RoleIndex(std::string_view role) {
  const auto found = std::find(kRoles.begin(), kRoles.end() - 1, role);
  return static_cast<size_t>(found - kRoles.begin());
}

std::string PlanBuffer::Place() const {
  return render::Place(source_file, source_line, function_name);
}

std::string PlanBuffer::What() const {
  std::string what = Place();
  constexpr size_t kOp = 44;  // Columns; its end says most.
  const std::string op = render::TruncateFront(render::Safe(render::ShortOp(op_name)), kOp);
  if (!op.empty()) what += (what.empty() ? "" : " · ") + op;
  what += (what.empty() ? "" : ", ") + std::string(kRoles[role]);
  return instruction.find(".remat") == std::string::npos ? what : what + ", remat";
}

std::optional<PlanMemory> ReadPlanMemory(schema::Database& database, const ReportPlan& plan) {
  if (!plan.heap_peak_bytes) return std::nullopt;
  PlanMemory memory;
  std::map<Home, std::vector<Span>> homes;
  for (const schema::Record& row : schema::ReadView(database, "buffers",
                                                    {{"module_id", plan.module_id},
                                                     {"class", std::string("temp")},
                                                     {"memory_space", int64_t{0}}},
                                                    "first_live NULLS LAST, buffer_id")) {
    const std::optional<int64_t> first = row.MaybeInteger("first_live"),
                                 last = row.MaybeInteger("last_live");
    if (!first || !last || *first < 0 || *last <= *first || row.Integer("bytes") <= 0) continue;
    const auto buffer = static_cast<int64_t>(memory.buffers.size());
    // One whose place is not known shares with none.
    const Home home(
        row.MaybeInteger("offset_bytes") ? row.Integer("allocation_index") : -1 - buffer,
        row.Integer("offset_bytes"));
    homes[home].push_back({*first, *last, memory.buffers.size()});
    memory.buffers.push_back({.bytes = row.Integer("bytes"),
                              .role = RoleIndex(row.Text("role")),
                              .at_peak = row.Flag("at_peak"),
                              .shape = row.Text("shape"),
                              .op_name = row.Text("op_name"),
                              .source_file = row.Text("source_file"),
                              .function_name = row.Text("function_name"),
                              .instruction = row.Text("instruction"),
                              .source_line = row.MaybeInteger("source_line"),
                              .frame_id = row.MaybeInteger("frame_id")});
  }
  if (memory.buffers.empty()) return std::nullopt;
  for (const auto& [home, spans] : homes) AddStretches(spans, &memory);
  AddUp(&memory);
  return memory;
}

}  // namespace oomdb::cli::page
