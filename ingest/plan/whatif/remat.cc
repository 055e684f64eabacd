// XLA's own rematerialization, undone: a program that needs less would not be rematerialized, so
// what it computed again is kept from its first making instead.
#include <algorithm>
#include <string_view>
#include <vector>

#include "ingest/plan/whatif/levers.h"
#include "ingest/plan/whatif/training.h"

namespace oomdb::ingest {

void UndoRematerialization(const PlanModel& model, PlanState* state) {
  const Program& program = model.program();
  const std::vector<BlockSpan>& blocks = BlocksOf(model);
  const Moment forward_end = blocks.empty() ? 0 : BeginOf(blocks.back().end);
  std::vector<int32_t> dropped;
  for (InstructionNumber i = 0; i < program.instructions().size(); ++i) {
    if (!program.rematerialized(i) || program.position(i) == IdIndex::kNone) continue;
    const std::string_view name = program.instructions()[i].name();
    const InstructionNumber first =
        program.instructions().FindByName(name.substr(0, name.find(".remat")));
    const LeafRange result = program.LeavesOf(i);
    for (int32_t k = 0; k < result.count; ++k) {
      const int32_t copy = model.GroupOf(result.first + k);
      if (copy < 0 || state->pieces[copy].intervals.empty()) continue;
      const Program::Uses& uses = model.UsesOf(result.first + k);
      const bool is_read = std::any_of(uses.readers.begin(), uses.readers.end(), [&](auto reader) {
        return !program.rematerialized(reader);
      });
      int32_t original = -1;
      if (first != IdIndex::kNone && k < program.LeavesOf(first).count) {
        original = model.GroupOf(program.LeavesOf(first).first + k);
      }
      std::vector<HeapInterval>& again = state->pieces[copy].intervals;
      if (original >= 0 && original != copy && !state->pieces[original].intervals.empty()) {
        std::vector<HeapInterval>& kept = state->pieces[original].intervals;
        if (is_read) {
          kept = {{kept.front().begin, std::max(kept.back().end, again.back().end)}};
        }
        dropped.push_back(copy);
      } else if (is_read && forward_end > 0) {
        again = {{std::min(again.front().begin, forward_end), again.back().end}};
      } else {
        dropped.push_back(copy);
      }
    }
  }
  for (int32_t g : dropped) state->pieces[g].intervals.clear();
}

}  // namespace oomdb::ingest
