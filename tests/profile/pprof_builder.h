// Builds pprof profiles for tests: bytes from readable calls.
#ifndef OOMDB_TESTS_PROFILE_PPROF_BUILDER_H_
#define OOMDB_TESTS_PROFILE_PPROF_BUILDER_H_

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace oomdb::ingest {

class PprofBuilder {
 public:
  struct Frame {
    std::string function, file;
    int64_t line = 0;
  };

  // As JAX has them.
  PprofBuilder() {
    ValueType("allocations", "count");
    ValueType("space", "bytes");
  }
  // Without values of its own.
  struct Empty {};
  explicit PprofBuilder(Empty) {}

  PprofBuilder& ValueType(const std::string& type, const std::string& unit) {
    Append(1, Number(1, Text(type)) + Number(2, Text(unit)));
    return *this;
  }

  // `stack`: innermost first. An empty device: no such label.
  PprofBuilder& Sample(const std::string& kind, const std::string& device, int64_t count,
                       int64_t bytes, const std::vector<Frame>& stack) {
    std::string locations;
    for (const Frame& frame : stack) locations += Varint(Location(frame));
    std::string sample = Bytes(1, locations);
    sample += Bytes(2, Varint(static_cast<uint64_t>(count)) + Varint(static_cast<uint64_t>(bytes)));
    sample += Bytes(3, Number(1, Text("kind")) + Number(2, Text(kind)));
    if (!device.empty()) sample += Bytes(3, Number(1, Text("device")) + Number(2, Text(device)));
    Append(2, sample);
    return *this;
  }

  // A field of the profile, whatever stands in it.
  PprofBuilder& Append(uint32_t field, const std::string& content) {
    body_ += PprofBuilder::Bytes(field, content);
    return *this;
  }

  std::string Build() const {
    std::string table = Bytes(6, "");
    for (const std::string& text : texts_) table += Bytes(6, text);
    return body_ + table;
  }

  static std::string Varint(uint64_t number) {
    std::string bytes;
    for (; number >= 0x80; number >>= 7) bytes += static_cast<char>(number | 0x80);
    return bytes + static_cast<char>(number);
  }
  static std::string Number(uint32_t field, uint64_t number) {
    return Varint(field << 3) + Varint(number);
  }
  static std::string Bytes(uint32_t field, std::string_view content) {
    return Varint(field << 3 | 2) + Varint(content.size()) + std::string(content);
  }

 private:
  uint64_t Text(const std::string& text) {
    texts_.push_back(text);
    return texts_.size();
  }

  uint64_t Location(const Frame& frame) {
    const uint64_t id = ++last_id_;
    Append(5, Number(1, id) + Number(2, Text(frame.function)) + Number(4, Text(frame.file)));
    Append(4,
           Number(1, id) + Bytes(4, Number(1, id) + Number(2, static_cast<uint64_t>(frame.line))));
    return id;
  }

  std::string body_;
  std::vector<std::string> texts_;
  uint64_t last_id_ = 0;
};

}  // namespace oomdb::ingest

#endif  // OOMDB_TESTS_PROFILE_PPROF_BUILDER_H_
