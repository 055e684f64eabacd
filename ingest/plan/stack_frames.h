// The Python stack frames of a module (StackFrameIndexProto), and which of them a person wants to
// see.
#ifndef OOMDB_INGEST_PLAN_STACK_FRAMES_H_
#define OOMDB_INGEST_PLAN_STACK_FRAMES_H_

#include <cstdint>
#include <string_view>
#include <vector>

#include "ingest/plan/limits.h"
#include "ingest/plan/plan.h"
#include "proto/hlo.pb.h"

namespace oomdb::ingest {

// True for a file that came with Python or was installed: below site-packages, dist-packages or
// lib/pythonX, or frozen into the interpreter.
bool IsInstalledFile(std::string_view file);

// A line of Python. Views point into the proto.
struct SourceLine {
  std::string_view file;
  MaybeInt line;
  std::string_view function;
};

class StackFrames {
 public:
  // `index` must outlive this.
  StackFrames(const proto::StackFrameIndexProto& index, IssueLog& log);

  // `frame_id` is 1-based, as in OpMetadata.stack_frame_id.
  bool Has(int64_t frame_id) const {
    return frame_id > 0 && frame_id <= index_.stack_frames_size();
  }

  // What `frame_id` itself stands for; empty where its parts are missing.
  SourceLine At(int64_t frame_id) const;

  // The line of an instruction: of its metadata where that has a file (the function then comes from
  // the frame of the same file and line, if any), else of the innermost frame of its stack outside
  // installed packages, else of the innermost.
  SourceLine LineOf(const proto::OpMetadata& metadata) const;

  // Notes that `frame_id` and its callers are needed.
  void Use(int64_t frame_id);
  // The frames that were noted, ascending.
  std::vector<PlanFrame> Used(TextBudget& text) const;

 private:
  // The caller, 0 for none.
  int64_t Parent(int64_t frame_id) const;
  void ChooseUserFrames(IssueLog& log);

  const proto::StackFrameIndexProto& index_;
  // By frame id: the innermost frame from it outwards that is the user's; 0: none.
  std::vector<int64_t> user_frame_;
  std::vector<bool> used_;
};

}  // namespace oomdb::ingest

#endif  // OOMDB_INGEST_PLAN_STACK_FRAMES_H_
