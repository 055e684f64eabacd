// Ctrl-C and broken pipes.
#ifndef OOMDB_CLI_INTERRUPT_H_
#define OOMDB_CLI_INTERRUPT_H_

#include <atomic>

namespace oomdb {

// The first SIGINT or SIGTERM sets StopRequested, and what runs ends at the next safe place; the
// second one ends the program at once (the database survives that too). SIGPIPE ends it quietly:
// `oomdb query … | head`.
void InstallSignalHandlers();

// What is being written must not be cut by a reader of our talk that goes away: `oomdb ingest …
// 2>&1 | head -1`.
void IgnoreBrokenPipes();

const std::atomic<bool>& StopRequested();

}  // namespace oomdb

#endif  // OOMDB_CLI_INTERRUPT_H_
