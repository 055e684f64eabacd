#include "schema/capture_writer.h"

#include <SQLiteCpp/SQLiteCpp.h>
#include <fmt/format.h>

#include <chrono>
#include <string_view>
#include <utility>

#include "ingest/base/phases.h"
#include "ingest/derived/failed_starts.h"
#include "ingest/derived/module_starts.h"
#include "ingest/plan/plan.h"
#include "schema/bulk_insert.h"
#include "schema/capture_tables.h"
#include "schema/plan_writer.h"
#include "schema/statement_cache.h"
#include "schema/string_table.h"
#include "schema/text.h"
#include "schema/version.h"

namespace oomdb {
namespace {

// Issues that the summary carries; all of them are stored.
constexpr size_t kMaxSummaryIssues = 20;

SqlValue OptionalText(const std::optional<std::string>& text) {
  return text.has_value() ? TextOrNull(*text) : SqlValue();
}

int64_t NowUnixNs() {
  using std::chrono::system_clock;
  return std::chrono::duration_cast<std::chrono::nanoseconds>(
             system_clock::now().time_since_epoch())
      .count();
}

// A capture within the transaction of a group, which is undone unless it is committed.
class CaptureOfGroup {
 public:
  CaptureOfGroup(SQLite::Database& connection, WriteGroup& group) : connection_(connection) {
    group.Begin();
    connection_.exec("SAVEPOINT capture");
  }
  ~CaptureOfGroup() {
    // Where the database undid the whole group there is nothing left to undo.
    if (!committed_) connection_.tryExec("ROLLBACK TO capture; RELEASE capture");
  }
  CaptureOfGroup(const CaptureOfGroup&) = delete;
  CaptureOfGroup& operator=(const CaptureOfGroup&) = delete;

  void Commit() {
    connection_.exec("RELEASE capture");
    committed_ = true;
  }

 private:
  SQLite::Database& connection_;
  bool committed_ = false;
};

}  // namespace

// Everything that lives only as long as the transaction.
struct CaptureWriter::State {
  State(Database& database, WriteGroup* group)
      : statements(database.statements()),
        own_group(database),
        // The destructor of the group comes after that of the capture.
        group(group != nullptr ? *group : own_group),
        capture(database.connection(), this->group),
        strings(statements),
        plans(statements, strings),
        tables(statements) {}

  int64_t FirstFreeId(const char* table, const char* column) {
    return statements.Number(fmt::format("SELECT COALESCE(MAX({}), 0) + 1 FROM {}", column, table));
  }

  // What is alone is a group of one.
  void Commit() {
    capture.Commit();
    if (&group == &own_group) group.Commit();
  }

  StatementCache& statements;
  WriteGroup own_group;
  WriteGroup& group;
  CaptureOfGroup capture;
  StringTable strings;
  PlanWriter plans;
  CaptureTables tables;
  ModuleStartsBuilder starts;
  FailedStartsBuilder failed_starts;
};

CaptureWriter::CaptureWriter(Database& database, CaptureSource source,
                             const std::atomic<bool>* stop, WriteGroup* group)
    : state_(std::make_unique<State>(database, group)), source_(std::move(source)), stop_(stop) {
  summary_.capture_id = state_->FirstFreeId("captures", "capture_id");
  base_[kDevice] = state_->FirstFreeId("devices", "device_id");
  base_[kModule] = state_->FirstFreeId("stored_modules", "module_id");
  base_[kAllocator] = state_->FirstFreeId("allocators", "allocator_id");
  base_[kExecution] = state_->FirstFreeId("stored_executions", "execution_id");
  base_[kAllocation] = state_->FirstFreeId("stored_allocations", "allocation_id");
  base_[kEvent] = state_->FirstFreeId("stored_host_events", "event_id");
  base_[kOomEvent] = state_->FirstFreeId("oom_events", "oom_event_id");
  largest_reference_.fill(-1);
}

CaptureWriter::~CaptureWriter() = default;

std::optional<int64_t> CaptureWriter::KnownCapture() const {
  SQLite::Statement& find =
      state_->statements.Get("SELECT capture_id FROM captures WHERE content_hash = ?");
  find.bind(1, source_.content_hash);
  std::optional<int64_t> known;
  if (find.executeStep()) known = find.getColumn(0).getInt64();
  find.reset();
  return known;
}

int64_t CaptureWriter::Id(Kind kind, Index index) {
  if (index < 0) throw Error("the importer refers to a fact with a negative index");
  if (index > largest_reference_[kind]) largest_reference_[kind] = index;
  return base_[kind] + index;
}

std::optional<int64_t> CaptureWriter::Id(Kind kind, const std::optional<Index>& index) {
  if (!index.has_value()) return std::nullopt;
  return Id(kind, *index);
}

int64_t CaptureWriter::NextId(Kind kind) {
  if (stop_ != nullptr && stop_->load(std::memory_order_relaxed)) {
    throw Error("interrupted; this capture was not stored", ExitCode::kInterrupted);
  }
  return base_[kind] + count_[kind]++;
}

void CaptureWriter::Add(const CaptureFact& fact) {
  const InPhase writing(Phase::kWrite);
  if (capture_.has_value()) throw Error("the importer describes the capture twice");
  capture_ = fact;
}

void CaptureWriter::Add(const IssueFact& fact) {
  const InPhase writing(Phase::kWrite);
  state_->tables.issues.Add({summary_.capture_id, fact.severity, CleanText(fact.what),
                             TextOrNull(fact.detail), fact.count});
  ++summary_.issue_count;
  summary_.damaged = summary_.damaged || fact.severity == "error";
  if (summary_.issues.size() < kMaxSummaryIssues) summary_.issues.push_back(fact);
}

void CaptureWriter::Add(const DeviceFact& fact) {
  const InPhase writing(Phase::kWrite);
  state_->tables.devices.Add({NextId(kDevice), summary_.capture_id, fact.ordinal,
                              fact.local_ordinal, fact.kind, TextOrNull(fact.name),
                              TextOrNull(fact.vendor), fact.memory_bytes});
}

void CaptureWriter::Add(const ModuleFact& fact) {
  const InPhase writing(Phase::kWrite);
  state_->failed_starts.Add(fact);
  std::optional<int64_t> plan_id;
  if (fact.plan != nullptr) {
    plan_id = state_->plans.Write(fact.hlo_hash, *fact.plan);
    has_plan_ = has_plan_ || fact.plan->has_buffer_assignment;
  }
  state_->tables.modules.Add({NextId(kModule), summary_.capture_id, plan_id, fact.program_id,
                              CleanText(fact.name), TextOrNull(fact.hlo_hash),
                              TextOrNull(fact.platform), fact.execution_count});
}

void CaptureWriter::Add(const AllocatorFact& fact) {
  const InPhase writing(Phase::kWrite);
  state_->starts.Add(fact);
  state_->tables.allocators.Add(
      {NextId(kAllocator), summary_.capture_id, Id(kDevice, fact.device), CleanText(fact.name),
       fact.capacity_bytes, fact.peak_bytes, fact.capture_peak_bytes, fact.in_use_first_bytes,
       fact.in_use_last_bytes, fact.before_capture_bytes, fact.allocation_count,
       fact.deallocation_count, fact.reconciliation_breaks, fact.last_available_bytes,
       fact.last_fragmentation});
}

void CaptureWriter::Add(const ExecutionFact& fact) {
  const InPhase writing(Phase::kWrite);
  state_->starts.Add(count_[kExecution], fact);
  state_->failed_starts.Add(count_[kExecution], fact);
  std::optional<int64_t> launched;
  if (fact.launched.has_value()) launched = *fact.launched;
  const int64_t failed = fact.launched.has_value() && !*fact.launched;
  state_->tables.executions.Add({NextId(kExecution),
                                 summary_.capture_id,
                                 Id(kDevice, fact.device),
                                 Id(kModule, fact.module),
                                 state_->strings.Intern(fact.module_name),
                                 fact.sequence,
                                 fact.start_ns,
                                 fact.end_ns,
                                 launched,
                                 failed,
                                 fact.in_use_at_start_bytes,
                                 fact.peak_in_use_bytes,
                                 fact.output_bytes,
                                 fact.temp_bytes,
                                 fact.wait_ns,
                                 TextOrNull(fact.wait_evidence),
                                 fact.retry_count,
                                 fact.failed_allocation_index,
                                 state_->strings.Intern(fact.thread),
                                 Id(kEvent, fact.launch_event)});
}

void CaptureWriter::Add(const AllocationFact& fact) {
  const InPhase writing(Phase::kWrite);
  state_->starts.Add(fact);
  if (state_->failed_starts.WantsAllocations()) {
    // As the views call it where nothing says it.
    const std::string_view origin = fact.origin.empty() ? "unknown" : std::string_view(fact.origin);
    state_->failed_starts.Add(fact, *state_->strings.Intern(origin));
  }
  state_->tables.allocations.Add(
      {NextId(kAllocation), summary_.capture_id, Id(kAllocator, fact.allocator), fact.address,
       fact.requested_bytes, fact.bytes, fact.alloc_ns, fact.free_ns, fact.in_use_after_bytes,
       fact.fragmentation, Id(kExecution, fact.execution), Id(kModule, fact.module),
       fact.allocation_index, TextOrNull(fact.purpose), state_->strings.Intern(fact.origin),
       Id(kEvent, fact.alloc_event), Id(kEvent, fact.free_event)});
}

void CaptureWriter::Add(const HostEventFact& fact) {
  const InPhase writing(Phase::kWrite);
  // An event or thread may have no name: it is one of the capture's, so `?` rather than a lost row.
  const auto intern = [&](std::string_view text) {
    return state_->strings.Intern(text.empty() ? "?" : text);
  };
  state_->tables.events.Add({NextId(kEvent), summary_.capture_id, intern(fact.thread),
                             intern(fact.name), fact.start_ns, fact.end_ns, Id(kEvent, fact.parent),
                             Id(kExecution, fact.execution)});
}

void CaptureWriter::Add(const OomEventFact& fact) {
  const InPhase writing(Phase::kWrite);
  ++summary_.oom_events;
  std::optional<int64_t> fatal;
  if (fact.fatal.has_value()) fatal = *fact.fatal;
  summary_.fatal_oom_events += fatal.value_or(0);
  summary_.advice_oom_events += fatal.value_or(1) == 0;
  state_->tables.oom_events.Add({NextId(kOomEvent),
                                 summary_.capture_id,
                                 fact.line,
                                 TextOrNull(fact.kind),
                                 TextOrNull(fact.form),
                                 fatal,
                                 TextOrNull(fact.error_code),
                                 TextOrNull(fact.memory_space),
                                 fact.device,
                                 TextOrNull(fact.allocator),
                                 TextOrNull(fact.module_name),
                                 fact.requested_bytes,
                                 fact.capacity_bytes,
                                 fact.used_bytes,
                                 fact.exceeded_bytes,
                                 fact.total_bytes,
                                 fact.reserved_bytes,
                                 fact.program_bytes,
                                 fact.arguments_bytes,
                                 fact.temp_bytes,
                                 fact.output_bytes,
                                 fact.alias_bytes,
                                 fact.constant_bytes,
                                 fact.free_bytes,
                                 fact.largest_free_bytes,
                                 fact.fragmentation_bytes,
                                 fact.tensor_core_bytes,
                                 fact.sparse_core_bytes,
                                 fact.repeat_count,
                                 TextOrNull(fact.message)});
}

void CaptureWriter::Add(const OomBufferFact& fact) {
  const InPhase writing(Phase::kWrite);
  state_->tables.oom_buffers.Add({Id(kOomEvent, fact.event), fact.position, fact.bytes,
                                  fact.unpadded_bytes, fact.padding_bytes, TextOrNull(fact.shape),
                                  TextOrNull(fact.op_name), TextOrNull(fact.source_file),
                                  fact.source_line, TextOrNull(fact.label),
                                  TextOrNull(fact.allocation_type), TextOrNull(fact.plain_shape),
                                  fact.dense_bytes, fact.tiled_bytes, fact.count});
}

void CaptureWriter::Add(const OomChunkFact& fact) {
  const InPhase writing(Phase::kWrite);
  state_->tables.oom_chunks.Add({Id(kOomEvent, fact.event), fact.position, fact.region,
                                 fact.address, fact.bytes, static_cast<int64_t>(fact.in_use),
                                 TextOrNull(fact.op_name)});
}

void CaptureWriter::Add(const ProfileSampleFact& fact) {
  const InPhase writing(Phase::kWrite);
  ++summary_.samples;
  state_->tables.samples.Add({summary_.capture_id, TextOrNull(fact.kind), TextOrNull(fact.device),
                              fact.bytes, fact.count, TextOrNull(fact.stack),
                              TextOrNull(fact.source_file), fact.source_line,
                              TextOrNull(fact.function_name)});
}

void CaptureWriter::WriteLabels(const std::optional<std::string>& run,
                                const std::map<std::string, std::string>& labels) {
  if (labels.empty()) return;
  if (!run.has_value()) throw Error("--label needs a run: name it with --run", ExitCode::kUsage);
  SQLite::Statement& insert = state_->statements.Get(
      "INSERT INTO run_labels (run, name, label) VALUES (?, ?, ?) ON "
      "CONFLICT (run, name) DO UPDATE SET label = excluded.label");
  for (const auto& [name, label] : labels) {
    insert.bind(1, CleanText(*run));
    insert.bind(2, CleanText(name));
    insert.bind(3, CleanText(label));
    insert.exec();
    insert.reset();
  }
}

void CaptureWriter::CheckReferences() const {
  static constexpr const char* kNames[kKinds] = {
      "device", "module", "allocator", "execution", "allocation", "host event", "OOM event"};
  for (int kind = 0; kind < kKinds; ++kind) {
    if (largest_reference_[kind] >= count_[kind]) {
      throw Error(fmt::format("the importer refers to {} {}, of {}", kNames[kind],
                              largest_reference_[kind], count_[kind]));
    }
  }
}

void CaptureWriter::Flush() {
  state_->strings.Flush();
  state_->plans.Flush();
  state_->tables.Flush();
}

void CaptureWriter::WriteStarts() {
  // What a truncated capture doesn't hold may have been freed.
  const bool whole = !capture_->truncated;
  for (const ModuleStarts& module : state_->starts.Build()) {
    const int64_t device_id = Id(kDevice, module.device);
    const int64_t module_id = Id(kModule, module.module);
    state_->tables.module_starts.Add(
        {summary_.capture_id, device_id, module_id, Id(kAllocator, module.allocator),
         module.executions, module.first_start_ns, module.last_start_ns, module.first_in_use_bytes,
         module.second_in_use_bytes, module.last_in_use_bytes, module.rise_bytes,
         module.low_rise_bytes, module.median_bytes, module.settled_median_bytes,
         whole ? SqlValue(module.survivor_bytes) : SqlValue(),
         whole ? SqlValue(module.own_output_bytes) : SqlValue()});
    if (!module.Rises()) continue;
    int64_t place = 0;
    for (const StartStep& step : module.steps) {
      state_->tables.start_steps.Add({summary_.capture_id, device_id, module_id, ++place,
                                      step.step_bytes, whole ? step.kept_bytes : int64_t{0}});
    }
  }
}

void CaptureWriter::WriteFailedLive() {
  // On a truncated capture nothing is known to have failed.
  if (capture_->truncated) return;
  for (const FailedLive& group : state_->failed_starts.Build(state_->starts.Pools())) {
    state_->tables.failed_live.Add({summary_.capture_id, Id(kExecution, group.execution),
                                    group.origin_id, group.bytes, group.count});
  }
}

CaptureSummary CaptureWriter::Commit(const std::map<std::string, std::string>& labels) {
  const InPhase writing(Phase::kWrite);
  if (!capture_.has_value()) throw Error("the importer did not describe the capture");
  CheckReferences();
  WriteStarts();
  WriteFailedLive();
  std::string note = capture_->format_note;
  if (!source_.compression.empty()) note = source_.compression + (note.empty() ? "" : "; " + note);
  const std::optional<std::string> own_host =
      capture_->own_host.empty() ? std::nullopt : std::optional(capture_->own_host);
  summary_.kind = capture_->kind;
  summary_.truncated = capture_->truncated;
  summary_.run = source_.run;
  summary_.host = source_.host.has_value() ? source_.host : own_host;
  state_->tables.captures.Add(
      {summary_.capture_id, OptionalText(summary_.run), OptionalText(summary_.host),
       capture_->process_index, CleanText(source_.path), source_.content_hash, source_.bytes,
       summary_.kind, std::string(summary_.truncated ? "truncated" : "complete"), TextOrNull(note),
       TextOrNull(capture_->jax_version), capture_->started_unix_ns, capture_->duration_ns,
       NowUnixNs(), std::string(kVersion)});
  Flush();
  WriteLabels(summary_.run, labels);
  state_->Commit();
  summary_.devices = count_[kDevice];
  summary_.modules = count_[kModule];
  summary_.executions = count_[kExecution];
  summary_.allocations = count_[kAllocation];
  summary_.events = count_[kEvent];
  return summary_;
}

CaptureSummary CaptureWriter::CommitKnown(int64_t capture_id, const std::optional<std::string>& run,
                                          const std::optional<std::string>& host,
                                          const std::map<std::string, std::string>& labels) {
  const InPhase writing(Phase::kWrite);
  // Nothing new said of it: then nothing is written, and nothing synced to disk.
  const bool changes = run.has_value() || host.has_value();
  SQLite::Statement& update = state_->statements.Get(
      changes ? "UPDATE captures SET run = COALESCE(?1, run), host = COALESCE(?2, host) WHERE "
                "capture_id = ?3 RETURNING kind, status, run, host"
              : "SELECT kind, status, run, host FROM captures WHERE capture_id = ?3");
  if (run.has_value()) update.bind(1, CleanText(*run));
  if (host.has_value()) update.bind(2, CleanText(*host));
  update.bind(3, capture_id);
  if (!update.executeStep()) throw Error("the capture is gone");
  const auto text = [&](int column) {
    const SQLite::Column cell = update.getColumn(column);
    return cell.isNull() ? std::nullopt : std::optional(cell.getString());
  };
  summary_.capture_id = capture_id;
  summary_.already_there = true;
  summary_.kind = *text(0);
  summary_.truncated = *text(1) == "truncated";
  summary_.run = text(2);
  summary_.host = text(3);
  update.executeStep();
  update.reset();
  WriteLabels(summary_.run, labels);
  state_->Commit();
  return summary_;
}

}  // namespace oomdb
