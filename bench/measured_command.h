// Runs a command and says what it took.
#ifndef OOMDB_BENCH_MEASURED_COMMAND_H_
#define OOMDB_BENCH_MEASURED_COMMAND_H_

#include <string>
#include <vector>

namespace oomdb {

struct Sample {
  double wall_s = 0;
  double cpu_s = 0;       // In the program and in the kernel for it.
  double user_s = 0;      // In the program alone: what other programs disturb least.
  double memory_mib = 0;  // Peak resident, mapped file pages included.
};

// The command's output is thrown away. Throws std::runtime_error when it fails.
Sample RunMeasured(const std::vector<std::string>& command);

// The samples of one command.
struct Series {
  std::vector<double> wall, cpu, user, memory;
  void Add(const Sample& sample);
};

double Median(std::vector<double> values);

}  // namespace oomdb

#endif  // OOMDB_BENCH_MEASURED_COMMAND_H_
