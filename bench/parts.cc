// The parts of an ingest by themselves. Google Benchmark's options apply: --benchmark_filter=Replay
// …
#include <SQLiteCpp/SQLiteCpp.h>
#include <benchmark/benchmark.h>
#include <fmt/format.h>

#include <string>
#include <vector>

#include "bench/deep_plan.h"
#include "bench/made_capture.h"
#include "bench/synthetic_plan.h"
#include "ingest/base/recorded_facts.h"
#include "ingest/base/wire.h"
#include "ingest/importers.h"
#include "ingest/log/log_importer.h"
#include "ingest/plan/plan.h"
#include "ingest/plan/replay/replay_program.h"
#include "ingest/plan/shape.h"
#include "ingest/plan/whatif/search.h"
#include "ingest/source/source.h"
#include "ingest/xplane/xplane_importer.h"
#include "schema/database.h"
#include "schema/string_table.h"

namespace oomdb {
namespace {

constexpr int kInstructions = 45'000;
constexpr size_t kLogBytes = size_t{200} << 20;

std::string Made(double megabytes, MadeEvents events) {
  std::string bytes;
  WriteCapture({.bytes = static_cast<uint64_t>(megabytes * 1e6), .events = events},
               [&](std::string_view piece) { bytes += piece; });
  return bytes;
}

void SetBytes(benchmark::State& state, size_t bytes) {
  state.SetBytesProcessed(static_cast<int64_t>(state.iterations()) * static_cast<int64_t>(bytes));
}

// Numbers of all lengths, as the times of events are.
void WireCursorNumbers(benchmark::State& state) {
  const auto bits = static_cast<int>(state.range(0));
  std::string bytes;
  for (int i = 0; i < 100'000; ++i) {
    bytes += '\x10';
    for (uint64_t value = (uint64_t{1} << bits) | static_cast<uint64_t>(i);; value >>= 7) {
      if (value < 0x80) {
        bytes += static_cast<char>(value);
        break;
      }
      bytes += static_cast<char>(value | 0x80);
    }
  }
  for (auto _ : state) {
    uint64_t sum = 0;
    ingest::WireCursor cursor(bytes);
    while (cursor.Next()) sum += cursor.varint();
    benchmark::DoNotOptimize(sum);
  }
  SetBytes(state, bytes.size());
}
BENCHMARK(WireCursorNumbers)->Arg(5)->Arg(20)->Arg(45);

// A capture in memory to facts: what the walk takes, without file and database.
void ImportCapture(benchmark::State& state, MadeEvents events) {
  const std::string bytes = Made(20, events);
  for (auto _ : state) {
    const auto source = ingest::MemorySource(bytes);
    ingest::RecordedFacts facts;
    ingest::ImportXPlane(*source, {}, facts);
  }
  SetBytes(state, bytes.size());
}
BENCHMARK_CAPTURE(ImportCapture, python_frames, MadeEvents::kPython)->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(ImportCapture, cpu_thunks, MadeEvents::kThreads)->Unit(benchmark::kMillisecond);

// An HLO proto to its plan: parsed, its heap trace replayed, its values classified.
void ReplayPlan(benchmark::State& state) {
  const std::string hlo = MakePlan("jit_step", 1, static_cast<int>(state.range(0))).hlo;
  for (auto _ : state) benchmark::DoNotOptimize(ingest::ReadPlan(hlo));
  SetBytes(state, hlo.size());
}
BENCHMARK(ReplayPlan)->Arg(1000)->Arg(kInstructions)->Unit(benchmark::kMillisecond);

// A transformer's training step, so deep that it has about kInstructions.
const proto::HloProto& DeepStep() {
  static const auto* const step = [] {
    const auto source = ingest::OpenSource(std::string(OOMDB_SOURCE_DIR) +
                                           "/tests/plan/testdata/whatif/cuda_gpt.hlo.pb.gz");
    std::string bytes(source->size(), '\0');
    source->ReadAt(0, std::span<char>(bytes.data(), bytes.size()));
    proto::HloProto one;
    one.ParseFromString(bytes);
    constexpr int kInstructionsOfOne = 2697;
    return new proto::HloProto(DeepPlan(one, kInstructions / kInstructionsOfOne + 1));
  }();
  return *step;
}

// Dimension graph, batch and heap groups: what every question to one plan shares.
void WhatIfModel(benchmark::State& state) {
  for (auto _ : state) {
    const ingest::PlanModel model(DeepStep(), "gpu");
    benchmark::DoNotOptimize(model.batch().extent);
  }
}
BENCHMARK(WhatIfModel)->Unit(benchmark::kMillisecond);

void WhatIfAsk(benchmark::State& state, ingest::Change change) {
  const ingest::PlanModel model(DeepStep(), "gpu");
  for (auto _ : state) benchmark::DoNotOptimize(ingest::Ask(model, change));
}
BENCHMARK_CAPTURE(WhatIfAsk, donate, ingest::Change{.donate = true})->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(WhatIfAsk, batch, ingest::Change{.batch_ratio = 0.5})
    ->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(WhatIfAsk, sequence, ingest::Change{.sequence_ratio = 0.5})
    ->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(WhatIfAsk, accumulate, ingest::Change{.accumulate = 4})
    ->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(WhatIfAsk, checkpoint, ingest::Change{.checkpoint = true})
    ->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(WhatIfAsk, fused_attention, ingest::Change{.fused_attention = true})
    ->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(WhatIfAsk, chunk_loss, ingest::Change{.chunk_loss = 4})
    ->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(WhatIfAsk, fsdp, ingest::Change{.fsdp = 4})->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(WhatIfAsk, zero1, ingest::Change{.zero1 = 4})->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(WhatIfAsk, bf16, ingest::Change{.bf16 = true})->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(WhatIfAsk, offload_activations, ingest::Change{.offload_activations = true})
    ->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(WhatIfAsk, offload_optimizer, ingest::Change{.offload_optimizer = true})
    ->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(WhatIfAsk, three,
                  ingest::Change{.donate = true, .accumulate = 4, .checkpoint = true})
    ->Unit(benchmark::kMillisecond);

// What is stored of a plan beside its tables, and back.
void WhatIfWriteReplay(benchmark::State& state) {
  size_t size = 0;
  for (auto _ : state) {
    state.PauseTiming();
    proto::HloProto hlo = DeepStep();
    state.ResumeTiming();
    ingest::ReduceToReplay(&hlo);
    size = ingest::WriteReplay(hlo).size();
  }
  state.counters["bytes"] = static_cast<double>(size);
}
BENCHMARK(WhatIfWriteReplay)->Unit(benchmark::kMillisecond);

void WhatIfReadReplay(benchmark::State& state) {
  proto::HloProto hlo = DeepStep();
  ingest::ReduceToReplay(&hlo);
  const std::string bytes = ingest::WriteReplay(hlo);
  for (auto _ : state) {
    google::protobuf::Arena arena;
    benchmark::DoNotOptimize(ingest::ReadReplay(bytes, &arena).hlo_module().id());
  }
}
BENCHMARK(WhatIfReadReplay)->Unit(benchmark::kMillisecond);

void WhatIfSearch(benchmark::State& state) {
  const ingest::PlanModel model(DeepStep(), "gpu");
  for (auto _ : state) {
    benchmark::DoNotOptimize(ingest::FindCombinations(model, {}, model.need().total() * 3 / 4));
  }
}
BENCHMARK(WhatIfSearch)->Unit(benchmark::kMillisecond);

void PrintShapes(benchmark::State& state) {
  proto::ShapeProto shape;
  shape.set_element_type(11);
  for (const int64_t size : {8, 16, 1024, 1024}) shape.add_dimensions(size);
  for (const int64_t dimension : {3, 2, 1, 0}) {
    shape.mutable_layout()->add_minor_to_major(dimension);
  }
  for (auto _ : state) {
    benchmark::DoNotOptimize(ingest::PrintShape(shape));
    benchmark::DoNotOptimize(ingest::PrintLayout(shape));
  }
  state.SetItemsProcessed(state.iterations());
}
BENCHMARK(PrintShapes);

// Texts that are known already, from so many.
void InternKnownStrings(benchmark::State& state) {
  schema::Database database = schema::Database::Throwaway({});
  SQLite::Transaction transaction(database.connection());
  schema::StringTable table(database.statements());
  std::vector<std::string> texts;
  for (int64_t i = 0; i < state.range(0); ++i) {
    texts.push_back(fmt::format("$module_{}.py:{} function_{}", i % 40, i, i));
    table.Intern(texts.back());
  }
  for (auto _ : state) {
    for (const std::string& text : texts) benchmark::DoNotOptimize(table.Intern(text));
  }
  state.SetItemsProcessed(state.iterations() * state.range(0));
}
BENCHMARK(InternKnownStrings)->Arg(500)->Arg(50'000);

// A training log in which nothing failed.
void ScanLog(benchmark::State& state) {
  std::string log;
  log.reserve(kLogBytes + 200);
  for (int64_t step = 0; log.size() < kLogBytes; ++step) {
    log += fmt::format(
        "I1130 03:03:44.{:06} 12345 train.py:210] step {} loss 2.{:04} grad_norm 1.{:03} "
        "tokens/s {} memory in use 12.3 GiB\n",
        step % 1'000'000, step, step % 10'000, step % 1000, 100'000 + step % 999);
  }
  for (auto _ : state) {
    const auto source = ingest::MemorySource(log);
    ingest::RecordedFacts facts;
    ingest::ImportLog(*source, {}, facts);
  }
  SetBytes(state, log.size());
}
BENCHMARK(ScanLog)->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace oomdb

BENCHMARK_MAIN();
