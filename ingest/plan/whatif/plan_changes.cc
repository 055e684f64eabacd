#include "ingest/plan/whatif/plan_changes.h"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <utility>

#include "ingest/base/phases.h"
#include "ingest/plan/hlo_bytes.h"
#include "ingest/plan/whatif/what_if.h"

namespace oomdb::ingest {
namespace {

constexpr int64_t kMaxMicroBatches = 32;
constexpr int64_t kMaxDevices = 256;
// To pack a heap takes as long as the square of its values says, and there are some 80 questions: at
// this many they take two seconds. A step of 45,000 instructions has a quarter of them.
constexpr int64_t kMaxValues = 16'384;

int64_t ValuesInHeap(const proto::BufferAssignmentProto& assignment) {
  int64_t count = 0;
  for (const auto& trace : assignment.heap_simulator_traces()) {
    for (const auto& event : trace.events()) {
      count += event.kind() == proto::HeapSimulatorTrace::Event::ALLOC;
    }
  }
  return count;
}

using Set = std::function<void(Change*)>;

class Asking {
 public:
  explicit Asking(const PlanModel& model) : model_(model) {}

  PlanChanges Run() {
    all_.replayed = !model_.groups().empty() && model_.program().has_schedule();
    if (!all_.replayed) return std::move(all_);
    const Set donate = [](Change* c) { c->donate = true; };
    const Set checkpoint = [](Change* c) { c->checkpoint = true; };
    const Set fused = [](Change* c) { c->fused_attention = true; };
    const bool donates = Ask("donate", {donate});
    const bool checkpoints = Ask("checkpoint", {checkpoint});
    const bool fuses = Ask("fused_attention", {fused});
    const bool chunks = AskChunks("chunk_logits", {});
    const bool accumulates = AskMicroBatches("micro_batch", {});
    const bool shards = AskDevices("shard_parameters", {});
    Ask("narrower_dtype", {[](Change* c) { c->bf16 = true; }});
    Ask("shorter_sequence", {[](Change* c) { c->sequence_ratio = 0.5; }});
    if (donates && checkpoints) Ask("donate+checkpoint", {donate, checkpoint});
    if (donates && chunks) AskChunks("donate+chunk_logits", {donate});
    if (donates && fuses) Ask("donate+fused_attention", {donate, fused});
    if (donates && accumulates) AskMicroBatches("donate+micro_batch", {donate});
    if (checkpoints && chunks) AskChunks("checkpoint+chunk_logits", {checkpoint});
    if (checkpoints && accumulates) AskMicroBatches("checkpoint+micro_batch", {checkpoint});
    if (checkpoints && shards) AskDevices("checkpoint+shard_parameters", {checkpoint});
    if (donates && checkpoints && accumulates)
      AskMicroBatches("donate+checkpoint+micro_batch", {donate, checkpoint});
    if (accumulates && shards) {
      for (int64_t parts = 2; parts <= 8; parts *= 2) {
        AskDevices("micro_batch+shard_parameters", {[parts](Change* c) { c->accumulate = parts; }});
      }
    }
    return std::move(all_);
  }

 private:
  // Whether it saves something. `knows`: where not null, whether there was an answer at all.
  bool Ask(std::string remedy, const std::vector<Set>& sets, bool* knows = nullptr) {
    Change change;
    for (const Set& set : sets) set(&change);
    const Answer answer = ingest::Ask(model_, change);
    if (knows != nullptr) *knows = answer.after.has_value();
    if (!answer.after || answer.after->total() >= answer.before.total()) return false;
    PlanChange& row = all_.changes.emplace_back();
    row.remedy = std::move(remedy);
    row.micro_batches = change.accumulate;
    row.chunks = change.chunk_loss;
    row.devices = change.fsdp;
    row.needs_bytes = answer.after->total();
    row.low_bytes = answer.low_bytes;
    row.high_bytes = answer.high_bytes;
    return true;
  }

  // In more and more parts, until there is no answer: the batch has no more. Whether any saves
  // something.
  bool AskParts(const std::string& remedy, std::vector<Set> sets, int64_t first, int64_t last,
                const std::function<void(Change*, int64_t)>& set) {
    bool saves = false;
    bool knows = true;
    for (int64_t parts = first; parts <= last && knows; parts *= 2) {
      sets.push_back([&set, parts](Change* c) { set(c, parts); });
      saves = Ask(remedy, sets, &knows) || saves;
      sets.pop_back();
    }
    return saves;
  }
  bool AskChunks(const std::string& remedy, std::vector<Set> sets) {
    return AskParts(remedy, std::move(sets), 4, 16,
                    [](Change* c, int64_t parts) { c->chunk_loss = parts; });
  }
  bool AskMicroBatches(const std::string& remedy, std::vector<Set> sets) {
    const int64_t most = std::min(kMaxMicroBatches, model_.batch().extent);
    return AskParts(remedy, std::move(sets), 2, most,
                    [](Change* c, int64_t parts) { c->accumulate = parts; });
  }
  bool AskDevices(const std::string& remedy, std::vector<Set> sets) {
    return AskParts(remedy, std::move(sets), 2, kMaxDevices,
                    [](Change* c, int64_t parts) { c->fsdp = parts; });
  }

  const PlanModel& model_;
  PlanChanges all_;
};

}  // namespace

PlanChanges PlanChangesOf(const PlanModel& model) { return Asking(model).Run(); }

PlanChanges ReadPlanChanges(std::string_view hlo_proto_bytes, std::string_view platform) {
  const InPhase replaying(Phase::kReplay);
  google::protobuf::Arena arena;
  const proto::HloProto& hlo = ParseHlo(hlo_proto_bytes, &arena);
  const int64_t values = ValuesInHeap(hlo.buffer_assignment());
  if (values > kMaxValues) {
    PlanChanges none;
    none.why_not = fmt::format(
        "{} values are in the heap: too many to replay the plan with every remedy; oomdb what-if "
        "replays it with one",
        values);
    return none;
  }
  return PlanChangesOf(PlanModel(hlo, platform));
}

}  // namespace oomdb::ingest
