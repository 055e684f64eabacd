#include "cli/ingest_tasks.h"

#include <filesystem>
#include <system_error>
#include <utility>

#include "ingest/source/discover.h"

namespace oomdb {
namespace {

namespace fs = std::filesystem;

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
  Discovery found;
  try {
    found = DiscoverFiles(item.path);
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
  for (std::string& file : found.files) {
    const uintmax_t size = fs::file_size(file, ignored);
    task.bytes = ignored ? 0 : static_cast<int64_t>(size);
    task.path = std::move(file);
    tasks.push_back(task);
  }
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

}  // namespace oomdb
