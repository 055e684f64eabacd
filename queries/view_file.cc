// Reading one .sql file: its header and its statement.
#include <fmt/format.h>

#include <cctype>
#include <map>
#include <optional>

#include "base/error.h"
#include "queries/catalogue.h"

namespace oomdb {
namespace {

bool StartsWith(std::string_view text, std::string_view prefix) {
  return text.substr(0, prefix.size()) == prefix;
}

std::string_view Trim(std::string_view text) {
  while (!text.empty() && std::isspace(static_cast<unsigned char>(text.front())))
    text.remove_prefix(1);
  while (!text.empty() && std::isspace(static_cast<unsigned char>(text.back())))
    text.remove_suffix(1);
  return text;
}

ViewKind KindOf(std::string_view path) {
  if (StartsWith(path, "diagnoses/items/")) return ViewKind::kItems;
  if (StartsWith(path, "diagnoses/remedies/")) return ViewKind::kRemedies;
  if (StartsWith(path, "diagnoses/")) return ViewKind::kRule;
  if (StartsWith(path, "compare/")) return ViewKind::kCompare;
  if (StartsWith(path, "check/")) return ViewKind::kCheck;
  if (StartsWith(path, "facts/")) return ViewKind::kFact;
  if (StartsWith(path, "report/")) return ViewKind::kReport;
  throw Error(fmt::format("{}: not in facts/, report/, compare/, check/ or diagnoses/", path));
}

// Where a key's text goes; null for a key that no header has.
std::string* Field(CatalogueEntry& entry, std::string_view key) {
  if (key == "id") return &entry.id;
  if (key == "title") return &entry.title;
  if (key == "asks") return &entry.asks;
  if (key == "needs") return &entry.needs;
  if (key == "tags") return &entry.tags;
  if (key == "severity") return &entry.severity;
  if (key == "cause") return &entry.cause;
  if (key == "how to read") return &entry.how_to_read;
  if (key == "next") return &entry.next;
  if (key == "empty without") return &entry.empty_without;
  return nullptr;
}

bool IsIdentifier(std::string_view text) {
  if (text.empty()) return false;
  for (const char c : text) {
    if (!(std::islower(static_cast<unsigned char>(c)) ||
          std::isdigit(static_cast<unsigned char>(c)) || c == '_')) {
      return false;
    }
  }
  return true;
}

class HeaderReader {
 public:
  HeaderReader(const EmbeddedFile& file, CatalogueEntry& entry) : file_(file), entry_(entry) {}

  void Line(std::string_view comment) {
    if (comment.empty()) {
      text_ = nullptr;
      in_columns_ = false;
      return;
    }
    if (StartsWith(comment, "   ")) {
      Continuation(Trim(comment));
      return;
    }
    const size_t colon = comment.find(':');
    const std::string_view key = Trim(comment.substr(0, colon));
    if (colon != std::string_view::npos && key == "columns") {
      in_columns_ = true;
      text_ = nullptr;
      return;
    }
    in_columns_ = false;
    text_ = colon == std::string_view::npos ? nullptr : Field(entry_, key);
    if (text_ == nullptr) {
      throw Error(fmt::format("{}: unknown header line `--{}`", file_.path, comment));
    }
    if (!text_->empty()) throw Error(fmt::format("{}: `{}` stands there twice", file_.path, key));
    *text_ = Trim(comment.substr(colon + 1));
  }

 private:
  void Continuation(std::string_view text) {
    if (in_columns_) {
      const size_t colon = text.find(':');
      const std::string_view name = text.substr(0, colon);
      if (colon != std::string_view::npos && IsIdentifier(name)) {
        entry_.columns.push_back({std::string(name), std::string(Trim(text.substr(colon + 1)))});
        return;
      }
      if (entry_.columns.empty())
        throw Error(fmt::format("{}: column without a name: {}", file_.path, text));
      entry_.columns.back().meaning += fmt::format(" {}", text);
      return;
    }
    if (text_ == nullptr)
      throw Error(fmt::format("{}: a header line that continues nothing: {}", file_.path, text));
    if (!text_->empty()) *text_ += ' ';
    *text_ += text;
  }

  const EmbeddedFile& file_;
  CatalogueEntry& entry_;
  std::string* text_ = nullptr;
  bool in_columns_ = false;
};

void CheckComplete(const CatalogueEntry& entry) {
  const auto need = [&](std::string_view name, const std::string& text) {
    if (text.empty()) throw Error(fmt::format("{}: the header lacks `{}`", entry.path, name));
  };
  need("id", entry.id);
  need("title", entry.title);
  if (entry.columns.empty()) throw Error(fmt::format("{}: the header lacks `columns`", entry.path));
  for (const ColumnMeaning& column : entry.columns) need("columns: " + column.name, column.meaning);
  if (entry.kind != ViewKind::kRule) return;
  need("asks", entry.asks);
  need("needs", entry.needs);
  need("tags", entry.tags);
  need("severity", entry.severity);
  need("cause", entry.cause);
  need("how to read", entry.how_to_read);
  need("next", entry.next);
}

// The text of the one statement; `;` may only end it. Quotes and comments are skipped when looking
// for one.
std::string_view OnlyStatement(const EmbeddedFile& file, std::string_view sql) {
  for (size_t i = 0; i < sql.size(); ++i) {
    if (sql[i] == '\'') {
      i = sql.find('\'', i + 1);
    } else if (StartsWith(sql.substr(i), "--")) {
      i = sql.find('\n', i);
    } else if (sql[i] == ';') {
      if (!Trim(sql.substr(i + 1)).empty()) {
        throw Error(fmt::format("{}: more than one statement", file.path));
      }
      return Trim(sql.substr(0, i));
    }
    if (i == std::string_view::npos) break;
  }
  return Trim(sql);
}

}  // namespace

CatalogueEntry ReadViewFile(const EmbeddedFile& file) {
  CatalogueEntry entry;
  entry.path = file.path;
  entry.kind = KindOf(file.path);
  HeaderReader header(file, entry);
  std::string_view rest = file.content;
  while (!rest.empty()) {
    const size_t newline = rest.find('\n');
    const std::string_view line = rest.substr(0, newline);
    if (!Trim(line).empty()) {
      if (!StartsWith(line, "--")) break;
      header.Line(line.substr(2));
    }
    rest.remove_prefix(newline == std::string_view::npos ? rest.size() : newline + 1);
  }
  CheckComplete(entry);
  if (!IsIdentifier(entry.id))
    throw Error(fmt::format("{}: id {} is not lower_snake_case", file.path, entry.id));
  const std::string_view stem = file.path.substr(file.path.rfind('/') + 1);
  if (stem != entry.id + ".sql") {
    throw Error(fmt::format("{}: id {} is not the file's name", file.path, entry.id));
  }
  const std::string_view statement = OnlyStatement(file, rest);
  const std::string head = fmt::format("CREATE VIEW {} AS", entry.id);
  if (!StartsWith(statement, head))
    throw Error(fmt::format("{}: `{}` expected after the header", file.path, head));
  entry.select = Trim(statement.substr(head.size()));
  return entry;
}

}  // namespace oomdb
