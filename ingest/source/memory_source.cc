#include <algorithm>
#include <utility>

#include "base/error.h"
#include "ingest/source/source.h"

namespace oomdb::ingest {
namespace {

class BytesSource : public Source {
 public:
  BytesSource(std::string_view bytes, std::string path) : bytes_(bytes), path_(std::move(path)) {}

  uint64_t size() const override { return bytes_.size(); }
  const std::string& path() const override { return path_; }
  const std::string& compression() const override { return compression_; }

  void ReadAt(uint64_t position, std::span<char> out) const override {
    if (position > bytes_.size() || out.size() > bytes_.size() - position) {
      throw Error(path_ + ": read past its end");
    }
    std::copy_n(bytes_.data() + position, out.size(), out.data());
  }

 private:
  const std::string_view bytes_;
  const std::string path_;
  const std::string compression_;
};

}  // namespace

std::unique_ptr<Source> MemorySource(std::string_view bytes, std::string path) {
  return std::make_unique<BytesSource>(bytes, std::move(path));
}

}  // namespace oomdb::ingest
