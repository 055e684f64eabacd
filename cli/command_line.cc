#include "cli/command_line.h"

#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <exception>
#include <filesystem>
#include <iostream>
#include <system_error>

#include "cli/interrupt.h"
#include "cli/nearest.h"
#include "cli/open_captures.h"
#include "cli/verbs.h"
#include "render/terminal.h"
#include "schema/migrations.h"
#include "schema/version.h"

namespace oomdb::cli {
namespace {

// In the order in which help names them.
constexpr void (*kVerbs[])(Verbs&, ExitCode&) = {
    RegisterIngest, RegisterReport,   RegisterQuery, RegisterList,       RegisterShow,
    RegisterForget, RegisterSelfTest, RegisterHosts, RegisterCompare,    RegisterSweep,
    RegisterWhatIf, RegisterCheck,    RegisterMerge, RegisterCompletion,
};

int Fail(const std::string& what, ExitCode code) {
  std::cerr << "oomdb: " << render::Sanitize(what) << '\n';
  return static_cast<int>(code);
}

bool Exists(const std::string& path) {
  std::error_code error;
  return std::filesystem::exists(path, error);
}

bool IsPipe(int fd) {
  struct stat status = {};
  return ::fstat(fd, &status) == 0 && S_ISFIFO(status.st_mode);
}

// `oomdb FILE…` means `oomdb report FILE…`. A first word that is neither a verb nor a file is a
// mistake in one of them. Throws Error (kUsage) then.
void InsertVerb(const std::vector<std::string>& verbs, std::vector<std::string>& arguments) {
  const auto is_verb = [&](const std::string& word) {
    return std::find(verbs.begin(), verbs.end(), word) != verbs.end();
  };
  if (arguments.empty()) return;
  const std::string& first = arguments.front();
  const bool option = first.size() > 1 && first[0] == '-';
  if (!option && is_verb(first)) return;
  const bool names_file = option ? std::any_of(arguments.begin(), arguments.end(), Exists)
                                 : first == "-" || Exists(first);
  if (names_file && is_verb("report")) {
    arguments.insert(arguments.begin(), "report");
    return;
  }
  if (option) return;
  const bool like_path =
      first.find('/') != std::string::npos || first.find(".pb") != std::string::npos;
  throw Error(like_path ? fmt::format("{}: no such file or folder", first)
                        : fmt::format("no verb {}; `oomdb --help` names them{}", first,
                                      DidYouMean(first, verbs)),
              ExitCode::kUsage);
}

int Run(std::vector<std::string> arguments) {
  // A log that is piped in is to be read; else nobody asked for anything.
  if (arguments.empty()) {
    arguments = IsPipe(STDIN_FILENO) ? std::vector<std::string>{"report", "-"}
                                     : std::vector<std::string>{"--help"};
  }
  ExitCode exit_code = ExitCode::kClean;
  ReadCommandLine(
      {.description = "Why a JAX or XLA program ran out of device memory, and what to do: profiler "
                      "captures into SQL.",
       .footer = "oomdb VERB --help explains one. Example: oomdb ingest --db oom.db logs/",
       .version = fmt::format("oomdb {}, schema {}", schema::kVersion, schema::SchemaVersion())},
      std::move(arguments),
      [&](Verbs& verbs) {
        for (const auto register_verb : kVerbs) register_verb(verbs, exit_code);
      },
      InsertVerb);
  return static_cast<int>(exit_code);
}

}  // namespace

int RunCommandLine(std::vector<std::string> arguments) {
  try {
    return Run(std::move(arguments));
  } catch (const Error& error) {
    // What fails after a Ctrl-C failed by it: a wait that was given up.
    const bool by_stop = error.code() == ExitCode::kFailed && StopRequested();
    return Fail(error.what(), by_stop ? ExitCode::kInterrupted : error.code());
  } catch (const std::bad_alloc&) {
    return Fail("oomdb needs more memory than there is", ExitCode::kFailed);
  } catch (const std::exception& error) {
    return Fail(FileBeingRead() + error.what(), ExitCode::kFailed);
  }
}

}  // namespace oomdb::cli
