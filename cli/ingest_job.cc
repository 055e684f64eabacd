#include "cli/ingest_job.h"

#include <fmt/format.h>

#include <exception>
#include <filesystem>
#include <memory>
#include <string_view>
#include <system_error>

#include "ingest/source/discover.h"
#include "ingest/source/naming.h"
#include "ingest/source/source.h"
#include "schema/query.h"

namespace oomdb {
namespace {

namespace fs = std::filesystem;

std::string_view FileName(std::string_view path) { return path.substr(path.rfind('/') + 1); }

const Importer* ImporterFor(std::string_view path) {
  for (const Importer& importer : Importers()) {
    if (importer.claims(FileName(path))) return &importer;
  }
  return nullptr;
}

std::string AbsolutePath(const std::string& path) {
  if (path == "-") return path;
  std::error_code error;
  const fs::path absolute = fs::absolute(path, error);
  return error ? path : absolute.lexically_normal().string();
}

std::string WithPath(const std::string& path, const std::string& what) {
  return what.find(path) == std::string::npos ? path + ": " + what : what;
}

class Job {
 public:
  Job(Database& database, const IngestRequest& request, IngestObserver& observer,
      const std::atomic<bool>* stop)
      : database_(database),
        request_(request),
        observer_(observer),
        stop_(stop),
        options_(request.options) {
    // What counts as a wait is decided while reading, by the database's own threshold.
    for (const Row& row :
         Query(database, "SELECT setting FROM settings WHERE name = 'wait_min_ns'").rows) {
      if (const auto* setting = std::get_if<int64_t>(&row[0])) options_.wait_min_ns = *setting;
    }
  }

  IngestTotals Run() {
    for (const std::string& path : request_.paths) {
      if (totals_.interrupted) break;
      ReadPath(path);
    }
    return totals_;
  }

 private:
  bool Stopped() const { return stop_ != nullptr && stop_->load(std::memory_order_relaxed); }

  void Reject(const std::string& path, const std::string& what) {
    ++totals_.rejected;
    observer_.Rejected(path, WithPath(path, what));
  }

  void ReadPath(const std::string& path) {
    std::error_code ignored;
    const bool folder = path != "-" && fs::is_directory(path, ignored);
    Discovery found;
    try {
      found = DiscoverFiles(path);
    } catch (const Error& error) {
      Reject(path, error.what());
      return;
    }
    for (const std::string& unreadable : found.unreadable) Reject(path, unreadable);
    const int64_t before = totals_.stored + totals_.rejected;
    for (const std::string& file : found.files) {
      if (Stopped()) totals_.interrupted = true;
      if (totals_.interrupted) return;
      ReadFile(file, folder);
    }
    if (folder && totals_.stored + totals_.rejected == before) {
      Reject(path,
             "nothing in this folder that oomdb reads (*.xplane.pb, *.hlo.pb, *.hlo_proto.pb); "
             "`oomdb ingest -v` lists what was passed over");
    }
  }

  void ReadFile(const std::string& path, bool in_folder) {
    const Importer* const importer = ImporterFor(path);
    if (importer == nullptr && path != "-") {
      if (in_folder) {
        observer_.PassedOver(path, "no format that oomdb reads");
      } else {
        Reject(path,
               "no format that oomdb reads: *.xplane.pb, *.hlo.pb, *.hlo_proto.pb, also with .gz "
               "or .zst");
      }
      return;
    }
    try {
      const std::unique_ptr<Source> source = OpenSource(path);
      if (importer != nullptr) {
        Store(*source, *importer, in_folder);
      } else {
        StoreUnnamed(*source);
      }
    } catch (const Error& error) {
      if (error.code() == ExitCode::kInterrupted) {
        totals_.interrupted = true;
      } else {
        Reject(path, error.what());
      }
    } catch (const std::bad_alloc&) {
      Reject(path, "more memory is needed than there is");
    } catch (const std::exception& error) {
      // The database refused a row or has no room; this capture's transaction is undone.
      Reject(path, fmt::format("can't be stored: {}", error.what()));
    }
  }

  // Standard input has no name that tells its format: the first importer that takes the content is
  // right.
  void StoreUnnamed(const Source& source) {
    std::string reasons;
    for (const Importer& importer : Importers()) {
      try {
        Store(source, importer, false);
        return;
      } catch (const Error& error) {
        if (error.code() == ExitCode::kInterrupted) throw;
        reasons +=
            fmt::format("{}{}: {}", reasons.empty() ? "" : "; ", importer.name, error.what());
      }
    }
    throw Error(fmt::format("standard input is no format that oomdb reads ({})", reasons));
  }

  void Store(const Source& source, const Importer& importer, bool in_folder) {
    const std::string& path = source.path();
    const CaptureNames names = NamesFromPath(path);
    CaptureSource description;
    description.path = AbsolutePath(path);
    description.content_hash = ContentHash(source);
    description.bytes = static_cast<int64_t>(source.size());
    description.run = request_.run.has_value() ? request_.run : std::optional(names.run);
    description.host = request_.host;
    if (!description.host.has_value() && !names.host.empty()) description.host = names.host;
    description.compression = source.compression();

    CaptureWriter writer(database_, description, stop_);
    CaptureSummary summary;
    if (const std::optional<int64_t> known = writer.KnownCapture()) {
      summary = writer.CommitKnown(*known, request_.run, request_.host, request_.labels);
    } else {
      importer.import(source, options_, writer);
      // A dump has a proto for every stage of the compilation; only the last one has a plan.
      if (in_folder && importer.name == "hlo" && !writer.has_plan()) {
        observer_.PassedOver(path, "no buffer assignment in it: an early stage of the compilation");
        return;
      }
      summary = writer.Commit(request_.labels);
    }
    ++totals_.stored;
    totals_.already_there += summary.already_there;
    totals_.truncated += summary.truncated;
    totals_.damaged += summary.damaged;
    observer_.Stored(path, summary);
  }

  Database& database_;
  const IngestRequest& request_;
  IngestObserver& observer_;
  const std::atomic<bool>* const stop_;
  ImportOptions options_;
  IngestTotals totals_;
};

}  // namespace

ExitCode IngestTotals::exit_code() const {
  if (interrupted) return ExitCode::kInterrupted;
  if (rejected > 0) return stored > 0 ? ExitCode::kPartial : ExitCode::kFailed;
  return truncated + damaged > 0 ? ExitCode::kPartial : ExitCode::kClean;
}

IngestTotals IngestPaths(Database& database, const IngestRequest& request, IngestObserver& observer,
                         const std::atomic<bool>* stop) {
  return Job(database, request, observer, stop).Run();
}

}  // namespace oomdb
