#include "queries/sql_header.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>

#include "base/error.h"

namespace oomdb::queries {
namespace {

// Lines of a block begin with three blanks, those that go on with five.
constexpr std::string_view kBlockLine = "   ";
constexpr std::string_view kContinuation = "     ";

class HeaderReader {
 public:
  void Line(std::string_view comment) {
    if (comment.starts_with(kBlockLine)) {
      Indented(comment);
      return;
    }
    text_ = nullptr;
    block_ = Block::kNone;
    if (TrimBlanks(comment).empty()) return;
    const size_t colon = comment.find(':');
    if (colon == std::string_view::npos) {
      throw Error(fmt::format("unknown header line `--{}`", comment));
    }
    Key(TrimBlanks(comment.substr(0, colon)), TrimBlanks(comment.substr(colon + 1)));
  }

  SqlHeader Take() { return std::move(header_); }

 private:
  enum class Block { kNone, kColumns, kWords };

  void Key(std::string_view key, std::string_view text) {
    if (key == "columns") {
      block_ = Block::kColumns;
    } else if (key.starts_with("words ")) {
      Words(key, TrimBlanks(key.substr(6)), text);
    } else {
      if (!header_.Field(key).empty()) throw Error(fmt::format("`{}` stands there twice", key));
      header_.fields.emplace_back(key, text);
      text_ = &header_.fields.back().second;
    }
  }

  // `NAME` or `NAME by COLUMN`.
  void Words(std::string_view key, std::string_view rest, std::string_view text) {
    HeaderWords words;
    const size_t by = rest.find(" by ");
    words.name = rest.substr(0, by);
    if (by != std::string_view::npos) words.by = TrimBlanks(rest.substr(by + 4));
    if (!IsSqlIdentifier(words.name) ||
        (by != std::string_view::npos && !IsSqlIdentifier(words.by))) {
      throw Error(fmt::format("`{}` is neither `words NAME` nor `words NAME by COLUMN`", key));
    }
    for (const HeaderWords& other : header_.words) {
      if (other.name == words.name) {
        throw Error(fmt::format("`words {}` stands there twice", words.name));
      }
    }
    header_.words.push_back(std::move(words));
    HeaderWords& added = header_.words.back();
    if (added.by.empty()) {
      added.texts.emplace_back("", text);
      text_ = &added.texts.back().second;
      return;
    }
    if (!text.empty()) throw Error(fmt::format("`{}` wants its keys in lines of their own", key));
    block_ = Block::kWords;
  }

  void Indented(std::string_view comment) {
    const bool goes_on = comment.starts_with(kContinuation);
    const std::string_view text = TrimBlanks(comment);
    if (block_ == Block::kColumns && !goes_on) {
      Column(text);
    } else if (block_ == Block::kWords && !goes_on) {
      Word(text);
    } else if (text_ == nullptr) {
      throw Error(fmt::format("a header line that continues nothing: {}", text));
    } else {
      if (!text_->empty()) *text_ += ' ';
      *text_ += text;
    }
  }

  void Column(std::string_view text) {
    const size_t colon = text.find(':');
    const std::string_view name = text.substr(0, colon);
    if (colon == std::string_view::npos || !IsSqlIdentifier(name)) {
      throw Error(fmt::format("a column without a name: {}", text));
    }
    for (const ColumnMeaning& other : header_.columns) {
      if (other.name == name) throw Error(fmt::format("column `{}` stands there twice", name));
    }
    header_.columns.push_back({std::string(name), std::string(TrimBlanks(text.substr(colon + 1)))});
    text_ = &header_.columns.back().meaning;
  }

  void Word(std::string_view text) {
    HeaderWords& words = header_.words.back();
    const size_t colon = text.find(':');
    const std::string_view key = text.substr(0, colon);
    if (colon == std::string_view::npos || key.empty()) {
      throw Error(fmt::format("`words {}` has a line without a key: {}", words.name, text));
    }
    for (const auto& [other, unused] : words.texts) {
      if (other == key) throw Error(fmt::format("`words {}` has `{}` twice", words.name, key));
    }
    words.texts.emplace_back(key, TrimBlanks(text.substr(colon + 1)));
    text_ = &words.texts.back().second;
  }

  SqlHeader header_;
  Block block_ = Block::kNone;
  std::string* text_ = nullptr;  // What a line that goes on is added to.
};

}  // namespace

std::string_view SqlHeader::Field(std::string_view key) const {
  for (const auto& [name, text] : fields) {
    if (name == key) return text;
  }
  return {};
}

SqlHeader TakeSqlHeader(std::string_view& sql) {
  HeaderReader reader;
  while (!sql.empty()) {
    const size_t newline = sql.find('\n');
    const std::string_view line = sql.substr(0, newline);
    if (!TrimBlanks(line).empty()) {
      if (!line.starts_with("--")) break;
      reader.Line(line.substr(2));
    }
    sql.remove_prefix(newline == std::string_view::npos ? sql.size() : newline + 1);
  }
  return reader.Take();
}

std::string_view TrimBlanks(std::string_view text) {
  while (!text.empty() && std::isspace(static_cast<unsigned char>(text.front()))) {
    text.remove_prefix(1);
  }
  while (!text.empty() && std::isspace(static_cast<unsigned char>(text.back()))) {
    text.remove_suffix(1);
  }
  return text;
}

bool IsSqlIdentifier(std::string_view text) {
  return !text.empty() && std::all_of(text.begin(), text.end(), [](unsigned char c) {
    return std::islower(c) != 0 || std::isdigit(c) != 0 || c == '_';
  });
}

}  // namespace oomdb::queries
