// Captures (XSpace) of any size, written as a stream: a GPU training loop with its allocator, a
// flood of Python frames, worker threads with the events of CPU programs, and the plans.
#ifndef OOMDB_BENCH_MADE_CAPTURE_H_
#define OOMDB_BENCH_MADE_CAPTURE_H_

#include <cstdint>
#include <functional>
#include <string_view>

namespace oomdb {

enum class MadeEvents {
  kMixed,    // A quarter of the bytes Python frames, the rest worker threads: as recorded.
  kPython,   // Python frames only: the Python tracer at its worst.
  kThreads,  // Worker threads only.
};

struct MadeCapture {
  uint64_t bytes = 0;  // About so many.
  MadeEvents events = MadeEvents::kMixed;
  uint64_t seed = 1;
  int plan_instructions = 2000;
};

// The same capture is the same bytes. `write` gets them in order, in pieces.
void WriteCapture(const MadeCapture& capture, const std::function<void(std::string_view)>& write);

}  // namespace oomdb

#endif  // OOMDB_BENCH_MADE_CAPTURE_H_
