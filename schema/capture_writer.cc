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

namespace oomdb::schema {
namespace {

// Issues that the summary carries; all of them are stored.
constexpr size_t kMaxSummaryIssues = 20;

SqlValue OptionalText(const std::optional<std::string>& text) {
  return text.has_value() ? TextOrNull(*text) : SqlValue();
}

std::optional<std::string> MaybeText(const SQLite::Column& cell) {
  return cell.isNull() ? std::nullopt : std::optional(cell.getString());
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
  ingest::ModuleStartsBuilder starts;
  ingest::FailedStartsBuilder failed_starts;
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

std::vector<KnownCapture> CaptureWriter::KnownCaptures() const {
  SQLite::Statement& find = state_->statements.Get(
      "SELECT capture_id, run, host, path FROM captures WHERE content_hash = ? ORDER BY "
      "capture_id");
  find.bind(1, source_.content_hash);
  std::vector<KnownCapture> known;
  while (find.executeStep()) {
    known.push_back({find.getColumn(0).getInt64(), MaybeText(find.getColumn(1)),
                     MaybeText(find.getColumn(2)), find.getColumn(3).getString()});
  }
  find.reset();
  return known;
}

int64_t CaptureWriter::Id(Kind kind, ingest::Index index) {
  if (index < 0) throw Error("the importer refers to a fact with a negative index");
  if (index > largest_reference_[kind]) largest_reference_[kind] = index;
  return base_[kind] + index;
}

std::optional<int64_t> CaptureWriter::Id(Kind kind, const std::optional<ingest::Index>& index) {
  if (!index.has_value()) return std::nullopt;
  return Id(kind, *index);
}

int64_t CaptureWriter::NextId(Kind kind) {
  if (stop_ != nullptr && stop_->load(std::memory_order_relaxed)) {
    throw Error("interrupted; this capture was not stored", ExitCode::kInterrupted);
  }
  return base_[kind] + count_[kind]++;
}

void CaptureWriter::Add(const ingest::CaptureFact& fact) {
  const ingest::InPhase writing(ingest::Phase::kWrite);
  if (capture_.has_value()) throw Error("the importer describes the capture twice");
  capture_ = fact;
}

void CaptureWriter::Add(const ingest::IssueFact& fact) {
  const ingest::InPhase writing(ingest::Phase::kWrite);
  state_->tables.issues.Add({
      {"capture_id", summary_.capture_id},
      {"severity", fact.severity},
      {"what", CleanText(fact.what)},
      {"detail", TextOrNull(fact.detail)},
      {"count", fact.count},
  });
  ++summary_.issue_count;
  summary_.damaged = summary_.damaged || fact.severity == "error";
  if (summary_.issues.size() < kMaxSummaryIssues) summary_.issues.push_back(fact);
}

void CaptureWriter::Add(const ingest::DeviceFact& fact) {
  const ingest::InPhase writing(ingest::Phase::kWrite);
  state_->tables.devices.Add({
      {"device_id", NextId(kDevice)},
      {"capture_id", summary_.capture_id},
      {"ordinal", fact.ordinal},
      {"local_ordinal", fact.local_ordinal},
      {"kind", fact.kind},
      {"name", TextOrNull(fact.name)},
      {"vendor", TextOrNull(fact.vendor)},
      {"memory_bytes", fact.memory_bytes},
  });
}

void CaptureWriter::Add(const ingest::ModuleFact& fact) {
  const ingest::InPhase writing(ingest::Phase::kWrite);
  state_->failed_starts.Add(fact);
  std::optional<int64_t> plan_id;
  if (fact.plan != nullptr) {
    plan_id = state_->plans.Write(fact.hlo_hash, *fact.plan);
    if (fact.changes != nullptr) {
      state_->plans.WriteChanges(*plan_id, *fact.changes);
      if (!fact.changes->why_not.empty())
        Add({"info", "plan_not_replayed", fact.name + ": " + fact.changes->why_not, 1});
    }
    has_plan_ = has_plan_ || fact.plan->has_buffer_assignment;
  }
  state_->tables.modules.Add({
      {"module_id", NextId(kModule)},
      {"capture_id", summary_.capture_id},
      {"plan_id", plan_id},
      {"program_id", fact.program_id},
      {"name", CleanText(fact.name)},
      {"fingerprint", TextOrNull(fact.hlo_hash)},
      {"platform", TextOrNull(fact.platform)},
      {"target", TextOrNull(fact.target)},
      {"execution_count", fact.execution_count},
  });
}

void CaptureWriter::Add(const ingest::AllocatorFact& fact) {
  const ingest::InPhase writing(ingest::Phase::kWrite);
  state_->starts.Add(fact);
  state_->tables.allocators.Add({
      {"allocator_id", NextId(kAllocator)},
      {"capture_id", summary_.capture_id},
      {"device_id", Id(kDevice, fact.device)},
      {"name", CleanText(fact.name)},
      {"capacity_bytes", fact.capacity_bytes},
      {"peak_bytes", fact.peak_bytes},
      {"capture_peak_bytes", fact.capture_peak_bytes},
      {"in_use_first_bytes", fact.in_use_first_bytes},
      {"in_use_last_bytes", fact.in_use_last_bytes},
      {"before_capture_bytes", fact.before_capture_bytes},
      {"allocation_count", fact.allocation_count},
      {"deallocation_count", fact.deallocation_count},
      {"reconciliation_breaks", fact.reconciliation_breaks},
      {"last_available_bytes", fact.last_available_bytes},
      {"last_fragmentation", fact.last_fragmentation},
  });
}

void CaptureWriter::Add(const ingest::ExecutionFact& fact) {
  const ingest::InPhase writing(ingest::Phase::kWrite);
  state_->starts.Add(count_[kExecution], fact);
  state_->failed_starts.Add(count_[kExecution], fact);
  std::optional<int64_t> launched;
  if (fact.launched.has_value()) launched = *fact.launched;
  const int64_t failed = fact.launched.has_value() && !*fact.launched;
  state_->tables.executions.Add({
      {"execution_id", NextId(kExecution)},
      {"capture_id", summary_.capture_id},
      {"device_id", Id(kDevice, fact.device)},
      {"module_id", Id(kModule, fact.module)},
      {"module_name_id", state_->strings.Intern(fact.module_name)},
      {"sequence", fact.sequence},
      {"start_ns", fact.start_ns},
      {"end_ns", fact.end_ns},
      {"launched", launched},
      {"failed", failed},
      {"in_use_at_start_bytes", fact.in_use_at_start_bytes},
      {"peak_in_use_bytes", fact.peak_in_use_bytes},
      {"output_bytes", fact.output_bytes},
      {"temp_bytes", fact.temp_bytes},
      {"wait_ns", fact.wait_ns},
      {"wait_evidence", TextOrNull(fact.wait_evidence)},
      {"retry_count", fact.retry_count},
      {"failed_allocation_index", fact.failed_allocation_index},
      {"thread_id", state_->strings.Intern(fact.thread)},
      {"launch_event_id", Id(kEvent, fact.launch_event)},
  });
}

void CaptureWriter::Add(const ingest::AllocationFact& fact) {
  const ingest::InPhase writing(ingest::Phase::kWrite);
  state_->starts.Add(fact);
  if (state_->failed_starts.WantsAllocations()) {
    // As the views call it where nothing says it.
    const std::string_view origin = fact.origin.empty() ? "unknown" : std::string_view(fact.origin);
    state_->failed_starts.Add(fact, *state_->strings.Intern(origin));
  }
  state_->tables.allocations.Add({
      {"allocation_id", NextId(kAllocation)},
      {"capture_id", summary_.capture_id},
      {"allocator_id", Id(kAllocator, fact.allocator)},
      {"address", fact.address},
      {"requested_bytes", fact.requested_bytes},
      {"bytes", fact.bytes},
      {"alloc_ns", fact.alloc_ns},
      {"free_ns", fact.free_ns},
      {"in_use_after_bytes", fact.in_use_after_bytes},
      {"fragmentation", fact.fragmentation},
      {"execution_id", Id(kExecution, fact.execution)},
      {"module_id", Id(kModule, fact.module)},
      {"allocation_index", fact.allocation_index},
      {"purpose", TextOrNull(fact.purpose)},
      {"origin_id", state_->strings.Intern(fact.origin)},
      {"alloc_event_id", Id(kEvent, fact.alloc_event)},
      {"free_event_id", Id(kEvent, fact.free_event)},
  });
}

void CaptureWriter::Add(const ingest::HostEventFact& fact) {
  const ingest::InPhase writing(ingest::Phase::kWrite);
  // An event or thread may have no name: it is one of the capture's, so `?` rather than a lost row.
  const auto intern = [&](std::string_view text) {
    return state_->strings.Intern(text.empty() ? "?" : text);
  };
  state_->tables.events.Add({
      {"event_id", NextId(kEvent)},
      {"capture_id", summary_.capture_id},
      {"thread_id", intern(fact.thread)},
      {"name_id", intern(fact.name)},
      {"start_ns", fact.start_ns},
      {"end_ns", fact.end_ns},
      {"parent_id", Id(kEvent, fact.parent)},
      {"execution_id", Id(kExecution, fact.execution)},
  });
}

void CaptureWriter::Add(const ingest::GapCallFact& fact) {
  const ingest::InPhase writing(ingest::Phase::kWrite);
  state_->tables.gap_calls.Add({
      {"capture_id", summary_.capture_id},
      {"module_id", Id(kModule, fact.module)},
      {"thread_id", state_->strings.Intern(fact.thread.empty() ? "?" : fact.thread)},
      {"name_id", state_->strings.Intern(fact.name.empty() ? "?" : fact.name)},
      {"caller_id", state_->strings.Intern(fact.caller)},
      {"gaps", fact.gaps},
      {"all_gaps", fact.all_gaps},
      {"calls", fact.calls},
      {"depth", fact.depth},
      {"encloses", static_cast<int64_t>(fact.encloses)},
      {"last_start_ns", fact.last_start_ns},
  });
}

void CaptureWriter::Add(const ingest::OomEventFact& fact) {
  const ingest::InPhase writing(ingest::Phase::kWrite);
  ++summary_.oom_events;
  std::optional<int64_t> fatal;
  if (fact.fatal.has_value()) fatal = *fact.fatal;
  summary_.fatal_oom_events += fatal.value_or(0);
  summary_.advice_oom_events += fatal.value_or(1) == 0;
  state_->tables.oom_events.Add({
      {"oom_event_id", NextId(kOomEvent)},
      {"capture_id", summary_.capture_id},
      {"line", fact.line},
      {"kind", TextOrNull(fact.kind)},
      {"form", TextOrNull(fact.form)},
      {"fatal", fatal},
      {"error_code", TextOrNull(fact.error_code)},
      {"memory_space", TextOrNull(fact.memory_space)},
      {"device", fact.device},
      {"allocator", TextOrNull(fact.allocator)},
      {"module_name", TextOrNull(fact.module_name)},
      {"requested_bytes", fact.requested_bytes},
      {"capacity_bytes", fact.capacity_bytes},
      {"used_bytes", fact.used_bytes},
      {"exceeded_bytes", fact.exceeded_bytes},
      {"total_bytes", fact.total_bytes},
      {"reserved_bytes", fact.reserved_bytes},
      {"program_bytes", fact.program_bytes},
      {"arguments_bytes", fact.arguments_bytes},
      {"temp_bytes", fact.temp_bytes},
      {"output_bytes", fact.output_bytes},
      {"alias_bytes", fact.alias_bytes},
      {"constant_bytes", fact.constant_bytes},
      {"free_bytes", fact.free_bytes},
      {"largest_free_bytes", fact.largest_free_bytes},
      {"fragmentation_bytes", fact.fragmentation_bytes},
      {"tensor_core_bytes", fact.tensor_core_bytes},
      {"sparse_core_bytes", fact.sparse_core_bytes},
      {"device_free_bytes", fact.device_free_bytes},
      {"device_bytes", fact.device_bytes},
      {"pool_bytes", fact.pool_bytes},
      {"peak_bytes", fact.peak_bytes},
      {"largest_request_bytes", fact.largest_request_bytes},
      {"temp_unpadded_bytes", fact.temp_unpadded_bytes},
      {"repeat_count", fact.repeat_count},
      {"rank_name", TextOrNull(fact.rank_name)},
      {"rank_count", fact.rank_count},
      {"message", TextOrNull(fact.message)},
  });
}

void CaptureWriter::Add(const ingest::OomBufferFact& fact) {
  const ingest::InPhase writing(ingest::Phase::kWrite);
  state_->tables.oom_buffers.Add({
      {"oom_event_id", Id(kOomEvent, fact.event)},
      {"position", fact.position},
      {"bytes", fact.bytes},
      {"unpadded_bytes", fact.unpadded_bytes},
      {"padding_bytes", fact.padding_bytes},
      {"shape", TextOrNull(fact.shape)},
      {"op_name", TextOrNull(fact.op_name)},
      {"source_file", TextOrNull(fact.source_file)},
      {"source_line", fact.source_line},
      {"label", TextOrNull(fact.label)},
      {"allocation_type", TextOrNull(fact.allocation_type)},
      {"plain_shape", TextOrNull(fact.plain_shape)},
      {"dense_bytes", fact.dense_bytes},
      {"tiled_bytes", fact.tiled_bytes},
      {"count", fact.count},
  });
}

void CaptureWriter::Add(const ingest::OomChunkFact& fact) {
  const ingest::InPhase writing(ingest::Phase::kWrite);
  state_->tables.oom_chunks.Add({
      {"oom_event_id", Id(kOomEvent, fact.event)},
      {"position", fact.position},
      {"region", fact.region},
      {"address", fact.address},
      {"bytes", fact.bytes},
      {"in_use", static_cast<int64_t>(fact.in_use)},
      {"op_name", TextOrNull(fact.op_name)},
  });
}

void CaptureWriter::Add(const ingest::ProfileSampleFact& fact) {
  const ingest::InPhase writing(ingest::Phase::kWrite);
  ++summary_.samples;
  state_->tables.samples.Add({
      {"capture_id", summary_.capture_id},
      {"kind", TextOrNull(fact.kind)},
      {"device", TextOrNull(fact.device)},
      {"bytes", fact.bytes},
      {"count", fact.count},
      {"stack", TextOrNull(fact.stack)},
      {"source_file", TextOrNull(fact.source_file)},
      {"source_line", fact.source_line},
      {"function_name", TextOrNull(fact.function_name)},
  });
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

void CaptureWriter::MoveLabelsOfNoCapture(const std::string& from, const std::string& to) {
  for (const char* sql :
       {"UPDATE OR IGNORE run_labels SET run = ?2 WHERE run = ?1 AND NOT EXISTS (SELECT 1 FROM "
        "captures c WHERE c.run = ?1)",
        // What the new run says itself stays.
        "DELETE FROM run_labels WHERE run = ?1 AND run <> ?2 AND NOT EXISTS (SELECT 1 FROM "
        "captures c WHERE c.run = ?1)"}) {
    SQLite::Statement& move = state_->statements.Get(sql);
    move.bind(1, from);
    move.bind(2, to);
    move.exec();
    move.reset();
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
  for (const ingest::ModuleStarts& module : state_->starts.Build()) {
    const int64_t device_id = Id(kDevice, module.device);
    const int64_t module_id = Id(kModule, module.module);
    state_->tables.module_starts.Add({
        {"capture_id", summary_.capture_id},
        {"device_id", device_id},
        {"module_id", module_id},
        {"allocator_id", Id(kAllocator, module.allocator)},
        {"executions", module.executions},
        {"first_start_ns", module.first_start_ns},
        {"last_start_ns", module.last_start_ns},
        {"first_in_use_bytes", module.first_in_use_bytes},
        {"last_in_use_bytes", module.last_in_use_bytes},
        {"floor_rise_bytes", module.floor_rise_bytes},
        {"fell_before", int64_t{module.fell_before}},
        {"recurs", int64_t{module.recurs}},
        {"survivor_bytes", whole ? SqlValue(module.survivor_bytes) : SqlValue()},
        {"own_output_bytes", whole ? SqlValue(module.own_output_bytes) : SqlValue()},
    });
    for (const ingest::StartRise& rise : module.rises) {
      state_->tables.start_rises.Add({
          {"capture_id", summary_.capture_id},
          {"device_id", device_id},
          {"module_id", module_id},
          {"place", rise.place},
          {"rise_bytes", rise.rise_bytes},
          {"kept_bytes", whole ? SqlValue(rise.kept_bytes) : SqlValue()},
      });
    }
  }
}

void CaptureWriter::WriteFailedLive() {
  // On a truncated capture nothing is known to have failed.
  if (capture_->truncated) return;
  for (const ingest::FailedLive& group : state_->failed_starts.Build(state_->starts.Pools())) {
    state_->tables.failed_live.Add({
        {"capture_id", summary_.capture_id},
        {"execution_id", Id(kExecution, group.execution)},
        {"origin_id", group.origin_id},
        {"bytes", group.bytes},
        {"count", group.count},
    });
  }
}

CaptureSummary CaptureWriter::Commit(const std::map<std::string, std::string>& labels) {
  const ingest::InPhase writing(ingest::Phase::kWrite);
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
  state_->tables.captures.Add({
      {"capture_id", summary_.capture_id},
      {"run", OptionalText(summary_.run)},
      {"host", OptionalText(summary_.host)},
      {"process_index", capture_->process_index},
      {"path", CleanText(source_.path)},
      {"content_hash", source_.content_hash},
      {"bytes", source_.bytes},
      {"kind", summary_.kind},
      {"status", std::string(summary_.truncated ? "truncated" : "complete")},
      {"format_note", TextOrNull(note)},
      {"jax_version", TextOrNull(capture_->jax_version)},
      {"started_unix_ns", capture_->started_unix_ns},
      {"duration_ns", capture_->duration_ns},
      {"ingested_unix_ns", NowUnixNs()},
      {"ingester_version", std::string(kVersion)},
  });
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
  const ingest::InPhase writing(ingest::Phase::kWrite);
  SQLite::Statement& find =
      state_->statements.Get("SELECT kind, status, run, host FROM captures WHERE capture_id = ?");
  find.bind(1, capture_id);
  if (!find.executeStep()) throw Error("the capture is gone");
  summary_.capture_id = capture_id;
  summary_.already_there = true;
  summary_.kind = find.getColumn(0).getString();
  summary_.truncated = find.getColumn(1).getString() == "truncated";
  summary_.run = MaybeText(find.getColumn(2));
  summary_.host = MaybeText(find.getColumn(3));
  find.reset();
  // Whether `name` becomes another one by what is given; `previous` is what it was.
  const auto renames = [](const std::optional<std::string>& given, std::optional<std::string>& name,
                          std::optional<std::string>& previous) {
    if (!given.has_value() || name == CleanText(*given)) return false;
    previous = std::exchange(name, CleanText(*given));
    return true;
  };
  summary_.run_changed = renames(run, summary_.run, summary_.previous_run);
  summary_.host_changed = renames(host, summary_.host, summary_.previous_host);
  // Nothing new said of it: then nothing is written, and nothing synced to disk.
  if (summary_.run_changed || summary_.host_changed) {
    SQLite::Statement& update =
        state_->statements.Get("UPDATE captures SET run = ?1, host = ?2 WHERE capture_id = ?3");
    const auto bind = [&update](int index, const std::optional<std::string>& text) {
      text.has_value() ? update.bind(index, *text) : update.bind(index);
    };
    bind(1, summary_.run);
    bind(2, summary_.host);
    update.bind(3, capture_id);
    update.exec();
    update.reset();
    if (summary_.previous_run.has_value())
      MoveLabelsOfNoCapture(*summary_.previous_run, *summary_.run);
  }
  WriteLabels(summary_.run, labels);
  state_->Commit();
  return summary_;
}

}  // namespace oomdb::schema
