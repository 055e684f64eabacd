// Deadlines that hold. SQLite looks at the clock between two steps, but one (a function on long
// texts, the preparing of a statement) may take minutes, and so may what we do with the rows. A
// watchdog ends the program then. Only for verbs that read: nothing that is written may be cut.
#ifndef OOMDB_CLI_WATCHDOG_H_
#define OOMDB_CLI_WATCHDOG_H_

#include <chrono>
#include <cstdint>
#include <memory>
#include <string>

namespace oomdb::cli {

class Watchdog {
 public:
  // Past `limit`, and on a stop request (interrupt.h), what runs has 60 ms of CPU time to end by
  // itself. Then the program ends at once, with `message` and exit code 1 or with "interrupted" and
  // 130; unfinished files are removed, and what was not yet flushed is not written. Time in which
  // the program waits, for a disk or for who reads its output, is none of the 60 ms.
  Watchdog(std::chrono::milliseconds limit, std::string message);
  ~Watchdog();
  Watchdog(const Watchdog&) = delete;
  Watchdog& operator=(const Watchdog&) = delete;

  // From now on `limit` counts anew.
  void Restart();

 private:
  struct State;
  const std::unique_ptr<State> state_;
};

// For a verb that reads a database file, until the program ends: ten minutes, or $OOMDB_TIMEOUT
// seconds. Throws Error kUsage where that is no number above 0.
void WatchReading(const std::string& path);

// No more memory than `bytes` for the whole program: past it std::bad_alloc is thrown, and SQLite
// says that it ran out. Not under the address sanitizer, whose shadow alone is larger.
void LimitMemory(int64_t bytes);
// Who says that it ran out needs some himself.
void LiftMemoryLimit();

}  // namespace oomdb::cli

#endif  // OOMDB_CLI_WATCHDOG_H_
