// Ctrl-C and broken pipes.
#ifndef OOMDB_CLI_INTERRUPT_H_
#define OOMDB_CLI_INTERRUPT_H_

#include <atomic>

namespace oomdb::cli {

// The first SIGINT or SIGTERM sets StopRequested, and what runs ends at the next safe place; the
// second one ends the program at once (the database survives that too). SIGPIPE ends it quietly:
// `oomdb query … | head`.
void InstallSignalHandlers();

// What is being written must not be cut by a reader of our talk that goes away: `oomdb ingest …
// 2>&1 | head -1`.
void IgnoreBrokenPipes();

const std::atomic<bool>& StopRequested();

// While one of these lives, standard input is being read. A Ctrl-C goes to all of `train.py |
// oomdb report -` and is meant for the program that writes: what that says until it ends is read on
// and reported, which a line says once. A SIGTERM too; the second one ends this program. Where
// nobody else gets the Ctrl-C, as at a terminal, it ends this program at once: a read that waits
// for a person comes to no safe place.
class ReadsStandardInput {
 public:
  ReadsStandardInput();
  ~ReadsStandardInput();
  ReadsStandardInput(const ReadsStandardInput&) = delete;
  ReadsStandardInput& operator=(const ReadsStandardInput&) = delete;

 private:
  const bool pipe_;
};

}  // namespace oomdb::cli

#endif  // OOMDB_CLI_INTERRUPT_H_
