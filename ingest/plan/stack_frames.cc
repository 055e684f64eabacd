#include "ingest/plan/stack_frames.h"

#include <algorithm>
#include <cctype>

namespace oomdb::ingest {
namespace {

// How far a stack is searched for the frame that the metadata's own file and line belong to.
constexpr int kMaxFunctionSearch = 256;

// The entry of a 1-based table of strings; empty for 0 and what is not there.
std::string_view Entry(const google::protobuf::RepeatedPtrField<std::string>& table, int32_t id) {
  if (id <= 0 || id > table.size()) return {};
  return table.Get(id - 1);
}

}  // namespace

bool IsInstalledFile(std::string_view file) {
  if (file.starts_with("<frozen")) return true;
  std::string_view previous;
  size_t begin = 0;
  while (begin <= file.size()) {
    const size_t end = std::min(file.find_first_of("/\\", begin), file.size());
    const std::string_view part = file.substr(begin, end - begin);
    if (part == "site-packages" || part == "dist-packages") return true;
    // lib/python3.11, lib64/python3.
    if ((previous == "lib" || previous == "lib64") && part.starts_with("python") &&
        part.size() > 6 && std::isdigit(static_cast<unsigned char>(part[6])) != 0) {
      return true;
    }
    previous = part;
    begin = end + 1;
  }
  return false;
}

StackFrames::StackFrames(const proto::StackFrameIndexProto& index, IssueLog& log)
    : index_(index),
      user_frame_(index.stack_frames_size() + 1, 0),
      used_(index.stack_frames_size() + 1, false) {
  ChooseUserFrames(log);
}

int64_t StackFrames::Parent(int64_t frame_id) const {
  const int64_t parent = index_.stack_frames(static_cast<int>(frame_id - 1)).parent_frame_id();
  return Has(parent) ? parent : 0;
}

SourceLine StackFrames::At(int64_t frame_id) const {
  if (!Has(frame_id)) return {};
  const int32_t location = index_.stack_frames(static_cast<int>(frame_id - 1)).file_location_id();
  if (location <= 0 || location > index_.file_locations_size()) return {};
  const auto& at = index_.file_locations(location - 1);
  SourceLine line{Entry(index_.file_names(), at.file_name_id()), std::nullopt,
                  Entry(index_.function_names(), at.function_name_id())};
  if (at.line() > 0) line.line = at.line();
  return line;
}

void StackFrames::ChooseUserFrames(IssueLog& log) {
  // Whether a file is installed is asked once a file, not once a frame.
  std::vector<bool> installed;
  installed.reserve(index_.file_names_size());
  for (const std::string& file : index_.file_names()) installed.push_back(IsInstalledFile(file));
  auto is_users = [&](int64_t frame_id) {
    const int32_t location = index_.stack_frames(static_cast<int>(frame_id - 1)).file_location_id();
    if (location <= 0 || location > index_.file_locations_size()) return false;
    const int32_t file = index_.file_locations(location - 1).file_name_id();
    return file > 0 && file <= index_.file_names_size() && !installed[file - 1];
  };

  enum State : char { kNew, kOnPath, kDone };
  std::vector<char> state(user_frame_.size(), kNew);
  std::vector<int64_t> path;
  for (int64_t start = 1; Has(start); ++start) {
    int64_t frame = start;
    int64_t found = 0;
    path.clear();
    while (frame != 0) {
      if (state[frame] == kDone) {
        found = user_frame_[frame];
        break;
      }
      if (state[frame] == kOnPath) {
        log.Warn("stack_frame_cycle", "a stack frame is its own caller; its stack is cut there");
        break;
      }
      state[frame] = kOnPath;
      path.push_back(frame);
      frame = Parent(frame);
    }
    for (; !path.empty(); path.pop_back()) {
      if (is_users(path.back())) found = path.back();
      user_frame_[path.back()] = found;
      state[path.back()] = kDone;
    }
  }
}

SourceLine StackFrames::LineOf(const proto::OpMetadata& metadata) const {
  const int64_t frame_id = metadata.stack_frame_id();
  if (metadata.source_file().empty()) {
    if (!Has(frame_id)) return {};
    return At(user_frame_[frame_id] != 0 ? user_frame_[frame_id] : frame_id);
  }
  SourceLine line{metadata.source_file(), std::nullopt, {}};
  if (metadata.source_line() > 0) line.line = metadata.source_line();
  int64_t frame = Has(frame_id) ? frame_id : 0;
  for (int steps = 0; frame != 0 && steps < kMaxFunctionSearch; ++steps) {
    const SourceLine at = At(frame);
    if (at.file == line.file && at.line == line.line) {
      line.function = at.function;
      break;
    }
    frame = Parent(frame);
  }
  return line;
}

void StackFrames::Use(int64_t frame_id) {
  while (Has(frame_id) && !used_[frame_id]) {
    used_[frame_id] = true;
    frame_id = Parent(frame_id);
  }
}

std::vector<PlanFrame> StackFrames::Used(TextBudget& text) const {
  std::vector<PlanFrame> frames;
  for (int64_t id = 1; Has(id); ++id) {
    if (!used_[id]) continue;
    const SourceLine at = At(id);
    PlanFrame frame;
    frame.frame_id = id;
    if (Parent(id) != 0) frame.parent_frame_id = Parent(id);
    frame.source_file = text.Copy(at.file);
    frame.source_line = at.line;
    frame.function_name = text.Copy(at.function);
    frames.push_back(std::move(frame));
  }
  return frames;
}

}  // namespace oomdb::ingest
