#include "cli/ingest/tasks.h"

#include <algorithm>
#include <filesystem>
#include <system_error>
#include <utility>

#include "ingest/dump/dump_folders.h"
#include "ingest/source/discover.h"

namespace oomdb::cli {
namespace {

namespace fs = std::filesystem;

int64_t SizeOf(const std::string& path) {
  std::error_code error;
  const uintmax_t size = fs::file_size(path, error);
  return error ? 0 : static_cast<int64_t>(size);
}

void AddItem(const IngestItem& item, size_t index, std::vector<IngestTask>& tasks) {
  IngestTask task;
  task.item = index;
  task.path = item.path;
  task.problem = item.problem;
  if (!task.problem.empty()) {
    tasks.push_back(std::move(task));
    return;
  }
  std::error_code ignored;
  const bool folder = item.path != "-" && fs::is_directory(item.path, ignored);
  task.in_folder = folder;
  ingest::Discovery found;
  try {
    found = ingest::DiscoverFiles(item.path);
  } catch (const Error& error) {
    task.problem = error.what();
    tasks.push_back(std::move(task));
    return;
  }
  for (std::string& unreadable : found.unreadable) {
    task.problem = std::move(unreadable);
    tasks.push_back(task);
  }
  task.problem.clear();
  // A dump's file that is named alone is read as such.
  std::vector<ingest::DumpFolder> dumps;
  if (folder) dumps = ingest::TakeDumpFolders(found.files);
  const size_t first = tasks.size();
  for (ingest::DumpFolder& dump : dumps) {
    task.bytes = 0;
    for (const ingest::DumpFile& file : dump.files)
      task.bytes += SizeOf(dump.path + "/" + file.file_name);
    task.path = dump.path;
    task.dump = std::make_shared<const ingest::DumpFolder>(std::move(dump));
    tasks.push_back(task);
  }
  task.dump = nullptr;
  for (std::string& file : found.files) {
    task.bytes = SizeOf(file);
    task.path = std::move(file);
    tasks.push_back(task);
  }
  std::stable_sort(tasks.begin() + static_cast<std::ptrdiff_t>(first), tasks.end(),
                   [](const IngestTask& a, const IngestTask& b) { return a.path < b.path; });
  if (!folder) return;
  task.path = item.path;
  task.bytes = 0;
  task.ends_folder = true;
  tasks.push_back(std::move(task));
}

}  // namespace

std::vector<IngestTask> FindIngestTasks(const std::vector<IngestItem>& items) {
  std::vector<IngestTask> tasks;
  for (size_t i = 0; i < items.size(); ++i) AddItem(items[i], i, tasks);
  return tasks;
}

}  // namespace oomdb::cli
