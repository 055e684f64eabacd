// What a report says, before it is written as text, Markdown or JSON: one reading of a database for
// people.
//
// Everything is read through the public tables and views, so that whoever doubts a number can ask
// for it in SQL; all of it, so that JSON is whole: what a page leaves out is the page's matter.
// Sizes are bytes, times nanoseconds; what is unknown is std::nullopt.
#ifndef OOMDB_CLI_REPORT_MODEL_H_
#define OOMDB_CLI_REPORT_MODEL_H_

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "schema/database.h"

namespace oomdb::cli {

struct ReportRemedy {
  std::string fix;
  std::optional<int64_t> saving_bytes;
  std::optional<int64_t> needs_bytes;
  std::optional<bool> fits;
  std::optional<bool> likely;  // Where `fits` is not known.
  std::string cost;
  std::optional<bool> changes_results;
  std::string evidence;
  std::string remedy = {};  // Its key, as in remedy_kinds.
  // The range in which what is needed lies; not known of a remedy that was not replayed.
  std::optional<int64_t> needs_low_bytes = {};
  std::optional<int64_t> needs_high_bytes = {};
};

// yes, no, likely, ? (too near to tell, and more likely not), or nothing.
std::string_view FitsWord(const ReportRemedy& remedy);

// "≈ 1.55 GiB", by a replay of the plan; "≤ 1.55 GiB", a bound; empty: not known.
std::string SavingWords(const ReportRemedy& remedy);

struct ReportItem {
  std::string kind;
  std::string label;
  std::optional<int64_t> bytes;
  std::optional<int64_t> count;
};

struct ReportFinding {
  std::string finding_id;
  int64_t capture_id = 0;
  std::string run, host;
  std::string rule;
  std::string rule_title;  // What kind of finding: "the step itself does not fit".
  int rank = 0;            // Of its rule.
  bool is_hint = false;    // A suggestion, never what a report is about.
  std::string severity;    // error, warning, info
  std::string evidence;    // measured, read, inferred
  std::string title;       // As the database has it.
  std::string detail;
  std::string title_text;  // For people.
  std::string detail_text;
  std::string brief_text = {};  // The detail without what the items list.
  bool is_explained = false;    // Another finding says why: no more than its title is news.
  bool is_symptom = false;      // Of these: how it was seen, which its detail says.
  std::optional<int64_t> device;
  std::optional<int64_t> module_id;
  std::string module_name;
  std::optional<int64_t> bytes;
  std::string verdict = {};         // A report's first words where it leads; empty: it never does.
  std::string incident_id = {};     // The failure that it belongs to; empty: none.
  std::string bytes_evidence = {};  // A plan is read, however its failure is known.
  std::vector<ReportItem> items = {};
  std::vector<ReportRemedy> remedies = {};
};

// One line of the table of captures.
struct ReportCapture {
  int64_t capture_id = 0;
  std::string name =
      {};  // Run and host; else, where these repeat, what tells its path from theirs.
  std::string run, host, path, kind, status, format_note, jax_version;
  std::optional<int64_t> duration_ns;
  std::optional<int64_t> started_unix_ns = {};
  int64_t bytes = 0;
  int64_t device_count = 0;
  std::string device_kind;
  int64_t module_count = 0;
  int64_t execution_count = 0;
  int64_t failed_count = 0;
  bool has_allocators = false;
  int64_t error_count = 0, warning_count = 0;
  int64_t largest_plan_bytes = 0;
  bool damaged = false;  // A part of it was unreadable.
  std::string worst_title = {};
  std::string worst_verdict = {};
  // What was skipped or doubted: "warning: ..."; info is left out.
  std::vector<std::string> issues = {};
};

struct ReportRole {
  std::string role;
  int64_t bytes = 0;
};

struct ReportGroup {
  int64_t bytes = 0;
  int64_t count = 0;
  std::string shape;
  std::string role = {};  // forward, backward, workspace, other; or parameter, output, constant.
  bool rematerialized = false;
  std::string op_name;
  std::string source_file;
  std::optional<int64_t> source_line;
  std::string function_name = {};
  std::vector<std::string> stack = {};        // All Python frames of one of them, innermost first.
  std::optional<int64_t> padding_bytes = {};  // Of an error log's buffers: what tiles add.
};

struct ReportSpace {
  std::string name;
  int64_t memory_space = 0;
  int64_t bytes = 0;
};

// A step of what makes the plan fit, as in the view advice: with those before it.
struct ReportStep {
  std::string remedy, step;
  std::optional<int64_t> needs_bytes;
  std::optional<int64_t> spare_bytes;  // Negative: still missing.
  std::optional<bool> fits, likely;
};

// What memory at the peak is for, as in the view memory_anatomy.
struct ReportKind {
  int64_t memory_space = 0;
  std::string kind;
  int64_t bytes = 0;
  int64_t percent = 0;
  int64_t count = 0;
  int64_t largest_bytes = 0;
  std::string largest_name;
  std::string evidence;
};

// Memory that does little, as in the view waste.
struct ReportWaste {
  std::string kind;
  std::string label;
  int64_t bytes = 0, weight_bytes = 0;
  int64_t count = 0;
  std::string shape;
  std::string made_by;  // The Python line, else the JAX operation, else the instruction.
  std::string partner;  // Of what reads it next, or what it repeats; as made_by.
  std::optional<int64_t> idle_percent;
  std::optional<int64_t> dimension, padded_from, padded_to;
  std::string evidence;
};

// Another module of the device beside the shown one, as in the view co_residency.
struct ReportNeighbour {
  std::string label;
  std::string name;  // The other module's.
  std::optional<int64_t> needs_low_bytes;
  int64_t needs_high_bytes = 0;
  std::optional<int64_t> capacity_bytes;
  std::optional<bool> shared;
  std::optional<bool> fits;
};

struct ReportPlan {
  int64_t module_id = 0;
  std::string name;
  std::optional<int64_t> program_id;
  bool has_plan = false;
  bool classes_known = true;  // False: of the sizes only the total is known.
  int64_t parameter_count = 0, parameter_bytes = 0, donated_parameter_count = 0, donated_bytes = 0;
  int64_t output_bytes = 0, constant_bytes = 0, temp_bytes = 0, plan_bytes = 0, peak_bytes = 0;
  std::optional<int64_t> heap_peak_bytes;
  std::optional<int64_t> remat_instruction_count;
  std::optional<int64_t> remat_compute_count;  // Without those that cost nothing.
  std::optional<int64_t> capacity_bytes;
  std::string capacity_source, capacity_evidence;
  std::optional<int64_t> memory_bytes;
  std::vector<ReportRole> roles;    // Of the temps at the heap peak, largest first.
  std::vector<ReportGroup> groups;  // At the peak, parameters and outputs too, largest first.
  std::vector<ReportSpace> other_spaces;
  std::vector<ReportStep> advice;           // In their order; of one device.
  std::vector<ReportKind> anatomy;          // By memory space, most bytes first.
  std::vector<ReportWaste> waste;           // Most weight first.
  std::vector<ReportNeighbour> neighbours;  // Most bytes together first.

  std::string Label() const;  // jit_f(7)
};

struct ReportLiveGroup {
  std::string origin;  // Of several executions: "outputs of jit_f executions 1–9".
  int64_t bytes = 0;
  int64_t count = 0;
};

// The module's executions on one device.
struct ReportDevice {
  std::optional<int64_t> device_id;
  std::optional<int64_t> ordinal;
  std::string kind;
  std::string allocator;
  std::optional<int64_t> capacity_bytes, memory_bytes, peak_bytes, capture_peak_bytes;
  int64_t execution_count = 0;
  int64_t failed_count = 0;
  std::vector<int64_t> in_use_at_starts = {};  // Of the module's executions, in order.
  std::vector<int64_t> failed_sequences = {};
  int64_t wait_count = 0, longest_wait_ns = 0;
  std::string wait_evidence = {};
  std::optional<int64_t> last_execution_id = {};
};

// An allocator, where no module's executions tell of it: a host pool, or a program without compiled
// modules.
struct ReportAllocator {
  std::string name;
  std::optional<int64_t> capacity_bytes, capture_peak_bytes, in_use_last_bytes;
  int64_t allocation_count = 0;
  std::vector<ReportLiveGroup> live;  // At the capture's end, largest first.
};

// What a Python line holds, by a device memory profile.
struct ReportProfileLine {
  std::string kind, device;
  std::string source_file;  // Empty: no frame outside installed packages.
  std::optional<int64_t> source_line;
  std::string function_name;
  std::optional<int64_t> bytes;
  int64_t count = 0;
};

struct ReportProfile {
  std::string path;
  int64_t buffer_bytes = 0;
  int64_t buffer_count = 0;
  int64_t executable_count = 0;
  std::optional<int64_t> executable_bytes;  // Their code; not every backend says it.
  std::vector<ReportProfileLine> lines;     // Of buffers; largest first.
};

// What the launching thread called between the executions of the module.
struct ReportGapCall {
  std::string event, caller;
  int64_t gaps = 0;  // In how many gaps between two executions, of all there are.
  int64_t all_gaps = 0;
  std::optional<bool> only_host;  // No other host of the job called it.
};

struct ReportRun {
  std::vector<ReportDevice> devices;   // By ordinal.
  size_t shown = 0;                    // The device whose details follow.
  std::vector<ReportLiveGroup> live;   // At its last start, largest first.
  std::vector<ReportGapCall> between;  // Containers' calls first, then the latest.
};

// One failure or piece of advice of an error log.
struct ReportErrorEvent {
  std::optional<int64_t> line;
  std::string kind;           // T1, G3, A2, ...
  std::optional<bool> fatal;  // std::nullopt: the text does not say.
  std::string memory_space, allocator, message;
  int64_t repeat_count = 1;
};

// A number that an error log states, in the words of the section.
struct ReportErrorNumber {
  std::string key;    // Its column in oom_events; needed_bytes, short_bytes: in oom_failures.
  std::string name;   // "needs", "arguments", ...
  std::string words;  // What it is, where the name does not say it.
  int64_t bytes = 0;
};

// An error log of the shown capture's run: what it says of its main failure.
struct ReportErrorLog {
  int64_t capture_id = 0;
  std::string path;
  std::vector<ReportErrorEvent> events;  // By line, all of them.
  bool failed = false;                   // It tells of a failure, not only of statistics.
  std::optional<size_t> main;            // The event whose numbers and buffers follow.
  std::vector<ReportErrorNumber> numbers;
  std::vector<ReportGroup> buffers;  // That the text lists, equal ones together, largest first.
};

// What can't be told for want of evidence, and what would tell.
struct ReportOpenQuestion {
  int64_t capture_id = 0;
  std::optional<int64_t> device_id, module_id;
  std::string title;  // "whether …"
  std::string tell;
};

struct Report {
  // Of those read; null: not among them.
  const ReportCapture* CaptureOf(int64_t capture_id) const;

  std::vector<ReportCapture> captures;  // By run and host.
  size_t shown = 0;                     // The capture whose plan and run follow.
  std::vector<ReportFinding> findings;  // Of all captures, worst first.
  std::optional<ReportPlan> plan;
  std::optional<ReportRun> run;
  std::vector<ReportErrorLog> logs;         // The shown capture's own, else those of its run.
  std::vector<ReportAllocator> allocators;  // Of the shown capture, where the run tells of none.
  std::optional<ReportProfile> profile;     // The shown capture, or the one beside it.
  std::vector<std::string> quiet;           // What was looked at and found well.
  std::vector<ReportOpenQuestion> open;     // Of all captures.
};

// What a report says first.
struct ReportVerdict {
  std::string words;     // As in verdict_kinds.
  std::string sentence;  // What happened; of `can't tell` what it can't, first of `unknown`.
  const ReportFinding* finding = nullptr;    // That it comes from, in the report.
  std::vector<std::string> unknown;          // All that can't be told.
  std::vector<std::string> tell;             // What would tell.
  std::vector<const ReportFinding*> beside;  // What is wrong all the same, and no verdict.
};

struct ReportScope {
  std::string run, host;  // Only these; empty: all.
  std::string capture;    // Only the one of this id, path or name; empty: all.
  std::string module;  // "jit_f(7)" or "jit_f"; empty: the one that failed last, else the largest
                       // that ran, else the largest.
};

// Gives each its name.
void NameReportCaptures(std::vector<ReportCapture>* captures);

// Throws Error (kUsage) when the scope names nothing that is there; nearest names are offered.
Report ReadReport(schema::Database& database, const ReportScope& scope);

ReportVerdict VerdictOf(const Report& report);
// What the verdict of these words asks to see first, in its order: as in verdict_kinds.pictures.
std::vector<std::string> PicturesOf(schema::Database& database, const std::string& verdict);
// Its words alone, for the table of captures.
std::string VerdictOfCapture(const Report& report, const ReportCapture& capture);

// Its parts. Of a capture without a module, and of a module that never ran: std::nullopt.
// `preferred`: the module to show when the scope names none and no module's last execution failed.
std::optional<ReportPlan> ReadReportPlan(schema::Database& database, int64_t capture_id,
                                         const ReportScope& scope,
                                         std::optional<int64_t> preferred);
// What its memory is for, what does little, and what it needs beside other modules.
void ReadReportAnatomy(schema::Database& database, ReportPlan* plan);
std::optional<ReportRun> ReadReportRun(schema::Database& database, const ReportPlan& plan);
// Of the wanted captures, worst first, and what their rules say of them.
std::vector<ReportFinding> ReadReportFindings(schema::Database& database,
                                              const std::function<bool(int64_t)>& wanted);
// Those of the shown capture first, where severity is equal: the headline is about it.
void SortReportFindings(int64_t shown, std::vector<ReportFinding>* findings);
// What the rules that found nothing in the capture say of the plan and the device.
std::vector<std::string> ReadReportQuiet(schema::Database& database,
                                         const std::vector<ReportFinding>& findings,
                                         int64_t capture_id, const ReportPlan& plan,
                                         std::optional<int64_t> device_id);
// Of the capture, if it is a log, else of the logs of its run.
std::vector<ReportErrorLog> ReadReportErrorLogs(schema::Database& database,
                                                const ReportCapture& capture);
// The capture itself when it is a device memory profile, else the last one of its run or above it.
std::optional<ReportProfile> ReadReportProfile(schema::Database& database,
                                               const ReportCapture& capture);
std::vector<ReportAllocator> ReadReportAllocators(schema::Database& database, int64_t capture_id);

}  // namespace oomdb::cli

#endif  // OOMDB_CLI_REPORT_MODEL_H_
