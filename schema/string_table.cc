#include "schema/string_table.h"

#include <SQLiteCpp/SQLiteCpp.h>

#include <utility>

#include "schema/text.h"

namespace oomdb::schema {
namespace {

// Past this the cache starts anew: a capture with endless distinct names must not fill the memory.
constexpr size_t kMaxCachedBytes = size_t{256} << 20;

}  // namespace

StringTable::StringTable(StatementCache& statements)
    : next_id_(statements.Number("SELECT COALESCE(MAX(string_id), 0) + 1 FROM strings")),
      table_was_empty_(next_id_ == 1),
      find_(statements.Get("SELECT string_id FROM strings WHERE content = ?")),
      insert_(statements, "strings") {}

std::optional<int64_t> StringTable::Intern(std::string_view text) {
  if (text.empty()) return std::nullopt;
  // Knowing the place saves the hash; what stands there may have changed.
  Recent& recent = recent_[(reinterpret_cast<uintptr_t>(text.data()) >> 4) % recent_.size()];
  if (recent.place == text.data() && *recent.text == text) return recent.id;
  auto found = cache_.find(text);
  if (found == cache_.end()) found = InternNew(text);
  recent = {text.data(), &found->first, found->second};
  return found->second;
}

StringTable::Cache::iterator StringTable::InternNew(std::string_view text) {
  std::string clean = IsCleanText(text) ? std::string(text) : CleanText(text);
  if (clean != text) {
    const std::optional<int64_t> id = Intern(clean);
    return cache_.emplace(text, *id).first;
  }
  if (cached_bytes_ > kMaxCachedBytes) {
    insert_.Flush();
    cache_.clear();
    recent_ = {};
    cached_bytes_ = 0;
    table_was_empty_ = false;
  }
  std::optional<int64_t> id;
  if (!table_was_empty_) {
    find_.bindNoCopy(1, clean);
    if (find_.executeStep()) id = find_.getColumn(0).getInt64();
    find_.reset();
  }
  if (!id.has_value()) {
    id = next_id_++;
    insert_.Add({{"string_id", *id}, {"content", clean}});
  }
  cached_bytes_ += clean.size() + 64;
  return cache_.emplace(std::move(clean), *id).first;
}

void StringTable::Flush() { insert_.Flush(); }

}  // namespace oomdb::schema
