#include "ingest/plan/replay/columns.h"

#include <google/protobuf/descriptor.h>
#include <google/protobuf/message.h>

#include <algorithm>
#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <stdexcept>
#include <unordered_map>
#include <utility>
#include <vector>

#include "base/error.h"

namespace oomdb::ingest {
namespace {

using google::protobuf::Descriptor;
using google::protobuf::FieldDescriptor;
using google::protobuf::Message;
using google::protobuf::Reflection;

[[noreturn]] void RefuseColumns() { throw Error("the stored replay of a plan is damaged"); }

// ---- numbers

uint64_t ZigZag(int64_t v) {
  return (static_cast<uint64_t>(v) << 1) ^ static_cast<uint64_t>(v >> 63);
}
int64_t UnZigZag(uint64_t v) { return static_cast<int64_t>((v >> 1) ^ (~(v & 1) + 1)); }
int64_t WrappedDifference(int64_t a, int64_t b) {
  return static_cast<int64_t>(static_cast<uint64_t>(a) - static_cast<uint64_t>(b));
}
int64_t WrappedSum(int64_t a, int64_t b) {
  return static_cast<int64_t>(static_cast<uint64_t>(a) + static_cast<uint64_t>(b));
}

void PutVarint(uint64_t v, std::string* out) {
  while (v >= 0x80) {
    out->push_back(static_cast<char>(v | 0x80));
    v >>= 7;
  }
  out->push_back(static_cast<char>(v));
}

class ColumnCursor {
 public:
  explicit ColumnCursor(std::string_view bytes) : rest_(bytes) {}

  uint64_t Varint() {
    uint64_t v = 0;
    for (int shift = 0; shift < 64; shift += 7) {
      if (rest_.empty()) RefuseColumns();
      const auto byte = static_cast<uint8_t>(rest_.front());
      rest_.remove_prefix(1);
      v |= static_cast<uint64_t>(byte & 0x7f) << shift;
      if (byte < 0x80) return v;
    }
    RefuseColumns();
  }
  std::string_view Bytes(uint64_t count) {
    if (count > rest_.size()) RefuseColumns();
    const std::string_view bytes = rest_.substr(0, count);
    rest_.remove_prefix(count);
    return bytes;
  }
  bool empty() const { return rest_.empty(); }

 private:
  std::string_view rest_;
};

// ---- texts: a stem, which a dictionary has, and a number that ends it: fusion.123

struct StemAndNumber {
  std::string_view stem;
  std::optional<int64_t> number;
};

StemAndNumber SplitText(std::string_view text) {
  constexpr size_t kMaxDigits = 15;
  size_t at = text.size();
  while (at > 0 && text[at - 1] >= '0' && text[at - 1] <= '9' && text.size() - at < kMaxDigits)
    --at;
  // Only what comes out again as it went in: no leading zeros.
  while (at < text.size() && text[at] == '0' && at + 1 < text.size()) ++at;
  if (at == text.size()) return {text, std::nullopt};
  int64_t number = 0;
  for (char c : text.substr(at)) number = number * 10 + (c - '0');
  return {text.substr(0, at), number};
}

// ---- columns

// Of one field. Which are used depends on its type.
struct Column {
  std::string key;  // "ShapeProto.3"
  std::string counts, values, text;
};

enum class Coding { kPlain, kCounting, kNearId };

struct MessagePlan;

struct FieldPlan {
  const FieldDescriptor* field = nullptr;
  Column* column = nullptr;
  Coding coding = Coding::kPlain;
  MessagePlan* of = nullptr;  // Of a message's type.
  int64_t last = 0;           // Of a counting field.
  // Of texts: by stem, its number and the last number that followed it.
  std::unordered_map<std::string, std::pair<size_t, int64_t>> stems;
  std::deque<std::pair<std::string, int64_t>> stem_list;
  // When reading.
  ColumnCursor counts{{}}, values{{}}, text{{}};
  bool absent = false;
};

struct MessagePlan {
  std::deque<FieldPlan> fields;
  int id_field = -1;  // The place of the field `id`, which those near it need first.
  bool shared = false;
  std::unordered_map<std::string, size_t> known;  // When writing: by content.
  // When reading, with their sizes in memory; null: still being read.
  std::deque<std::pair<std::unique_ptr<Message>, size_t>> known_list;
};

// The columns of a message type and of all types inside it, in an order that only the types give.
class ColumnLayout {
 public:
  ColumnLayout(const Descriptor& root, const ColumnRules& rules) : rules_(rules) {
    root_ = Plan(root);
  }

  MessagePlan* root() { return root_; }
  std::deque<Column>& columns() { return columns_; }

  template <typename Visit>
  void ForEachField(const Visit& visit) {
    for (auto& [type, plan] : plans_) {
      for (FieldPlan& field : plan->fields) visit(field);
    }
  }

 private:
  MessagePlan* Plan(const Descriptor& type) {
    const auto found = plans_.find(type.full_name());
    if (found != plans_.end()) return found->second.get();
    MessagePlan* plan =
        plans_.emplace(type.full_name(), std::make_unique<MessagePlan>()).first->second.get();
    plan->shared = rules_.shared_messages.contains(type.name());
    std::vector<const FieldDescriptor*> fields;
    for (int k = 0; k < type.field_count(); ++k) fields.push_back(type.field(k));
    // The id goes first: others lean on it.
    std::sort(fields.begin(), fields.end(), [](const auto* a, const auto* b) {
      return std::pair(a->name() != "id", a->number()) < std::pair(b->name() != "id", b->number());
    });
    for (const FieldDescriptor* field : fields) {
      const std::string name = type.name() + "." + field->name();
      FieldPlan& added = plan->fields.emplace_back();
      added.field = field;
      added.column = &columns_.emplace_back();
      added.column->key = type.name() + "." + std::to_string(field->number());
      if (rules_.counting_fields.contains(name)) added.coding = Coding::kCounting;
      if (rules_.near_id_fields.contains(name)) added.coding = Coding::kNearId;
    }
    for (FieldPlan& field : plan->fields) {
      if (field.field->message_type() != nullptr) field.of = Plan(*field.field->message_type());
    }
    return plan;
  }

  const ColumnRules& rules_;
  std::map<std::string, std::unique_ptr<MessagePlan>> plans_;
  std::deque<Column> columns_;
  MessagePlan* root_ = nullptr;
};

// ---- writing

class ColumnWriter {
 public:
  explicit ColumnWriter(ColumnLayout* layout) : layout_(*layout) {}

  std::string Write(const Message& message) {
    Put(message, layout_.root());
    std::string bytes;
    PutVarint(layout_.columns().size(), &bytes);
    for (const Column& column : layout_.columns()) {
      PutVarint(column.key.size(), &bytes);
      bytes += column.key;
      PutVarint(column.counts.size(), &bytes);
      PutVarint(column.values.size(), &bytes);
      PutVarint(column.text.size(), &bytes);
    }
    for (const Column& column : layout_.columns()) bytes += column.counts;
    for (const Column& column : layout_.columns()) bytes += column.values;
    for (const Column& column : layout_.columns()) bytes += column.text;
    return bytes;
  }

 private:
  void Put(const Message& message, MessagePlan* plan) {
    const Reflection& reflection = *message.GetReflection();
    int64_t id = 0;
    for (FieldPlan& field : plan->fields) {
      const FieldDescriptor* f = field.field;
      if (f->is_repeated()) {
        PutRepeated(message, reflection, id, &field);
      } else if (f->cpp_type() == FieldDescriptor::CPPTYPE_MESSAGE) {
        PutOne(reflection, message, &field);
      } else if (f->cpp_type() == FieldDescriptor::CPPTYPE_STRING) {
        std::string scratch;
        PutText(reflection.GetStringReference(message, f, &scratch), &field);
      } else {
        const int64_t value = Number(reflection, message, f, -1);
        PutNumber(value, id, &field);
        if (f->name() == "id") id = value;
      }
    }
  }

  static int64_t Number(const Reflection& r, const Message& m, const FieldDescriptor* f, int n) {
    switch (f->cpp_type()) {
      case FieldDescriptor::CPPTYPE_INT64:
        return n < 0 ? r.GetInt64(m, f) : r.GetRepeatedInt64(m, f, n);
      case FieldDescriptor::CPPTYPE_INT32:
        return n < 0 ? r.GetInt32(m, f) : r.GetRepeatedInt32(m, f, n);
      case FieldDescriptor::CPPTYPE_BOOL:
        return n < 0 ? r.GetBool(m, f) : r.GetRepeatedBool(m, f, n);
      case FieldDescriptor::CPPTYPE_ENUM:
        return n < 0 ? r.GetEnumValue(m, f) : r.GetRepeatedEnumValue(m, f, n);
      default:
        throw std::logic_error("no column for the type of " + f->full_name());
    }
  }

  void PutRepeated(const Message& message, const Reflection& reflection, int64_t id,
                   FieldPlan* field) {
    const FieldDescriptor* f = field->field;
    const int count = reflection.FieldSize(message, f);
    PutVarint(count, &field->column->counts);
    if (f->cpp_type() == FieldDescriptor::CPPTYPE_MESSAGE) {
      std::vector<const Message*> all;
      all.reserve(count);
      for (int n = 0; n < count; ++n) all.push_back(&reflection.GetRepeatedMessage(message, f, n));
      if (f->is_map()) {
        // A map has no order of its own.
        const FieldDescriptor* key = f->message_type()->map_key();
        std::sort(all.begin(), all.end(), [&](const Message* a, const Message* b) {
          return a->GetReflection()->GetInt64(*a, key) < b->GetReflection()->GetInt64(*b, key);
        });
      }
      for (const Message* one : all) PutMessage(*one, field);
      return;
    }
    for (int n = 0; n < count; ++n) {
      if (f->cpp_type() == FieldDescriptor::CPPTYPE_STRING) {
        std::string scratch;
        PutText(reflection.GetRepeatedStringReference(message, f, n, &scratch), field);
      } else {
        PutNumber(Number(reflection, message, f, n), id, field);
      }
    }
  }

  void PutOne(const Reflection& reflection, const Message& message, FieldPlan* field) {
    const bool is_there = reflection.HasField(message, field->field);
    PutVarint(is_there ? 1 : 0, &field->column->counts);
    if (is_there) PutMessage(reflection.GetMessage(message, field->field), field);
  }

  void PutMessage(const Message& message, FieldPlan* field) {
    if (!field->of->shared) {
      Put(message, field->of);
      return;
    }
    const auto [known, is_new] =
        field->of->known.emplace(message.SerializeAsString(), field->of->known.size());
    PutVarint(known->second, &field->column->values);
    if (is_new) Put(message, field->of);
  }

  void PutNumber(int64_t value, int64_t id, FieldPlan* field) {
    const int64_t base = field->coding == Coding::kCounting ? field->last
                         : field->coding == Coding::kNearId ? id
                                                            : 0;
    PutVarint(ZigZag(WrappedDifference(value, base)), &field->column->values);
    field->last = value;
  }

  // 0 or 1 more than the stem's number; and whether a number follows.
  void PutText(const std::string& text, FieldPlan* field) {
    const StemAndNumber split = SplitText(text);
    const auto [stem, is_new] =
        field->stems.emplace(split.stem, std::pair(field->stems.size(), int64_t{0}));
    PutVarint(stem->second.first << 1 | (split.number ? 1 : 0), &field->column->values);
    if (is_new) {
      PutVarint(split.stem.size(), &field->column->text);
      field->column->text += split.stem;
    }
    if (split.number) {
      PutVarint(ZigZag(*split.number - stem->second.second), &field->column->counts);
      stem->second.second = *split.number;
    }
  }

  ColumnLayout& layout_;
};

// ---- reading

class ColumnReader {
 public:
  explicit ColumnReader(ColumnLayout* layout) : layout_(*layout) {}

  void Read(std::string_view bytes, Message* message) {
    ColumnCursor all(bytes);
    struct Lengths {
      std::string_view key;
      uint64_t counts, values, text;
    };
    std::vector<Lengths> lengths;
    for (uint64_t count = all.Varint(); count > 0; --count) {
      Lengths& of = lengths.emplace_back();
      of.key = all.Bytes(all.Varint());
      of.counts = all.Varint();
      of.values = all.Varint();
      of.text = all.Varint();
    }
    struct Streams {
      std::string_view counts, values, text;
    };
    std::map<std::string_view, Streams> columns;
    for (const Lengths& of : lengths) columns[of.key].counts = all.Bytes(of.counts);
    for (const Lengths& of : lengths) columns[of.key].values = all.Bytes(of.values);
    for (const Lengths& of : lengths) columns[of.key].text = all.Bytes(of.text);
    layout_.ForEachField([&](FieldPlan& field) {
      const auto found = columns.find(field.column->key);
      field.absent = found == columns.end();
      if (field.absent) return;
      field.counts = ColumnCursor(found->second.counts);
      field.values = ColumnCursor(found->second.values);
      field.text = ColumnCursor(found->second.text);
    });
    Take(layout_.root(), message, 0);
  }

 private:
  // As deep as protobuf reads.
  static constexpr int kMaxDepth = 100;
  // In memory: that of a program of some million instructions.
  static constexpr size_t kMaxCopiedBytes = size_t{512} << 20;

  void Take(MessagePlan* plan, Message* message, int depth) {
    if (depth > kMaxDepth) RefuseColumns();
    const Reflection& reflection = *message->GetReflection();
    int64_t id = 0;
    for (FieldPlan& field : plan->fields) {
      if (field.absent) continue;
      const FieldDescriptor* f = field.field;
      if (f->is_repeated()) {
        TakeRepeated(reflection, id, &field, message, depth);
      } else if (f->cpp_type() == FieldDescriptor::CPPTYPE_MESSAGE) {
        const uint64_t count = field.counts.Varint();
        if (count > 1) RefuseColumns();
        if (count == 1) {
          TakeMessage(&field, reflection.MutableMessage(message, f), depth);
        }
      } else if (f->cpp_type() == FieldDescriptor::CPPTYPE_STRING) {
        std::string text = TakeText(&field);
        if (!text.empty()) reflection.SetString(message, f, std::move(text));
      } else {
        const int64_t value = TakeNumber(id, &field);
        if (value != 0) Set(reflection, f, value, message);
        if (f->name() == "id") id = value;
      }
    }
  }

  // The values of a field stand one after the other: each takes at least a byte of some column, but
  // messages whose columns are all absent.
  void TakeRepeated(const Reflection& reflection, int64_t id, FieldPlan* field, Message* message,
                    int depth) {
    const FieldDescriptor* f = field->field;
    const uint64_t count = field->counts.Varint();
    if (f->cpp_type() == FieldDescriptor::CPPTYPE_MESSAGE &&
        std::all_of(field->of->fields.begin(), field->of->fields.end(),
                    [](const FieldPlan& inner) { return inner.absent; }) &&
        count > 0) {
      RefuseColumns();
    }
    for (uint64_t n = 0; n < count; ++n) {
      if (f->cpp_type() == FieldDescriptor::CPPTYPE_MESSAGE) {
        TakeMessage(field, reflection.AddMessage(message, f), depth);
      } else if (f->cpp_type() == FieldDescriptor::CPPTYPE_STRING) {
        reflection.AddString(message, f, TakeText(field));
      } else {
        Add(reflection, f, TakeNumber(id, field), message);
      }
    }
  }

  void TakeMessage(FieldPlan* field, Message* message, int depth) {
    MessagePlan* plan = field->of;
    if (!plan->shared) {
      Take(plan, message, depth + 1);
      return;
    }
    const uint64_t number = field->values.Varint();
    // One that is being read is in the list, too: it has its number before what is inside it.
    if (number < plan->known_list.size()) {
      const auto& [known, size] = plan->known_list[number];
      // Copies of copies grow without end in a few bytes.
      copied_bytes_ += size;
      if (known == nullptr || copied_bytes_ > kMaxCopiedBytes) RefuseColumns();
      message->CopyFrom(*known);
      return;
    }
    if (number != plan->known_list.size()) RefuseColumns();
    plan->known_list.emplace_back();
    Take(plan, message, depth + 1);
    auto& [known, size] = plan->known_list[number];
    size = message->SpaceUsedLong();
    copied_bytes_ += size;
    if (copied_bytes_ > kMaxCopiedBytes) RefuseColumns();
    known.reset(message->New());
    known->CopyFrom(*message);
  }

  int64_t TakeNumber(int64_t id, FieldPlan* field) {
    const int64_t base = field->coding == Coding::kCounting ? field->last
                         : field->coding == Coding::kNearId ? id
                                                            : 0;
    field->last = WrappedSum(UnZigZag(field->values.Varint()), base);
    return field->last;
  }

  std::string TakeText(FieldPlan* field) {
    const uint64_t value = field->values.Varint();
    const uint64_t number = value >> 1;
    if (number > field->stem_list.size()) RefuseColumns();
    if (number == field->stem_list.size()) {
      field->stem_list.emplace_back(field->text.Bytes(field->text.Varint()), 0);
    }
    auto& [stem, last] = field->stem_list[number];
    if ((value & 1) == 0) return stem;
    last = WrappedSum(last, UnZigZag(field->counts.Varint()));
    return stem + std::to_string(last);
  }

  static void Set(const Reflection& r, const FieldDescriptor* f, int64_t value, Message* m) {
    switch (f->cpp_type()) {
      case FieldDescriptor::CPPTYPE_INT64:
        return r.SetInt64(m, f, value);
      case FieldDescriptor::CPPTYPE_INT32:
        return r.SetInt32(m, f, static_cast<int32_t>(value));
      case FieldDescriptor::CPPTYPE_BOOL:
        return r.SetBool(m, f, value != 0);
      default:
        return r.SetEnumValue(m, f, static_cast<int>(value));
    }
  }
  static void Add(const Reflection& r, const FieldDescriptor* f, int64_t value, Message* m) {
    switch (f->cpp_type()) {
      case FieldDescriptor::CPPTYPE_INT64:
        return r.AddInt64(m, f, value);
      case FieldDescriptor::CPPTYPE_INT32:
        return r.AddInt32(m, f, static_cast<int32_t>(value));
      case FieldDescriptor::CPPTYPE_BOOL:
        return r.AddBool(m, f, value != 0);
      default:
        return r.AddEnumValue(m, f, static_cast<int>(value));
    }
  }

  ColumnLayout& layout_;
  size_t copied_bytes_ = 0;
};

}  // namespace

std::string EncodeColumns(const Message& message, const ColumnRules& rules) {
  ColumnLayout layout(*message.GetDescriptor(), rules);
  return ColumnWriter(&layout).Write(message);
}

void DecodeColumns(std::string_view bytes, const ColumnRules& rules, Message* message) {
  ColumnLayout layout(*message->GetDescriptor(), rules);
  ColumnReader(&layout).Read(bytes, message);
}

}  // namespace oomdb::ingest
