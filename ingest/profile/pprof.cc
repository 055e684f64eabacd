#include "ingest/profile/pprof.h"

#include "ingest/base/wire.h"

namespace oomdb::ingest {
namespace {

// A repeated number: one a field, or several packed into bytes.
template <typename Number>
void AddNumbers(const WireCursor& cursor, std::vector<Number>& numbers) {
  if (cursor.type() == WireType::kVarint) {
    numbers.push_back(static_cast<Number>(cursor.varint()));
    return;
  }
  const char* at = cursor.bytes().data();
  const char* const end = at + cursor.bytes().size();
  for (uint64_t number = 0; at != end && DecodeVarint(&at, end, &number);)
    numbers.push_back(static_cast<Number>(number));
}

class Reader {
 public:
  explicit Reader(std::string_view bytes) : bytes_(bytes) {}

  // Texts, functions and locations may come after what refers to them: so each in a walk of its
  // own.
  Pprof Read() {
    Walk([this](const WireCursor& profile) {
      if (profile.field() == kStringTable) strings_.push_back(profile.bytes());
      if (profile.field() == kTimeNanos && profile.int64() > 0) pprof_.time_ns = profile.int64();
    });
    Walk([this](const WireCursor& profile) {
      if (profile.field() == kSampleType) ReadValueType(profile.bytes());
      if (profile.field() == kFunction) ReadFunction(profile.bytes());
    });
    Walk([this](const WireCursor& profile) {
      if (profile.field() == kLocation) ReadLocation(profile.bytes());
    });
    Walk([this](const WireCursor& profile) {
      if (profile.field() == kSample) ReadSample(profile.bytes());
    });
    return std::move(pprof_);
  }

 private:
  // Field numbers of Profile.
  static constexpr uint32_t kSampleType = 1, kSample = 2, kLocation = 4, kFunction = 5,
                            kStringTable = 6, kTimeNanos = 9;

  template <typename Visit>
  void Walk(Visit visit) {
    WireCursor profile(bytes_);
    while (profile.Next()) visit(profile);
    pprof_.cut = profile.malformed();
  }

  std::string_view Text(uint64_t index) {
    if (index < strings_.size()) return strings_[index];
    ++pprof_.bad_references;
    return {};
  }

  void ReadValueType(std::string_view bytes) {
    uint64_t type = 0;
    for (WireCursor value(bytes); value.Next();) {
      if (value.field() == 1) type = value.varint();
    }
    pprof_.value_types.push_back(Text(type));
  }

  void ReadFunction(std::string_view bytes) {
    uint64_t id = 0;
    PprofFrame function;
    for (WireCursor field(bytes); field.Next();) {
      if (field.field() == 1) id = field.varint();
      if (field.field() == 2) function.function = Text(field.varint());
      if (field.field() == 4) function.file = Text(field.varint());
    }
    functions_.emplace(id, function);
  }

  void ReadLocation(std::string_view bytes) {
    uint64_t id = 0;
    std::vector<PprofFrame> frames;
    for (WireCursor field(bytes); field.Next();) {
      if (field.field() == 1) id = field.varint();
      if (field.field() == 4) frames.push_back(ReadLine(field.bytes()));
    }
    pprof_.locations.emplace(id, std::move(frames));
  }

  PprofFrame ReadLine(std::string_view bytes) {
    uint64_t function = 0;
    int64_t line = 0;
    for (WireCursor field(bytes); field.Next();) {
      if (field.field() == 1) function = field.varint();
      if (field.field() == 2) line = field.int64();
    }
    PprofFrame frame;
    const auto found = functions_.find(function);
    if (found != functions_.end()) {
      frame = found->second;
    } else {
      ++pprof_.bad_references;
    }
    if (line > 0) frame.line = line;
    return frame;
  }

  void ReadSample(std::string_view bytes) {
    PprofSample sample;
    for (WireCursor field(bytes); field.Next();) {
      if (field.field() == 1) AddNumbers(field, sample.locations);
      if (field.field() == 2) AddNumbers(field, sample.values);
      if (field.field() == 3) ReadLabel(field.bytes(), sample);
    }
    for (const uint64_t location : sample.locations) {
      if (pprof_.locations.count(location) == 0) ++pprof_.bad_references;
    }
    pprof_.samples.push_back(std::move(sample));
  }

  void ReadLabel(std::string_view bytes, PprofSample& sample) {
    uint64_t key = 0;
    uint64_t text = 0;
    for (WireCursor field(bytes); field.Next();) {
      if (field.field() == 1) key = field.varint();
      if (field.field() == 2) text = field.varint();
    }
    if (text != 0) sample.labels.emplace_back(Text(key), Text(text));
  }

  const std::string_view bytes_;
  std::vector<std::string_view> strings_;
  std::unordered_map<uint64_t, PprofFrame> functions_;
  Pprof pprof_;
};

}  // namespace

Pprof ReadPprof(std::string_view bytes) { return Reader(bytes).Read(); }

}  // namespace oomdb::ingest
