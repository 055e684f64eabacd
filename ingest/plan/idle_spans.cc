#include "ingest/plan/idle_spans.h"

#include <algorithm>
#include <deque>
#include <string>
#include <utility>

namespace oomdb::ingest {
namespace {

constexpr size_t kMaxValues = 1024;  // That one piece of memory holds.
constexpr int kMaxNesting = 64;

// Takes no look at the values.
bool IsView(const std::string& opcode) {
  return opcode == "tuple" || opcode == "get-tuple-element" || opcode == "bitcast" ||
         opcode == "optimization-barrier";
}

}  // namespace

IdleSpans::IdleSpans(const proto::HloModuleProto& module, const Instructions& instructions,
                     const BufferAssignment& assignment, const HeapReplay& replay,
                     NameStacks& stacks)
    : instructions_(instructions),
      assignment_(assignment),
      replay_(replay),
      stacks_(stacks),
      steps_left_(SearchSteps(instructions.size())) {
  if (instructions.entry() == IdIndex::kNone) return;
  const auto sequence =
      module.schedule().sequences().find(module.computations(instructions.entry()).id());
  if (sequence == module.schedule().sequences().end()) return;
  callers_.assign(instructions.computations(), IdIndex::kNone);
  for (InstructionNumber i = 0; i < instructions.size(); ++i) {
    for (int n = 0; n < instructions[i].called_computation_ids_size(); ++n) {
      const int32_t called = instructions.Called(i, n);
      if (called != IdIndex::kNone && callers_[called] == IdIndex::kNone) callers_[called] = i;
    }
  }
  const auto [begin, end] = instructions.Range(instructions.entry());
  IdIndex ids;
  for (InstructionNumber i = begin; i < end; ++i) ids.Add(instructions[i].id(), i);
  ids.Seal();
  places_.assign(instructions.size(), IdIndex::kNone);
  for (const int64_t id : sequence->second.instruction_ids()) {
    const InstructionNumber i = ids.Find(id);
    if (i == IdIndex::kNone || places_[i] != IdIndex::kNone) continue;
    places_[i] = static_cast<int32_t>(order_.size());
    order_.push_back(i);
  }
  FindPeak();
}

int32_t IdleSpans::PlaceOf(InstructionNumber i) const {
  for (int nesting = 0; i != IdIndex::kNone && nesting < kMaxNesting; ++nesting) {
    const int32_t computation = instructions_.ComputationOf(i);
    if (computation == instructions_.entry()) return places_[i];
    i = callers_[computation];
  }
  return IdIndex::kNone;
}

// The peak is reached by what was taken last of all that is live there.
void IdleSpans::FindPeak() {
  MaybeInt last;
  for (size_t b = 0; b < assignment_.buffers().size(); ++b) {
    const LogicalBuffer& buffer = assignment_.buffers()[b];
    const Lifetime& lifetime = replay_.lifetimes[b];
    if (!lifetime.at_peak || buffer.memory_space != 0 || !lifetime.first_live) continue;
    if (last && *lifetime.first_live <= *last) continue;
    last = lifetime.first_live;
    peak_ = PlaceOf(buffer.value.instruction);
  }
}

std::optional<EntrySpan> IdleSpans::Of(int32_t buffer) {
  if (peak_ == IdIndex::kNone) return std::nullopt;
  // All values that the memory holds: its own, those that take it over, and views of them.
  std::set<int32_t> buffers = {buffer};
  std::deque<int32_t> todo = {buffer};
  std::set<ValueAt> seen;
  std::deque<ValueAt> values;
  while (!todo.empty()) {
    const int32_t b = todo.front();
    todo.pop_front();
    const ValueAt& value = assignment_.buffers()[b].value;
    if (value.instruction != IdIndex::kNone && seen.insert(value).second) values.push_back(value);
    for (const int32_t sharer : replay_.sharers[b]) {
      if (buffers.size() < kMaxValues && buffers.insert(sharer).second) todo.push_back(sharer);
    }
  }
  EntrySpan span{-1, -1, IdIndex::kNone};
  const auto touch = [&](InstructionNumber i) {
    const int32_t place = PlaceOf(i);
    if (place == IdIndex::kNone) return;
    if (place <= peak_) {
      span.from = std::max<int64_t>(span.from, place);
    } else if (span.to < 0 || place < span.to) {
      span.to = place;
      span.reader = order_[place];
    }
  };
  while (!values.empty()) {
    const ValueAt at = std::move(values.front());
    values.pop_front();
    if (!IsView(instructions_[at.instruction].opcode())) touch(at.instruction);
    for (ValueAt& next : instructions_.FlowsInto(at)) {
      if (--steps_left_ < 0 || seen.size() > kMaxValues) return std::nullopt;
      if (seen.insert(next).second) values.push_back(std::move(next));
    }
    for (const InstructionNumber user : stacks_.UsersOf(at.instruction)) {
      if (--steps_left_ < 0) return std::nullopt;
      // Of a tuple only its elements are read; they came along as values.
      if (!IsView(instructions_[user].opcode()) &&
          (at.index.empty() || instructions_[user].opcode() != "while")) {
        touch(user);
      }
    }
  }
  if (span.from < 0 || span.to < 0) return std::nullopt;
  return span;
}

}  // namespace oomdb::ingest
