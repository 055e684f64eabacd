// Writes a capture of any size, to measure with:
//   make_capture OUT --megabytes N [--events mixed|python|threads] [--instructions N] [--seed N]
#include <CLI/CLI.hpp>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <map>
#include <stdexcept>
#include <string>

#include "bench/made_capture.h"

int main(int argc, char** argv) {
  using oomdb::MadeEvents;
  std::string out;
  double megabytes = 0;
  oomdb::MadeCapture capture;
  CLI::App app("Writes a capture (.xplane.pb) of any size, always the same for the same options");
  app.add_option("OUT", out, "The file to write; - is standard output")->required();
  app.add_option("--megabytes", megabytes, "How large, in 10^6 bytes")
      ->required()
      ->check(CLI::Range(0.0, 1e6));
  app.add_option("--events", capture.events,
                 "What it is full of: mixed (as recorded), python (frames) or threads (CPU thunks)")
      ->transform(CLI::CheckedTransformer(
          std::map<std::string, MadeEvents>{{"mixed", MadeEvents::kMixed},
                                            {"python", MadeEvents::kPython},
                                            {"threads", MadeEvents::kThreads}}));
  app.add_option("--instructions", capture.plan_instructions, "Instructions of each of its plans")
      ->check(CLI::Range(3, 1'000'000))
      ->capture_default_str();
  app.add_option("--seed", capture.seed, "Another seed, other events")->capture_default_str();
  CLI11_PARSE(app, argc, argv);
  capture.bytes = static_cast<uint64_t>(megabytes * 1e6);

  std::FILE* const file = out == "-" ? stdout : std::fopen(out.c_str(), "wb");
  try {
    if (file == nullptr) throw std::runtime_error(std::strerror(errno));
    oomdb::WriteCapture(capture, [&](std::string_view bytes) {
      if (std::fwrite(bytes.data(), 1, bytes.size(), file) != bytes.size())
        throw std::runtime_error(std::strerror(errno));
    });
    if (std::fclose(file) != 0) throw std::runtime_error(std::strerror(errno));
  } catch (const std::exception& error) {
    std::fprintf(stderr, "make_capture: %s can't be written: %s\n", out.c_str(), error.what());
    return 1;
  }
  return 0;
}
