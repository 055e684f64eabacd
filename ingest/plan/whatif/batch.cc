// Finding the batch dimension.
#include <algorithm>
#include <set>
#include <string>
#include <tuple>
#include <unordered_map>
#include <utility>
#include <vector>

#include "ingest/plan/whatif/model.h"

namespace oomdb::ingest {
namespace {

struct Candidate {
  Seed seed;
  int64_t extent = 0;
  int64_t reach = 0;
  bool clean = false;  // Its symbol reaches no state.
  std::string argument;
};

// Classes of which so many were asked are no batch: a program has a handful of inputs.
constexpr size_t kMaxSpreads = 200;

std::string NameOf(const Program& program, InstructionNumber i) {
  const proto::HloInstructionProto& instruction = program.instructions()[i];
  const std::string& name = instruction.metadata().op_name();
  return name.empty() ? instruction.name() : name;
}

// Two answers that are as good as one another: neither is given.
bool IsAmbiguous(const std::vector<Candidate>& clean, const Candidate& best) {
  return std::any_of(clean.begin(), clean.end(), [&](const Candidate& other) {
    return other.extent != best.extent && other.reach * 2 > best.reach;
  });
}

}  // namespace

Batch FindBatch(const DimensionGraph& graph, const std::vector<StateLeaf>& state,
                const BatchHint& hint) {
  const Program& program = graph.program();
  Batch batch;
  std::set<LeafId> is_state;
  for (const StateLeaf& leaf : state) is_state.insert(leaf.leaf);
  std::vector<Candidate> candidates;
  std::unordered_map<int32_t, size_t> known;  // By class: two seeds of one class are one symbol.
  for (InstructionNumber i : program.parameters()) {
    const std::string name = NameOf(program, i);
    const bool asked_for = !hint.argument.empty() && name.find(hint.argument) != std::string::npos;
    if (!hint.argument.empty() && !asked_for) continue;
    const LeafRange leaves = program.LeavesOf(i);
    for (LeafId n = leaves.first; n < leaves.first + leaves.count; ++n) {
      // What the user names is believed, even where a result has its shape.
      if (is_state.contains(n) && !asked_for) continue;
      if (program.leaf(n).rank() == 0 || program.leaf(n).extent(0) < 2) continue;
      Candidate candidate{{n, 0}, program.leaf(n).extent(0), 0, false, name};
      if (hint.size && *hint.size != candidate.extent) continue;
      const auto [at, is_new] = known.emplace(graph.ClassOf(n, 0), candidates.size());
      if (is_new) {
        if (known.size() > kMaxSpreads) break;
        const Symbol symbol = graph.Spread(std::span(&candidate.seed, 1));
        candidate.reach = symbol.reach();
        candidate.clean = asked_for || std::none_of(state.begin(), state.end(), [&](const auto& s) {
                            return symbol.IsIn(s.leaf);
                          });
      } else {
        candidate.reach = candidates[at->second].reach;
        candidate.clean = candidates[at->second].clean;
      }
      candidates.push_back(std::move(candidate));
    }
  }
  std::vector<Candidate> clean;
  std::copy_if(candidates.begin(), candidates.end(), std::back_inserter(clean),
               [](const Candidate& c) { return c.clean; });
  if (clean.empty()) {
    batch.why_not =
        candidates.empty()
            ? "no argument that is not part of the state has a leading dimension of 2 or more"
            : "the leading dimension of every argument is one of the state's, too";
    return batch;
  }
  const Candidate best =
      *std::max_element(clean.begin(), clean.end(), [](const Candidate& a, const Candidate& b) {
        return std::tuple(a.reach, b.seed.leaf) < std::tuple(b.reach, a.seed.leaf);
      });
  if (!hint.size && IsAmbiguous(clean, best)) {
    batch.why_not = "several arguments have leading dimensions that may be the batch";
    return batch;
  }
  std::vector<Seed> seeds;
  for (const Candidate& candidate : clean) {
    if (candidate.extent == best.extent) seeds.push_back(candidate.seed);
  }
  batch.symbol = graph.Spread(seeds);
  batch.extent = best.extent;
  batch.argument = best.argument;
  return batch;
}

}  // namespace oomdb::ingest
