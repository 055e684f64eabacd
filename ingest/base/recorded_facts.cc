#include "ingest/base/recorded_facts.h"

#include "base/error.h"

namespace oomdb::ingest {

void RecordedFacts::Next(Kind kind) {
  for (const std::atomic<bool>* end : {stop_, quit_}) {
    if (end != nullptr && end->load(std::memory_order_relaxed))
      throw Error("interrupted; this capture was not stored", ExitCode::kInterrupted);
  }
  order_.push_back(kind);
}

std::string_view RecordedFacts::Lasting(std::string_view text) {
  return *texts_.emplace(text).first;
}

void RecordedFacts::Add(const CaptureFact& fact) {
  Next(Kind::kCapture);
  captures_.push_back(fact);
}

void RecordedFacts::Add(const IssueFact& fact) {
  Next(Kind::kIssue);
  issues_.push_back(fact);
}

void RecordedFacts::Add(const DeviceFact& fact) {
  Next(Kind::kDevice);
  devices_.push_back(fact);
}

void RecordedFacts::Add(const ModuleFact& fact) {
  Next(Kind::kModule);
  modules_.push_back(fact);
}

void RecordedFacts::Add(const AllocatorFact& fact) {
  Next(Kind::kAllocator);
  allocators_.push_back(fact);
}

void RecordedFacts::Add(const ExecutionFact& fact) {
  Next(Kind::kExecution);
  executions_.push_back(fact);
}

void RecordedFacts::Add(const AllocationFact& fact) {
  Next(Kind::kAllocation);
  allocations_.push_back(fact);
}

void RecordedFacts::Add(const HostEventFact& fact) {
  Next(Kind::kEvent);
  HostEventFact kept = fact;
  kept.thread = Lasting(fact.thread);
  kept.name = Lasting(fact.name);
  events_.push_back(kept);
}

void RecordedFacts::Add(const GapCallFact& fact) {
  Next(Kind::kGapCall);
  GapCallFact kept = fact;
  kept.thread = Lasting(fact.thread);
  kept.name = Lasting(fact.name);
  kept.caller = Lasting(fact.caller);
  gap_calls_.push_back(kept);
}

void RecordedFacts::Add(const OomEventFact& fact) {
  Next(Kind::kOomEvent);
  oom_events_.push_back(fact);
}

void RecordedFacts::Add(const OomBufferFact& fact) {
  Next(Kind::kOomBuffer);
  oom_buffers_.push_back(fact);
}

void RecordedFacts::Add(const OomChunkFact& fact) {
  Next(Kind::kOomChunk);
  oom_chunks_.push_back(fact);
}

void RecordedFacts::Add(const ProfileSampleFact& fact) {
  Next(Kind::kSample);
  samples_.push_back(fact);
}

void RecordedFacts::Replay(FactSink& sink) const {
  auto capture = captures_.begin();
  auto issue = issues_.begin();
  auto device = devices_.begin();
  auto module = modules_.begin();
  auto allocator = allocators_.begin();
  auto execution = executions_.begin();
  auto allocation = allocations_.begin();
  auto event = events_.begin();
  auto gap_call = gap_calls_.begin();
  auto oom_event = oom_events_.begin();
  auto oom_buffer = oom_buffers_.begin();
  auto oom_chunk = oom_chunks_.begin();
  auto sample = samples_.begin();
  for (const Kind kind : order_) {
    switch (kind) {
      case Kind::kCapture:
        sink.Add(*capture++);
        break;
      case Kind::kIssue:
        sink.Add(*issue++);
        break;
      case Kind::kDevice:
        sink.Add(*device++);
        break;
      case Kind::kModule:
        sink.Add(*module++);
        break;
      case Kind::kAllocator:
        sink.Add(*allocator++);
        break;
      case Kind::kExecution:
        sink.Add(*execution++);
        break;
      case Kind::kAllocation:
        sink.Add(*allocation++);
        break;
      case Kind::kEvent:
        sink.Add(*event++);
        break;
      case Kind::kGapCall:
        sink.Add(*gap_call++);
        break;
      case Kind::kOomEvent:
        sink.Add(*oom_event++);
        break;
      case Kind::kOomBuffer:
        sink.Add(*oom_buffer++);
        break;
      case Kind::kOomChunk:
        sink.Add(*oom_chunk++);
        break;
      case Kind::kSample:
        sink.Add(*sample++);
        break;
    }
  }
}

}  // namespace oomdb::ingest
