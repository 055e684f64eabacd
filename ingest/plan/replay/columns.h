// A protobuf message as columns: the values of one field, over the whole message, stand together.
// Programs repeat themselves (layers, fusions), and side by side that is seen: a module takes about
// a third of what its serialized form does after compression.
//
// The columns name their fields, so what one version writes another reads: fields that the reader
// doesn't have are passed over, those that the writer didn't have are absent.
#ifndef OOMDB_INGEST_PLAN_REPLAY_COLUMNS_H_
#define OOMDB_INGEST_PLAN_REPLAY_COLUMNS_H_

#include <cstddef>
#include <set>
#include <string>
#include <string_view>

namespace google::protobuf {
class Message;
}  // namespace google::protobuf

namespace oomdb::ingest {

// How a type is written; by full or unqualified names ("ShapeProto", "HloInstructionProto.id").
struct ColumnRules {
  // Messages that occur again and again: each content is written once.
  std::set<std::string, std::less<>> shared_messages;
  // Integers that count up: written as the difference from the one before in the column.
  std::set<std::string, std::less<>> counting_fields;
  // Integers near the field `id` of their message: written as the difference from it.
  std::set<std::string, std::less<>> near_id_fields;
};

// Of a message's serialized form: what is larger is not read again.
inline constexpr size_t kMaxColumnBytes = size_t{256} << 20;

// Fields of the types int32, int64, bool, enum, bytes, message; repeated ones and maps from int64,
// too. The same message gives the same bytes. Throws std::logic_error: a field of another type.
std::string EncodeColumns(const google::protobuf::Message& message, const ColumnRules& rules);

// Fills `message`, which must be empty, with what EncodeColumns wrote under the same rules. Throws
// Error: damaged, or not written by it.
void DecodeColumns(std::string_view bytes, const ColumnRules& rules,
                   google::protobuf::Message* message);

}  // namespace oomdb::ingest

#endif  // OOMDB_INGEST_PLAN_REPLAY_COLUMNS_H_
