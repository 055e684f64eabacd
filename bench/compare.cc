// Whole commands side by side on one capture, in one run: `oomdb ingest` into a fresh database and
// libprotobuf's parse. They take turns, so that a busy machine is busy for both; what is printed
// are medians, and the ratio.
#include <fmt/format.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "ingest/source/source.h"

namespace {

namespace fs = std::filesystem;

struct Sample {
  double wall_s = 0;
  double cpu_s = 0;
  double memory_mib = 0;  // Peak resident, mapped file pages included.
};

// Throws std::runtime_error when the command fails.
Sample RunOnce(const std::vector<std::string>& command) {
  std::vector<char*> arguments;
  for (const std::string& part : command) arguments.push_back(const_cast<char*>(part.c_str()));
  arguments.push_back(nullptr);
  const auto start = std::chrono::steady_clock::now();
  const pid_t child = fork();
  if (child == 0) {
    if (freopen("/dev/null", "w", stdout) == nullptr ||
        freopen("/dev/null", "w", stderr) == nullptr)
      _exit(126);
    execv(arguments[0], arguments.data());
    _exit(127);
  }
  int status = 0;
  rusage usage{};
  wait4(child, &status, 0, &usage);
  Sample sample;
  sample.wall_s = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  const auto seconds = [](const timeval& t) {
    return static_cast<double>(t.tv_sec) + static_cast<double>(t.tv_usec) / 1e6;
  };
  sample.cpu_s = seconds(usage.ru_utime) + seconds(usage.ru_stime);
  sample.memory_mib = static_cast<double>(usage.ru_maxrss) / 1024;
  if (!WIFEXITED(status) || WEXITSTATUS(status) != 0) {
    throw std::runtime_error(command[0] + " failed on " + command.back());
  }
  return sample;
}

double Median(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  return values[values.size() / 2];
}

struct Series {
  std::vector<double> wall, cpu, memory;
  void Add(const Sample& s) {
    wall.push_back(s.wall_s);
    cpu.push_back(s.cpu_s);
    memory.push_back(s.memory_mib);
  }
  std::string Row(const char* name) const {
    return fmt::format("{:<28}{:>9.3f}{:>9.3f}{:>12.0f}\n", name, Median(wall), Median(cpu),
                       Median(memory));
  }
};

// A plain copy, so that nobody's decompression is measured.
void CopyPlain(const std::string& from, const fs::path& to) {
  const auto source = oomdb::OpenSource(from);
  std::ofstream out(to, std::ios::binary);
  std::string buffer(size_t{1} << 20, '\0');
  for (uint64_t at = 0; at < source->size();) {
    const auto part = static_cast<size_t>(std::min<uint64_t>(buffer.size(), source->size() - at));
    source->ReadAt(at, std::span(buffer.data(), part));
    out.write(buffer.data(), static_cast<std::streamsize>(part));
    at += part;
  }
}

int Compare(const std::string& path, int rounds) {
  const fs::path folder = fs::temp_directory_path() / fmt::format("oomdb-bench-{}", getpid());
  fs::create_directories(folder);
  const fs::path capture = folder / "bench.xplane.pb";
  const fs::path database = folder / "bench.db";
  CopyPlain(path, capture);
  Series ingest, parse;
  for (int round = 0; round < rounds; ++round) {
    parse.Add(RunOnce({PARSE_PROGRAM, capture.string()}));
    fs::remove(database);
    ingest.Add(RunOnce({OOMDB_PROGRAM, "ingest", "--db", database.string(), capture.string()}));
  }
  const double megabytes = static_cast<double>(fs::file_size(capture)) / 1e6;
  const double kept = 100.0 * static_cast<double>(fs::file_size(database)) /
                      static_cast<double>(fs::file_size(capture));
  fs::remove_all(folder);
  fmt::print("{} ({:.1f} MB), medians of {} runs each, taking turns\n", path, megabytes, rounds);
  fmt::print("{:<28}{:>9}{:>9}{:>12}\n", "", "wall s", "cpu s", "memory MiB");
  fmt::print("{}{}", parse.Row("libprotobuf, arena parse"), ingest.Row("oomdb ingest"));
  fmt::print("ratio{:>32.2f}{:>9.2f}\n", Median(ingest.wall) / Median(parse.wall),
             Median(ingest.cpu) / Median(parse.cpu));
  fmt::print("the database is {:.1f} % of the capture\n", kept);
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 2 || argc > 3) {
    std::fprintf(stderr, "usage: bench_compare CAPTURE [ROUNDS]\n");
    return 2;
  }
  try {
    return Compare(argv[1], argc == 3 ? std::max(1, std::atoi(argv[2])) : 7);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "bench_compare: %s\n", error.what());
    return 1;
  }
}
