#include "ingest/source/discover.h"

#include <sys/stat.h>

#include <algorithm>
#include <cstring>
#include <filesystem>
#include <set>
#include <system_error>
#include <utility>

#include "base/error.h"

namespace oomdb::ingest {
namespace {

namespace fs = std::filesystem;

using FileId = std::pair<dev_t, ino_t>;

class Walk {
 public:
  explicit Walk(const DiscoverLimits& limits) : limits_(limits) {}

  Discovery Run(const std::string& path) {
    Visit({path, 0});
    // Links come after all that has a name of its own, so that a thing's real name wins.
    while (!links_.empty()) {
      std::vector<Folder> links = std::exchange(links_, {});
      std::sort(links.begin(), links.end(),
                [](const Folder& a, const Folder& b) { return a.path < b.path; });
      for (const Folder& link : links) FollowLink(link);
    }
    std::sort(found_.files.begin(), found_.files.end());
    std::sort(found_.unreadable.begin(), found_.unreadable.end());
    return std::move(found_);
  }

 private:
  struct Folder {
    std::string path;
    size_t depth;
  };

  void Visit(Folder top) {
    std::vector<Folder> pending{std::move(top)};
    while (!pending.empty()) {
      const Folder folder = std::move(pending.back());
      pending.pop_back();
      struct stat status;
      if (::stat(folder.path.c_str(), &status) != 0) {
        found_.unreadable.push_back(folder.path + ": " + std::strerror(errno));
        continue;
      }
      if (!folders_.insert({status.st_dev, status.st_ino}).second) continue;
      if (folder.depth > limits_.max_depth) {
        throw Error(folder.path + ": folders more than " + std::to_string(limits_.max_depth) +
                    " deep; name a folder nearer to the captures");
      }
      List(folder, pending);
    }
  }

  // Takes the files of one folder, puts its folders on `pending` and its links aside.
  void List(const Folder& folder, std::vector<Folder>& pending) {
    std::error_code error;
    fs::directory_iterator entry(folder.path, error);
    for (; !error && entry != fs::directory_iterator(); entry.increment(error)) {
      const std::string path = entry->path().string();
      std::error_code ignored;
      const fs::file_status status = entry->symlink_status(ignored);
      if (fs::is_symlink(status)) {
        links_.push_back({path, folder.depth + 1});
      } else if (fs::is_directory(status)) {
        pending.push_back({path, folder.depth + 1});
      } else if (fs::is_regular_file(status)) {
        TakeFile(path, /*through_link=*/false);
      }
    }
    if (error) found_.unreadable.push_back(folder.path + ": " + error.message());
  }

  void FollowLink(const Folder& link) {
    std::error_code error;
    const fs::file_status status = fs::status(link.path, error);
    if (fs::is_directory(status)) {
      Visit(link);
    } else if (fs::is_regular_file(status)) {
      TakeFile(link.path, /*through_link=*/true);
    }
    // Dangling links and links in a circle lead nowhere: nothing to read there.
  }

  void TakeFile(const std::string& path, bool through_link) {
    struct stat status;
    if (::stat(path.c_str(), &status) == 0) {
      const bool is_new = files_.insert({status.st_dev, status.st_ino}).second;
      if (through_link && !is_new) return;
    }
    if (found_.files.size() >= limits_.max_files) {
      throw Error("more than " + std::to_string(limits_.max_files) +
                  " files below this folder; name a folder nearer to the captures");
    }
    found_.files.push_back(path);
  }

  const DiscoverLimits limits_;
  Discovery found_;
  std::vector<Folder> links_;
  std::set<FileId> folders_;
  std::set<FileId> files_;
};

}  // namespace

Discovery DiscoverFiles(const std::string& path, const DiscoverLimits& limits) {
  if (path == "-") return {{path}, {}};
  struct stat status;
  if (::stat(path.c_str(), &status) != 0) {
    const int error = errno;
    if (error == ENOENT) {
      throw Error(path +
                  ": no such file or folder; check the path (a capture is an .xplane.pb file)");
    }
    throw Error(path + ": " + std::strerror(error));
  }
  if (!S_ISDIR(status.st_mode)) return {{path}, {}};
  Discovery found = Walk(limits).Run(path);
  if (found.files.empty() && !found.unreadable.empty()) {
    throw Error(found.unreadable.front() + "; nothing below it could be read");
  }
  return found;
}

}  // namespace oomdb::ingest
