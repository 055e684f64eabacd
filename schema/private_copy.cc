#include "schema/private_copy.h"

#include <fmt/format.h>
#include <sys/stat.h>

#include <array>
#include <cerrno>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <system_error>
#include <tuple>
#include <vector>

#include "base/error.h"

namespace oomdb::schema {
namespace {

namespace fs = std::filesystem;

constexpr int kTries = 5;

// Which file it is, and everything that a write to it changes.
using Identity = std::tuple<dev_t, ino_t, off_t, time_t, long, time_t, long>;

Identity IdentityOf(const std::string& path) {
  struct stat status = {};
  if (::stat(path.c_str(), &status) != 0) return {};
  return {status.st_dev,         status.st_ino,          status.st_size,
          status.st_mtim.tv_sec, status.st_mtim.tv_nsec, status.st_ctim.tv_sec,
          status.st_ctim.tv_nsec};
}

std::string TemporaryPlace() {
  const char* const place = std::getenv("TMPDIR");
  return place != nullptr && *place != '\0' ? place : "/tmp";
}

std::string MakeFolder() {
  std::string folder = TemporaryPlace() + "/oomdb-XXXXXX";
  if (::mkdtemp(folder.data()) == nullptr) {
    throw Error(
        fmt::format("{}: no folder can be made for a private copy ({}); $TMPDIR names "
                    "another place",
                    TemporaryPlace(), std::generic_category().message(errno)));
  }
  return folder;
}

uint64_t SizeOf(const std::string& path) {
  std::error_code missing;
  const auto size = fs::file_size(path, missing);
  return missing ? 0 : size;
}

}  // namespace

bool IsInWalMode(const std::string& path) {
  // SQLite's file format, section 1.3: the versions for writing and reading.
  std::array<char, 20> header{};
  std::ifstream file(path, std::ios::binary);
  file.read(header.data(), static_cast<std::streamsize>(header.size()));
  return file.good() && (header[18] == 2 || header[19] == 2);
}

bool HasBytes(const std::string& path) { return SizeOf(path) > 0; }

std::string ImmutableUri(const std::string& path) {
  std::string uri = "file:";
  for (const char c : fs::absolute(path).string()) {
    if (c == '%' || c == '?' || c == '#') {
      uri += fmt::format("%{:02x}", static_cast<unsigned>(c));
    } else {
      uri += c;
    }
  }
  return uri + "?immutable=1";
}

PrivateCopy::PrivateCopy(const std::string& path, const std::string& beside)
    : folder_(MakeFolder()) {
  try {
    const std::string other = path + beside;
    for (int i = 0; i < kTries; ++i) {
      bytes_ = SizeOf(path) + SizeOf(other);
      std::error_code error;
      const fs::space_info space = fs::space(folder_, error);
      if (!error && space.available < bytes_) {
        throw Error(
            fmt::format("{}: its writer was killed, and a private copy of {} MB has no room in {}: "
                        "name another "
                        "place with $TMPDIR, or have the next `oomdb ingest` roll it back in place",
                        path, bytes_ / 1000000 + 1, TemporaryPlace()));
      }
      const auto before = std::tuple(IdentityOf(path), IdentityOf(other));
      const auto replace = fs::copy_options::overwrite_existing;
      fs::copy_file(path, this->path(), replace, error);
      if (!error) fs::copy_file(other, this->path() + beside, replace, error);
      if (!error && before == std::tuple(IdentityOf(path), IdentityOf(other))) return;
    }
    throw Error(
        fmt::format("{}: it changes while it is read; try again when its writer is done", path));
  } catch (...) {
    std::error_code ignored;
    fs::remove_all(folder_, ignored);
    throw;
  }
}

PrivateCopy::~PrivateCopy() {
  std::error_code ignored;
  fs::remove_all(folder_, ignored);
}

}  // namespace oomdb::schema
