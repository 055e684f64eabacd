// oomdb what-if: what a program would need if it were changed, from its plan alone.
#include "ingest/plan/whatif/what_if.h"

#include <fmt/format.h>

#include <cmath>
#include <limits>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/ascii.h"
#include "base/error.h"
#include "cli/open_captures.h"
#include "cli/options.h"
#include "cli/verbs.h"
#include "cli/whatif/choose_plan.h"
#include "cli/whatif/question.h"
#include "google/protobuf/arena.h"
#include "ingest/plan/replay/replay_program.h"
#include "render/units.h"

namespace oomdb::cli {
namespace {

struct Options {
  std::vector<std::string> paths;
  std::string database;
  PlanScope scope;
  std::string batch, sequence, capacity;
  std::optional<int64_t> batch_size;
  std::string batch_argument;
  std::optional<int64_t> accumulate, chunk_loss, data_parallel, fsdp, zero1;
  bool donate = false, checkpoint = false, fused_attention = false, bf16 = false;
  std::vector<std::string> offload;
  bool search = false, largest_batch = false;
  OutputOptions output;
};

// "0.5x"; none when it is no ratio. Ratios are of a sane size: 1/1000000 to 1000000.
std::optional<double> Ratio(const std::string& text) {
  constexpr double kLargest = 1e6;
  if (!text.ends_with('x') && !text.ends_with('X')) return std::nullopt;
  const std::optional<double> ratio =
      WholeNumber<double>(std::string_view(text).substr(0, text.size() - 1));
  if (!ratio || !std::isfinite(*ratio) || *ratio < 1 / kLargest || *ratio > kLargest) {
    return std::nullopt;
  }
  return ratio;
}

ingest::Change ReadChange(const Options& options) {
  ingest::Change change;
  if (!options.batch.empty()) {
    change.batch_ratio = Ratio(options.batch);
    if (!change.batch_ratio) {
      change.batch_size = WholeNumber<int64_t>(options.batch);
      if (!change.batch_size || *change.batch_size < 1) {
        throw Error(fmt::format("--batch {}: a ratio such as 0.5x expected, or the batch on a "
                                "device such as 16",
                                options.batch),
                    ExitCode::kUsage);
      }
    }
  }
  if (!options.sequence.empty()) {
    change.sequence_ratio = Ratio(options.sequence);
    if (!change.sequence_ratio) {
      throw Error(fmt::format("--sequence {}: a ratio such as 0.5x expected", options.sequence),
                  ExitCode::kUsage);
    }
  }
  for (const std::string& what : options.offload) {
    if (what == "activations") {
      change.offload_activations = true;
    } else if (what == "optimizer") {
      change.offload_optimizer = true;
    } else {
      throw Error(fmt::format("--offload {}: activations or optimizer expected", what),
                  ExitCode::kUsage);
    }
  }
  if (options.fsdp && options.zero1) {
    throw Error("--fsdp shards the optimizer's state, too: --zero1 beside it makes no sense",
                ExitCode::kUsage);
  }
  change.donate = options.donate;
  change.checkpoint = options.checkpoint;
  change.fused_attention = options.fused_attention;
  change.bf16 = options.bf16;
  change.accumulate = options.accumulate;
  change.chunk_loss = options.chunk_loss;
  change.data_parallel = options.data_parallel;
  change.fsdp = options.fsdp;
  change.zero1 = options.zero1;
  return change;
}

// Of what the verb reads itself every plan is kept, and no remedy is asked for ahead.
const schema::SettingOverrides& EveryReplay() {
  static const auto* const kSettings = new schema::SettingOverrides{
      {"replay_min_bytes", 0}, {"changes_min_bytes", std::numeric_limits<int64_t>::max()}};
  return *kSettings;
}

ChosenPlan ReadChosenPlan(const Options& options, ExitCode* exit_code) {
  if (options.paths.empty() && options.database.empty()) {
    throw Error("no plan to ask: name a capture, a folder or --db FILE", ExitCode::kUsage);
  }
  const bool is_file = options.paths.empty();
  schema::Database database =
      OpenCaptures(options.paths, options.database,
                   is_file ? schema::SettingOverrides() : EveryReplay(), *exit_code);
  return ChoosePlan(database, options.scope, is_file ? options.database : "");
}

ExitCode Run(const Options& options) {
  WhatIf what_if;
  what_if.change = ReadChange(options);
  if (!options.capacity.empty()) {
    what_if.capacity_bytes = ParseDeviceBytes(options.capacity, "--capacity");
  }
  std::vector<std::string> inputs = options.paths;
  if (!options.database.empty()) inputs.push_back(options.database);
  RefuseToOverwriteInputs(options.output.file, inputs);
  Output output(options.output);
  ExitCode exit_code = ExitCode::kClean;
  const ChosenPlan plan = ReadChosenPlan(options, &exit_code);
  if (!what_if.capacity_bytes) what_if.capacity_bytes = plan.capacity_bytes;
  if ((options.search || options.largest_batch) && !what_if.capacity_bytes) {
    throw Error(fmt::format("{}: the capacity is not in the capture; give --capacity SIZE",
                            options.search ? "--search" : "--largest-batch"),
                ExitCode::kUsage);
  }

  google::protobuf::Arena arena;
  const proto::HloProto& hlo = ingest::ReadReplay(plan.replay, &arena);
  const ingest::PlanModel model(hlo, plan.platform, {options.batch_size, options.batch_argument});
  what_if.module = plan.module;
  what_if.run = plan.run;
  what_if.host = plan.host;
  what_if.plans = plan.plans;
  what_if.platform = model.platform();
  what_if.check = model.check();
  if (model.batch().found()) what_if.batch_extent = model.batch().extent;
  what_if.batch_argument = model.batch().argument;
  what_if.batch_why_not = model.batch().why_not;
  what_if.answer = ingest::Ask(model, what_if.change);
  ingest::Describe(model, what_if.change, &what_if.answer);
  if (options.largest_batch) {
    what_if.largest_batch =
        ingest::FindLargestBatch(model, what_if.change, *what_if.capacity_bytes);
  }
  if (options.search) {
    what_if.combinations = ingest::FindCombinations(model, what_if.change, *what_if.capacity_bytes);
  }

  const render::TableOptions look = output.table_options();
  switch (look.format) {
    case render::TableFormat::kJson:
    case render::TableFormat::kJsonl:
      WriteJson(output.stream(), what_if, look.format == render::TableFormat::kJsonl);
      break;
    case render::TableFormat::kCsv:
      WriteCsv(output.stream(), what_if, look);
      break;
    default:
      WritePage(output.stream(), what_if, look);
  }
  output.Finish();
  return exit_code;
}

}  // namespace

void RegisterWhatIf(Verbs& verbs, ExitCode& exit_code) {
  Verb verb = verbs.Add("what-if", "Say what a changed program would need, from its plan alone");
  const auto options = std::make_shared<Options>();
  verb.Option("CAPTURE", options->paths,
              "Profiler captures, XLA dumps or *.hlo.pb; - is standard input");
  verb.Option("--db", options->database,
              "Ask a plan of this database, where no capture is named; else $OOMDB_DB")
      .Variable("OOMDB_DB")
      .Type("FILE");
  verb.Option("--module", options->scope.module,
              "The module; else the one whose plan is the largest")
      .Type("NAME");
  verb.Option("--run", options->scope.run, "Only captures of this run").Type("NAME");
  verb.Option("--host", options->scope.host, "Only captures of this host").Type("NAME");
  verb.Option("--capture", options->scope.capture, "Only this capture, by its id or its path")
      .Type("ID|PATH");
  verb.Flag("--donate", options->donate, "Donate every argument that a result can replace");
  verb.Option("--batch", options->batch, "The batch: times what it is, or on a device (0.5x, 16)")
      .Type("RATIO|N");
  verb.Option("--sequence", options->sequence, "The sequence, times what it is: 0.5x")
      .Type("RATIO");
  verb.Option("--accumulate", options->accumulate, "Gradients in N parts of the batch, summed up")
      .Type("N")
      .Positive();
  verb.Flag("--checkpoint", options->checkpoint, "Compute the layers again for the backward pass");
  verb.Flag("--fused-attention", options->fused_attention,
            "Attention that never stores its scores (flash)");
  verb.Option("--chunk-loss", options->chunk_loss, "The loss over the vocabulary in N chunks")
      .Type("N")
      .Positive();
  verb.Option("--data-parallel", options->data_parallel, "The batch over N devices")
      .Type("N")
      .Positive();
  verb.Option("--fsdp", options->fsdp, "Weights, optimizer state and batch over N devices")
      .Type("N")
      .Positive();
  verb.Option("--zero1", options->zero1, "Optimizer state and batch over N devices")
      .Type("N")
      .Positive();
  verb.Flag("--bf16", options->bf16, "Activations in two bytes (only a bound)");
  verb.Option("--offload", options->offload,
              "activations or optimizer: what waits on the host (only a bound)")
      .Type("WHAT")
      .OneValue();
  verb.Option("--batch-size", options->batch_size,
              "The batch of the program as it is, where it is not found")
      .Type("N")
      .Positive();
  verb.Option("--batch-arg", options->batch_argument, "An argument that leads with the batch")
      .Type("NAME");
  verb.Option("--capacity", options->capacity,
              "The device's memory where the capture does not say it, such as 16GiB")
      .Type("SIZE");
  verb.Flag("--search", options->search, "Find the changes that make it fit, cheapest first");
  verb.Flag("--largest-batch", options->largest_batch, "Find the largest batch that fits");
  AddOutputOptions(verb, options->output);
  verb.Footer(
      "Changes compose: each maps sizes and lifetimes, then the heap is packed again as the "
      "compiler would. The range is where the truth lies; `fits` is unknown within it.\n"
      "Example: oomdb what-if logs --donate --batch 2x --capacity 16GiB");
  verb.Run([options, &exit_code] {
    AdoptDatabase(&options->paths, &options->database);
    exit_code = Run(*options);
  });
}

}  // namespace oomdb::cli
