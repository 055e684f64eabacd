#include "cli/ingest/job.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <chrono>
#include <exception>
#include <filesystem>
#include <memory>
#include <set>
#include <string_view>
#include <system_error>
#include <thread>
#include <utility>

#include "cli/ingest/capture_reader.h"
#include "cli/ingest/tasks.h"
#include "ingest/source/naming.h"
#include "ingest/source/source.h"
#include "schema/query.h"

namespace oomdb::cli {
namespace {

namespace fs = std::filesystem;

std::string AbsolutePath(const std::string& path) {
  if (path == "-") return path;
  std::error_code error;
  const fs::path absolute = fs::absolute(path, error);
  return error ? path : absolute.lexically_normal().string();
}

std::string WithPath(const std::string& path, const std::string& what) {
  return what.find(path) == std::string::npos ? path + ": " + what : what;
}

std::vector<IngestItem> AllItems(const IngestRequest& request) {
  std::vector<IngestItem> items;
  for (const std::string& path : request.paths)
    items.push_back({path, request.run, request.host, request.labels, {}, {}});
  for (IngestItem item : request.items) {
    if (!item.run.has_value()) item.run = request.run;
    if (!item.host.has_value()) item.host = request.host;
    item.labels.insert(request.labels.begin(), request.labels.end());
    items.push_back(std::move(item));
  }
  return items;
}

// How long captures wait to be committed together, and how long the database is then left to other
// writers: they look every 100 ms whether it is free, so one that waits gets its turn after some
// tens of groups.
constexpr std::chrono::milliseconds kGroupTime(200);
constexpr std::chrono::milliseconds kPause(2);
// What is larger begins a group of its own: to read it takes longer than to commit.
constexpr int64_t kLargeFileBytes = int64_t{16} << 20;

// Who knows how long the other end takes: of standard input, of a named pipe, of `<(zcat log)`.
bool IsPipe(const IngestTask& task) {
  if (!task.is_file() || task.in_folder || task.dump != nullptr) return false;
  std::error_code error;
  return task.path == "-" || !fs::is_regular_file(task.path, error);
}

class Job {
 public:
  Job(schema::Database& database, const IngestRequest& request, IngestObserver& observer,
      const std::atomic<bool>* stop)
      : database_(database),
        request_(request),
        items_(AllItems(request)),
        observer_(observer),
        stop_(stop),
        options_(request.options),
        group_(database) {
    // What counts as a wait is decided while reading, by the database's own threshold.
    options_.wait_min_ns = schema::SettingOf(database, "wait_min_ns");
    options_.changes_min_bytes = schema::SettingOf(database, "changes_min_bytes");
    options_.changes_min_percent = schema::SettingOf(database, "changes_min_percent");
    options_.replay_min_bytes = schema::SettingOf(database, "replay_min_bytes");
    options_.capacity_bytes = schema::MaybeSettingOf(database, "capacity_bytes");
  }

  IngestTotals Run() {
    const std::vector<IngestTask> tasks = FindIngestTasks(items_);
    if (tasks.size() > 1) options_.plans = &plans_;
    int64_t files = 0;
    int64_t bytes = 0;
    int64_t all_files = 0;
    int64_t all_bytes = 0;
    for (const IngestTask& task : tasks) {
      all_files += task.is_file();
      all_bytes += task.bytes;
    }
    CaptureReader reader(tasks, options_, request_.threads, KnownHashes(), stop_,
                         request_.standard_input);
    for (size_t i = 0; i < tasks.size(); ++i) {
      if (Stopped()) totals_.interrupted = true;
      if (totals_.interrupted) break;
      const bool takes_time = IsPipe(tasks[i]) || tasks[i].bytes > kLargeFileBytes;
      const bool old = group_.age() > kGroupTime;
      if (takes_time || old) EndGroup();
      if (old) std::this_thread::sleep_for(kPause);
      Do(tasks[i], reader.Take(i));
      files += tasks[i].is_file();
      bytes += tasks[i].bytes;
      observer_.Progress(files, all_files, bytes, all_bytes);
    }
    EndGroup();
    return totals_;
  }

 private:
  bool Stopped() const { return stop_ != nullptr && stop_->load(std::memory_order_relaxed); }

  // For reading ahead: what is there is not read again. Whether it is there when its turn comes is
  // asked again then.
  std::set<std::string> KnownHashes() {
    std::set<std::string> known;
    if (request_.threads < 2) return known;
    for (const schema::Record& capture : schema::ReadView(database_, "captures"))
      known.insert(capture.Text("content_hash"));
    return known;
  }

  // What became of a file, told in its turn when the group is committed.
  struct Outcome {
    enum Kind { kStored, kRejected, kPassedOver } kind;
    const IngestTask* task;
    schema::CaptureSummary summary;  // kStored
    std::string reason;              // Else.
  };

  void Note(Outcome outcome) {
    found_in_folder_ =
        outcome.task->in_folder && (found_in_folder_ || outcome.kind != Outcome::kPassedOver);
    outcomes_.push_back(std::move(outcome));
  }
  void Reject(const IngestTask& task, const std::string& what) {
    Note({Outcome::kRejected, &task, {}, what});
  }
  void PassOver(const IngestTask& task, const std::string& what) {
    Note({Outcome::kPassedOver, &task, {}, what});
  }

  void EndGroup() {
    try {
      group_.Commit();
    } catch (const std::exception& error) {
      totals_.interrupted = totals_.interrupted || Stopped();
      RejectGroup(error.what());
    }
    for (const Outcome& outcome : outcomes_) Tell(outcome);
    outcomes_.clear();
  }

  // The database undid the group: none of its captures is stored.
  void RejectGroup(const std::string& what) {
    for (Outcome& outcome : outcomes_) {
      if (outcome.kind != Outcome::kStored) continue;
      outcome.kind = Outcome::kRejected;
      outcome.reason = fmt::format("can't be stored: {}", what);
    }
  }

  void Tell(const Outcome& outcome) {
    const IngestTask& task = *outcome.task;
    if (outcome.kind == Outcome::kPassedOver) {
      observer_.PassedOver(task.path, outcome.reason);
    } else if (outcome.kind == Outcome::kRejected) {
      ++totals_.rejected;
      const std::string& origin = items_[task.item].origin;
      const std::string reason =
          task.path.empty() ? outcome.reason : WithPath(task.path, outcome.reason);
      observer_.Rejected(task.path, origin.empty() ? reason : origin + ": " + reason);
    } else {
      const schema::CaptureSummary& summary = outcome.summary;
      ++totals_.stored;
      totals_.already_there += summary.already_there;
      totals_.truncated += summary.truncated;
      totals_.damaged += summary.damaged;
      observer_.Stored(task.path, summary);
    }
  }

  void Do(const IngestTask& task, ReadCapture read) {
    if (!task.problem.empty()) {
      Reject(task, task.problem);
    } else if (task.ends_folder) {
      if (!found_in_folder_) {
        Reject(
            task,
            "nothing in this folder that oomdb reads (*.xplane.pb, *.hlo.pb, *.hlo_proto.pb, XLA "
            "dumps, memory.prof); "
            "`oomdb ingest -v` lists what was passed over");
      }
      found_in_folder_ = false;
    } else {
      StoreFile(task, read);
    }
  }

  void StoreFile(const IngestTask& task, ReadCapture& read) {
    if (read.importer == nullptr && task.path != "-" && task.dump == nullptr) {
      if (task.in_folder) {
        PassOver(task, "not in a format that oomdb reads");
      } else {
        Reject(task,
               "not in a format that oomdb reads: *.xplane.pb, *.hlo.pb, *.hlo_proto.pb, also with "
               ".gz, .zst or .xz; memory profiles (*.prof, *.pprof); *-buffer-assignment.txt, "
               "*-memory-usage-report.txt; logs, as text");
      }
      return;
    }
    try {
      if (read.error != nullptr) std::rethrow_exception(read.error);
      if (task.dump != nullptr) {
        StoreDump(task, read);
      } else if (read.importer != nullptr) {
        Store(task, read, read.importer);
      } else {
        StoreUnnamed(task, read);
      }
    } catch (const Error& error) {
      if (error.code() == ExitCode::kInterrupted) {
        totals_.interrupted = true;
      } else {
        Reject(task, error.what());
      }
    } catch (const std::bad_alloc&) {
      Reject(task, "oomdb needs more memory than there is");
    } catch (const std::exception& error) {
      // The database refused a row or has no room; this capture is undone.
      if (group_.lost()) RejectGroup(error.what());
      if (Stopped()) {  // It was waiting for another program.
        totals_.interrupted = true;
        return;
      }
      Reject(task, fmt::format("can't be stored: {}", error.what()));
    }
  }

  void StoreDump(const IngestTask& task, const ReadCapture& read) {
    const ingest::Dump& dump = *read.dump;
    if (!dump.modules.empty() || dump.failed_unnamed) {
      Store(task, read, nullptr);
    } else if (!dump.issues.empty()) {
      throw Error(dump.issues.front().detail);
    } else {
      PassOver(task,
               "an XLA dump, but no buffer assignment in it: early stages of the "
               "compilation");
    }
  }

  // Standard input has no name that tells its format: the first importer that takes the content is
  // right.
  void StoreUnnamed(const IngestTask& task, const ReadCapture& read) {
    if (read.source != nullptr && read.source->size() == 0)
      throw Error("standard input is empty: a capture or a log was expected");
    std::string reasons;
    for (const ingest::Importer& importer : ingest::Importers()) {
      try {
        Store(task, read, &importer);
        return;
      } catch (const Error& error) {
        if (error.code() == ExitCode::kInterrupted) throw;
        reasons +=
            fmt::format("{}{}: {}", reasons.empty() ? "" : "; ", importer.name, error.what());
      }
    }
    throw Error(fmt::format("standard input is not in a format that oomdb reads ({})", reasons));
  }

  static std::vector<std::string> RunsOf(const std::vector<schema::KnownCapture>& captures) {
    std::vector<std::string> runs;
    for (const schema::KnownCapture& capture : captures) runs.push_back(capture.run.value_or("-"));
    return runs;
  }

  // Which of the captures of a content is meant; null: none, it is to be one of another run.
  // `named`: the path's run, which is not asked for, but tells what is meant.
  const schema::KnownCapture* Meant(const std::vector<schema::KnownCapture>& known,
                                    const IngestItem& item, const std::optional<std::string>& asked,
                                    const std::string& named, const std::string& path) const {
    const auto find = [&known](const auto& is_it) {
      const auto found = std::find_if(known.begin(), known.end(), is_it);
      return found == known.end() ? nullptr : &*found;
    };
    const std::string& run = asked.value_or(named);
    if (const auto* own = find([&](const auto& one) { return one.run == run; })) return own;
    if (known.empty() || (asked.has_value() && !request_.rename)) return nullptr;
    if (known.size() == 1) return &known.front();
    const auto is_there = [&path](const schema::KnownCapture& one) { return one.path == path; };
    const auto there = std::count_if(known.begin(), known.end(), is_there);
    if (there == 1) return find(is_there);
    if (asked.has_value()) {
      throw Error(
          fmt::format("is a capture of the runs {}: which one is to become {} can't be "
                      "told; `oomdb forget` takes one away",
                      fmt::join(RunsOf(known), ", "), run));
    }
    if (item.host.has_value() || !item.labels.empty()) {
      throw Error(fmt::format("is a capture of the runs {}: say with --run which one is meant",
                              fmt::join(RunsOf(known), ", ")));
    }
    return there > 1 ? find(is_there) : &known.front();
  }

  void Store(const IngestTask& task, const ReadCapture& read, const ingest::Importer* importer) {
    const IngestItem& item = items_[task.item];
    const ingest::CaptureNames names = ingest::NamesFromPath(task.path);
    schema::CaptureSource description;
    description.path = AbsolutePath(task.path);
    description.content_hash = read.content_hash;
    description.bytes = read.bytes();
    description.run = item.run.has_value() ? item.run : std::optional(names.run);
    description.host = item.host;
    if (!description.host.has_value() && !names.host.empty()) description.host = names.host;
    description.compression = read.compression();
    const std::optional<std::string> asked = request_.runs_from_paths ? description.run : item.run;

    schema::CaptureWriter writer(database_, description, stop_, &group_);
    const std::vector<schema::KnownCapture> known = writer.KnownCaptures();
    schema::CaptureSummary summary;
    if (const schema::KnownCapture* const capture =
            Meant(known, item, asked, names.run, description.path)) {
      summary = writer.CommitKnown(capture->capture_id, asked, item.host, item.labels);
      const bool elsewhere = capture->run != names.run && capture->path != description.path;
      if (elsewhere && !asked.has_value()) summary.other_runs = RunsOf(known);
    } else {
      read.HandOver(importer, options_, writer);
      // A dump has a proto for every stage of the compilation; only the last one has a plan.
      if (task.in_folder && importer != nullptr && importer->name == "hlo" && !writer.has_plan()) {
        PassOver(task, "no buffer assignment in it: an early stage of the compilation");
        return;
      }
      summary = writer.Commit(item.labels);
      summary.other_runs = RunsOf(known);
    }
    Note({Outcome::kStored, &task, std::move(summary), ""});
  }

  schema::Database& database_;
  const IngestRequest& request_;
  const std::vector<IngestItem> items_;
  IngestObserver& observer_;
  const std::atomic<bool>* const stop_;
  ingest::PlanCache plans_;
  ingest::ImportOptions options_;
  IngestTotals totals_;
  schema::WriteGroup group_;
  std::vector<Outcome> outcomes_;  // Of the group.
  // Whether something was stored or rejected in the folder at hand; folders follow one another.
  bool found_in_folder_ = false;
};

}  // namespace

std::string NoOomFound(const schema::CaptureSummary& summary) {
  for (const ingest::IssueFact& issue : summary.issues) {
    if (issue.what == "no_oom_found") return issue.detail;
  }
  return "";
}

ExitCode IngestTotals::exit_code() const {
  if (interrupted) return ExitCode::kInterrupted;
  if (rejected > 0) return stored > 0 ? ExitCode::kPartial : ExitCode::kFailed;
  return truncated + damaged > 0 ? ExitCode::kPartial : ExitCode::kClean;
}

IngestTotals IngestPaths(schema::Database& database, const IngestRequest& request,
                         IngestObserver& observer, const std::atomic<bool>* stop) {
  return Job(database, request, observer, stop).Run();
}

}  // namespace oomdb::cli
