// Where values go, and where they come from.
#include <algorithm>
#include <unordered_set>

#include "ingest/plan/whatif/program.h"

namespace oomdb::ingest {

void Program::FlowsInto(LeafId n, std::vector<LeafId>* into) const {
  const InstructionNumber i = leaves_[n].instruction;
  const std::span<const User> users = Users(i);
  const int32_t offset = n - first_leaf_[i];
  if (element_users_[i] > 0) {
    const int64_t element = ElementOf(n);
    const std::span<const User> elements = users.first(element_users_[i]);
    auto by_element = [this](const User& user, int64_t k) {
      return instructions_[user.instruction].tuple_index() < k;
    };
    auto at = std::lower_bound(elements.begin(), elements.end(), element, by_element);
    for (; at != elements.end() && instructions_[at->instruction].tuple_index() == element; ++at) {
      const int32_t within = n - Element(i, element).first;
      if (within < LeafCount(at->instruction)) {
        into->push_back(first_leaf_[at->instruction] + within);
      }
    }
  }
  for (const User& user : users.subspan(element_users_[i])) {
    const InstructionNumber u = user.instruction;
    switch (ops_[u]) {
      case Op::kTuple: {
        const LeafRange element = Element(u, user.operand);
        if (offset < element.count) into->push_back(element.first + offset);
        break;
      }
      case Op::kBitcast:
      case Op::kBarrier:
      case Op::kWhile:
        if (offset < LeafCount(u)) into->push_back(first_leaf_[u] + offset);
        break;
      default:
        break;
    }
  }
}

Program::Uses Program::UsesOf(LeafId n) const {
  Uses uses;
  std::vector<LeafId> todo = {n};
  std::unordered_set<LeafId> seen = {n};
  std::vector<LeafId> next;
  for (size_t at = 0; at < todo.size(); ++at) {
    const LeafId here = todo[at];
    if (IsEntryRoot(here)) uses.is_output = true;
    for (const User& user :
         Users(leaves_[here].instruction).subspan(element_users_[leaves_[here].instruction])) {
      const Op op = ops_[user.instruction];
      if (op != Op::kTuple && op != Op::kBitcast && op != Op::kBarrier) {
        uses.readers.push_back(user.instruction);
      }
    }
    next.clear();
    FlowsInto(here, &next);
    for (LeafId leaf : next) {
      if (seen.insert(leaf).second) todo.push_back(leaf);
    }
  }
  return uses;
}

LeafId Program::Source(LeafId n) const {
  // Operands come before their users: every step goes back.
  for (;;) {
    const InstructionNumber i = leaves_[n].instruction;
    LeafId before = kNone;
    switch (ops_[i]) {
      case Op::kTuple: {
        const int64_t k = ElementOf(n);
        const InstructionNumber operand = Operand(i, static_cast<int>(k));
        if (operand == kNone) return n;
        const int32_t within = n - Element(i, k).first;
        if (within < LeafCount(operand)) before = first_leaf_[operand] + within;
        break;
      }
      case Op::kGetTupleElement: {
        const InstructionNumber operand = Operand(i, 0);
        if (operand == kNone) return n;
        const LeafRange element = Element(operand, instructions_[i].tuple_index());
        if (n - first_leaf_[i] < element.count) before = element.first + n - first_leaf_[i];
        break;
      }
      case Op::kBitcast:
      case Op::kBarrier: {
        const InstructionNumber operand = Operand(i, 0);
        if (operand == kNone) return n;
        if (n - first_leaf_[i] < LeafCount(operand)) {
          before = first_leaf_[operand] + n - first_leaf_[i];
        }
        break;
      }
      default:
        return n;
    }
    // Hostile modules may point forward.
    if (before == kNone || leaves_[before].instruction >= i) return n;
    n = before;
  }
}

}  // namespace oomdb::ingest
