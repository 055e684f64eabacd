// Whole commands side by side on one capture, in one run: `oomdb ingest` into a fresh database,
// libprotobuf's parse, `cat`, and the commands of XProf where it is installed. They take turns, so
// that a busy machine is busy for all; what is printed are medians, and ratios to oomdb's.
#include <fmt/format.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <functional>
#include <string>
#include <vector>

#include "bench/measured_command.h"
#include "ingest/source/source.h"

namespace oomdb {
namespace {

namespace fs = std::filesystem;

constexpr const char* kXprof = "xprof.cli.xprof_cli";

struct Contestant {
  std::string name;
  // Of a round, which is given as a folder of its own: nothing is there yet.
  std::function<std::vector<std::string>(const fs::path& folder)> command;
  int rounds = 0;
  Series series;
};

// A plain copy, so that nobody's decompression is measured.
void CopyPlain(const std::string& from, const fs::path& to) {
  const auto source = ingest::OpenSource(from);
  std::ofstream out(to, std::ios::binary);
  std::string buffer(size_t{1} << 20, '\0');
  for (uint64_t at = 0; at < source->size();) {
    const auto part = static_cast<size_t>(std::min<uint64_t>(buffer.size(), source->size() - at));
    source->ReadAt(at, std::span(buffer.data(), part));
    out.write(buffer.data(), static_cast<std::streamsize>(part));
    at += part;
  }
  if (!out.flush()) throw std::runtime_error(to.string() + " can't be written");
}

bool HasXprof() {
  try {
    RunMeasured({"python3", "-c", "import xprof.cli.xprof_cli"});
    return true;
  } catch (const std::runtime_error&) {
    return false;
  }
}

// `python3 -m xprof… VERB` on a log folder with the capture, at a path that its cache doesn't know.
std::vector<std::string> XprofCommand(const char* verb, const fs::path& capture,
                                      const fs::path& folder) {
  const fs::path run = folder / "plugins/profile/bench";
  fs::create_directories(run);
  fs::create_hard_link(capture, run / "host.xplane.pb");
  return {"env",
          "TMPDIR=" + folder.string(),
          "HOME=" + folder.string(),
          "python3",
          "-m",
          kXprof,
          verb,
          "--logdir=" + folder.string(),
          "bench"};
}

struct Options {
  std::string capture;
  int rounds = 7;
  int xprof_rounds = 1;
  std::string events = "memory";
};

std::vector<Contestant> Contestants(const Options& options, const fs::path& capture) {
  std::vector<Contestant> all;
  all.push_back({"oomdb ingest",
                 [&options, capture](const fs::path& folder) -> std::vector<std::string> {
                   return {OOMDB_PROGRAM,   "ingest", "--events",
                           options.events,  "--db",   (folder / "bench.db").string(),
                           capture.string()};
                 },
                 options.rounds,
                 {}});
  all.push_back({"libprotobuf, arena parse",
                 [capture](const fs::path&) -> std::vector<std::string> {
                   return {PARSE_PROGRAM, capture.string()};
                 },
                 options.rounds,
                 {}});
  all.push_back({"cat",
                 [capture](const fs::path&) -> std::vector<std::string> {
                   // Into a pipe: cat would not read what goes to /dev/null.
                   return {"sh", "-c", "cat \"$0\" | cat >/dev/null", capture.string()};
                 },
                 options.rounds,
                 {}});
  if (options.xprof_rounds == 0) return all;
  if (!HasXprof()) {
    std::fprintf(stderr,
                 "bench_compare: python3 can't import xprof, so its commands are left out; "
                 "pip install xprof, in an environment that is active\n");
    return all;
  }
  for (const char* verb : {"get_memory_profile", "create_events_db"}) {
    all.push_back(
        {fmt::format("xprof {}", verb),
         [verb, capture](const fs::path& folder) { return XprofCommand(verb, capture, folder); },
         options.xprof_rounds,
         {}});
  }
  return all;
}

// A folder that goes when this does.
class TemporaryFolder {
 public:
  explicit TemporaryFolder(fs::path path) : path_(std::move(path)) {
    fs::create_directories(path_);
  }
  ~TemporaryFolder() {
    std::error_code ignored;
    fs::remove_all(path_, ignored);
  }
  TemporaryFolder(const TemporaryFolder&) = delete;
  const fs::path& path() const { return path_; }

 private:
  const fs::path path_;
};

int Compare(const Options& options) {
  const TemporaryFolder folder(fs::temp_directory_path() / fmt::format("oomdb-bench-{}", getpid()));
  const fs::path capture = folder.path() / "bench.xplane.pb";
  CopyPlain(options.capture, capture);
  std::vector<Contestant> all = Contestants(options, capture);
  uintmax_t database_bytes = 0;
  for (int round = 0; round < std::max(options.rounds, options.xprof_rounds); ++round) {
    for (Contestant& contestant : all) {
      if (round >= contestant.rounds) continue;
      const TemporaryFolder own(folder.path() / "round");
      contestant.series.Add(RunMeasured(contestant.command(own.path())));
      if (fs::exists(own.path() / "bench.db"))
        database_bytes = fs::file_size(own.path() / "bench.db");
    }
  }
  const auto capture_bytes = static_cast<double>(fs::file_size(capture));
  fmt::print("{} ({:.1f} MB), --events {}, medians of runs that took turns\n", options.capture,
             capture_bytes / 1e6, options.events);
  fmt::print("{:<28}{:>5}{:>9}{:>9}{:>9}{:>12}{:>20}\n", "", "runs", "wall s", "cpu s", "user s",
             "memory MiB", "oomdb's cpu to it");
  const double ours = Median(all.front().series.cpu);
  for (const Contestant& contestant : all) {
    const Series& series = contestant.series;
    fmt::print("{:<28}{:>5}{:>9.3f}{:>9.3f}{:>9.3f}{:>12.0f}{:>20.3f}\n", contestant.name,
               contestant.rounds, Median(series.wall), Median(series.cpu), Median(series.user),
               Median(series.memory), ours / Median(series.cpu));
  }
  fmt::print("the database is {:.1f} % of the capture\n",
             100.0 * static_cast<double>(database_bytes) / capture_bytes);
  return 0;
}

}  // namespace
}  // namespace oomdb

int main(int argc, char** argv) {
  oomdb::Options options;
  CLI::App app("Measures `oomdb ingest` of a capture beside what else reads it");
  app.add_option("CAPTURE", options.capture, "An .xplane.pb file, compressed or not")->required();
  app.add_option("ROUNDS", options.rounds, "How often each command runs")
      ->check(CLI::Range(1, 1000))
      ->capture_default_str();
  app.add_option("--xprof-rounds", options.xprof_rounds,
                 "How often XProf's commands run, which take long; 0: not at all")
      ->check(CLI::Range(0, 1000))
      ->capture_default_str();
  app.add_option("--events", options.events, "As `oomdb ingest --events`")
      ->check(CLI::IsMember({"memory", "all", "none"}))
      ->capture_default_str();
  CLI11_PARSE(app, argc, argv);
  try {
    return oomdb::Compare(options);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "bench_compare: %s\n", error.what());
    return 1;
  }
}
