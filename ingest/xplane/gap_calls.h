// What a thread called between the executions of the modules that it launched. Between two launches
// stands the program's own code: whoever keeps something of every execution is called there.
#ifndef OOMDB_INGEST_XPLANE_GAP_CALLS_H_
#define OOMDB_INGEST_XPLANE_GAP_CALLS_H_

#include <cstdint>
#include <unordered_map>
#include <vector>

#include "ingest/xplane/host_timeline.h"
#include "ingest/xplane/spans.h"

namespace oomdb::ingest {

// The spans of the calls by which one thread launched a module on one device (of several, the one
// on which it ran most often); by start, each once, ps.
struct ModuleLaunches {
  int32_t module = -1;  // In the ModuleIndex.
  Spans spans;
};

// All launches of one thread.
struct LineLaunches {
  std::vector<ModuleLaunches> modules;
  Spans spans;  // Of all modules and devices, in any order.
};

// Counts the calls of one line. Calls inside of a launch are the launch's own: they don't count.
class GapCallCounter {
 public:
  GapCallCounter(const HostLine& line, int32_t line_index, const LineLaunches& launches);

  // An event of the line. Events are expected by start, enclosing ones before enclosed ones, as
  // recorders write them; of one that comes too late it is not known what calls it.
  void Saw(int64_t metadata_id, int64_t start_ps, int64_t end_ps);

  // Adds what was seen to the list, for every module that was launched twice; when a module has too
  // many, what puts something into a container and what the thread's own code calls most directly.
  void AddTo(std::vector<GapCall>* calls);

  // Calls that were not counted, because there were too many.
  int64_t left_out() const { return left_out_; }

 private:
  // What a name is; looked up once.
  struct Name {
    int64_t metadata_id = 0;
    bool python = false;
    bool has_file = false;
    bool container = false;
  };
  struct Mark {
    int32_t gap = 0;
    int32_t calls = 0;
    int64_t last_start_ps = 0;
  };
  struct Call {
    int32_t name = 0;
    int32_t caller = -1;
    int64_t depth = 0;
    bool encloses = true;
    std::vector<Mark> marks;  // By gap.
  };
  struct Frame {
    int64_t end_ps = 0;
    int32_t file = -1;  // The name with a file: its own, else of what encloses it.
    int32_t gap = 0;
    int64_t depth = 0;
  };
  // A call whose name has no file and that nothing with one encloses.
  struct Lonely {
    int32_t name = 0;
    int64_t start_ps = 0;
    int64_t end_ps = 0;
    int64_t depth = 0;
  };

  int32_t NameOf(int64_t metadata_id);
  void EnterGap(int32_t gap);
  void SettleLonely(int32_t next_file, int64_t next_ps);
  void Count(int32_t name, int32_t caller, int64_t start_ps, int64_t end_ps, int64_t depth);
  void AddModule(const ModuleLaunches& launches, std::vector<GapCall>* calls) const;

  const HostLine& line_;
  const int32_t line_index_;
  const LineLaunches& launches_;
  Spans spans_;  // All launches: disjoint, by start. Gap g lies before spans_[g].
  std::vector<Name> names_;
  std::unordered_map<int64_t, int32_t> name_index_;  // By metadata id.
  std::unordered_map<uint64_t, size_t> call_index_;  // By name and caller.
  std::vector<Call> calls_;
  std::vector<Frame> open_;
  std::vector<Lonely> lonely_;  // Of this gap, since its latest call with a file.
  int32_t gap_ = 0;
  int32_t file_before_ = -1;  // The latest call with a file in this gap, and when.
  int64_t file_before_ps_ = 0;
  int64_t latest_ps_ = INT64_MIN;
  size_t mark_count_ = 0;
  int64_t left_out_ = 0;
};

}  // namespace oomdb::ingest

#endif  // OOMDB_INGEST_XPLANE_GAP_CALLS_H_
