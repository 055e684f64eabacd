#include "queries/words.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <optional>
#include <variant>

#include "base/error.h"
#include "schema/query.h"

namespace oomdb::queries {
namespace {

using Node = Template::Node;
using Kind = Template::Kind;
using WordTemplates = std::map<std::string, Template, std::less<>>;

constexpr std::array<std::string_view, 7> kUnits = {"", "n", "bytes", "ns", "%", "x", "list"};

bool IsNameCharacter(char c) {
  const auto u = static_cast<unsigned char>(c);
  return std::islower(u) != 0 || std::isdigit(u) != 0 || c == '_';
}

bool IsName(std::string_view text) {
  return !text.empty() && std::all_of(text.begin(), text.end(), IsNameCharacter);
}

bool HasColumn(const std::vector<Node>& nodes) {
  return std::any_of(nodes.begin(), nodes.end(),
                     [](const Node& node) { return node.kind != Kind::kText; });
}

class TemplateParser {
 public:
  explicit TemplateParser(std::string_view text) : text_(text) {}

  std::vector<Node> Parse() { return Parts(""); }

 private:
  // Up to one of `ends`, which is not taken, or to the end of the text where there are none.
  std::vector<Node> Parts(std::string_view ends) {
    std::vector<Node> nodes;
    while (at_ < text_.size() && ends.find(text_[at_]) == std::string_view::npos) {
      const char c = text_[at_];
      if (c == '{') {
        nodes.push_back(Column());
      } else if (c == '[') {
        Optional(nodes);
      } else if (c == '(' && FlagLength() > 0) {
        nodes.push_back(Choice());
      } else if (c == '(') {
        AddText(nodes, "(");
        Enclosed(nodes);
      } else if (c == ')' || c == ']' || c == '}') {
        throw Error(fmt::format("`{}` closes nothing in the template: {}", c, text_));
      } else {
        AddText(nodes, text_.substr(at_++, 1));
      }
    }
    if (at_ == text_.size() && !ends.empty()) {
      throw Error(fmt::format("`{}` is missing in the template: {}", ends.back(), text_));
    }
    return nodes;
  }

  Node Column() {
    const size_t end = text_.find('}', at_);
    if (end == std::string_view::npos) {
      throw Error(fmt::format("`}}` is missing in the template: {}", text_));
    }
    const std::string_view inside = text_.substr(at_ + 1, end - at_ - 1);
    const size_t colon = inside.find(':');
    Node node{.kind = Kind::kColumn, .text = std::string(inside.substr(0, colon))};
    if (colon != std::string_view::npos) node.unit = inside.substr(colon + 1);
    if (!IsName(node.text) || std::find(kUnits.begin(), kUnits.end(), node.unit) == kUnits.end() ||
        (colon != std::string_view::npos && node.unit.empty())) {
      throw Error(fmt::format("{{{}}} is not a column of a template", inside));
    }
    at_ = end + 1;
    return node;
  }

  void Optional(std::vector<Node>& nodes) {
    ++at_;
    std::vector<Node> inner = Parts("]");
    ++at_;
    if (HasColumn(inner)) {
      nodes.push_back({.kind = Kind::kOptional, .parts = {std::move(inner)}});
      return;
    }
    AddText(nodes, "[");
    for (const Node& node : inner) AddText(nodes, node.text);
    AddText(nodes, "]");
  }

  // Of `(word?` at this place; 0 when something else stands here.
  size_t FlagLength() const {
    size_t end = at_ + 1;
    while (end < text_.size() && IsNameCharacter(text_[end])) ++end;
    return end > at_ + 1 && end < text_.size() && text_[end] == '?' ? end + 1 - at_ : 0;
  }

  Node Choice() {
    const size_t length = FlagLength();
    Node node{.kind = Kind::kChoice, .text = std::string(text_.substr(at_ + 1, length - 2))};
    at_ += length;
    node.parts.push_back(Parts("|)"));
    node.parts.emplace_back();
    if (text_[at_] == '|') {
      ++at_;
      node.parts.back() = Parts(")");
    }
    ++at_;
    return node;
  }

  // What parentheses enclose, with the last of them.
  void Enclosed(std::vector<Node>& nodes) {
    ++at_;
    for (Node& node : Parts(")")) {
      if (node.kind == Kind::kText) {
        AddText(nodes, node.text);
      } else {
        nodes.push_back(std::move(node));
      }
    }
    ++at_;
    AddText(nodes, ")");
  }

  static void AddText(std::vector<Node>& nodes, std::string_view text) {
    if (nodes.empty() || nodes.back().kind != Kind::kText) nodes.push_back({});
    nodes.back().text += text;
  }

  std::string_view text_;
  size_t at_ = 0;
};

void CollectColumns(const std::vector<Node>& nodes, std::set<std::string>& columns) {
  for (const Node& node : nodes) {
    if (node.kind != Kind::kText && node.kind != Kind::kOptional) columns.insert(node.text);
    for (const std::vector<Node>& part : node.parts) CollectColumns(part, columns);
  }
}

std::string Quoted(std::string_view text) {
  std::string quoted = "'";
  for (const char c : text) {
    quoted += c;
    if (c == '\'') quoted += c;
  }
  return quoted + "'";
}

class SqlWriter {
 public:
  explicit SqlWriter(std::string_view alias) : alias_(alias) {}

  std::string Write(const std::vector<Node>& nodes) const {
    std::string sql;
    std::string text;  // Not written yet, so that what follows a unit joins it.
    const auto add = [&](const std::string& part) {
      if (!sql.empty()) sql += " || ";
      sql += part;
    };
    const auto end_text = [&] {
      if (!text.empty()) add(Quoted(text));
      text.clear();
    };
    for (const Node& node : nodes) {
      if (node.kind == Kind::kText) {
        text += node.text;
        continue;
      }
      end_text();
      add(Part(node));
      if (node.kind == Kind::kColumn) text = Suffix(node.unit);
    }
    end_text();
    return sql.empty() ? "''" : sql;
  }

 private:
  static std::string Suffix(const std::string& unit) {
    return unit == "bytes" || unit == "ns" || unit == "%" ? " " + unit : "";
  }

  std::string Part(const Node& node) const {
    const std::string column = fmt::format("{}.{}", alias_, node.text);
    switch (node.kind) {
      case Kind::kText:
        break;
      case Kind::kColumn:
        if (node.unit.empty() || node.unit == "list") return column;
        if (node.unit != "x") return fmt::format("CAST({} AS VARCHAR(20))", column);
        return fmt::format(
            "CAST(CAST(({0} - {0} % 100) / 100 AS BIGINT) AS VARCHAR(20)) || '.' || CASE WHEN {0} "
            "% 100 < 10 THEN '0' ELSE '' END || CAST({0} % 100 AS VARCHAR(20))",
            column);
      case Kind::kOptional:
        return fmt::format("COALESCE({}, '')", Write(node.parts[0]));
      case Kind::kChoice:
        return fmt::format("CASE WHEN {} = 1 THEN {} ELSE {} END", column, Write(node.parts[0]),
                           Write(node.parts[1]));
      case Kind::kCases: {
        std::string sql = fmt::format("CASE {}", column);
        for (size_t i = 0; i < node.keys.size(); ++i) {
          sql += fmt::format(" WHEN {} THEN {}", Quoted(node.keys[i]), Write(node.parts[i]));
        }
        return sql + " END";
      }
    }
    return "''";
  }

  std::string_view alias_;
};

class TextWriter {
 public:
  TextWriter(const schema::Record& row, const WordUnits& units) : row_(row), units_(units) {}

  std::optional<std::string> Write(const std::vector<Node>& nodes) const {
    std::string text;
    for (const Node& node : nodes) {
      const std::optional<std::string> part = Part(node);
      if (!part) return std::nullopt;
      text += *part;
    }
    return text;
  }

 private:
  std::optional<std::string> Part(const Node& node) const {
    switch (node.kind) {
      case Kind::kText:
        return node.text;
      case Kind::kColumn:
        return Cell(node);
      case Kind::kOptional:
        return Write(node.parts[0]).value_or("");
      case Kind::kChoice: {
        const auto* const flag = std::get_if<int64_t>(&row_.Cell(node.text));
        return Write(node.parts[flag != nullptr && *flag == 1 ? 0 : 1]);
      }
      case Kind::kCases: {
        const auto* const key = std::get_if<std::string>(&row_.Cell(node.text));
        if (key == nullptr) return std::nullopt;
        const auto found = std::find(node.keys.begin(), node.keys.end(), *key);
        if (found == node.keys.end()) return std::nullopt;
        return Write(node.parts[static_cast<size_t>(found - node.keys.begin())]);
      }
    }
    return std::nullopt;
  }

  std::optional<std::string> Cell(const Node& node) const {
    const schema::Value& value = row_.Cell(node.text);
    if (const auto* const text = std::get_if<std::string>(&value)) {
      return node.unit == "list" ? units_.list(*text) : *text;
    }
    if (const auto* const real = std::get_if<double>(&value)) return fmt::format("{}", *real);
    const auto* const number = std::get_if<int64_t>(&value);
    if (number == nullptr) return std::nullopt;
    if (node.unit == "bytes") return units_.bytes(*number);
    if (node.unit == "ns") return units_.nanoseconds(*number);
    if (node.unit == "%") return fmt::format("{} %", *number);
    if (node.unit == "x") return fmt::format("{}.{:02}", *number / 100, *number % 100);
    return std::to_string(*number);
  }

  const schema::Record& row_;
  const WordUnits& units_;
};

}  // namespace

Template::Template(std::string_view text) : nodes_(TemplateParser(text).Parse()) {}

Template Template::Cases(const std::string& column,
                         std::vector<std::pair<std::string, Template>> cases) {
  Node node{.kind = Kind::kCases, .text = column};
  for (auto& [key, words] : cases) {
    node.keys.push_back(key);
    node.parts.push_back(std::move(words.nodes_));
  }
  Template chosen;
  chosen.nodes_.push_back(std::move(node));
  return chosen;
}

std::set<std::string> Template::Columns() const {
  std::set<std::string> columns;
  CollectColumns(nodes_, columns);
  return columns;
}

Template Template::Expanded(const WordTemplates& words) const {
  std::vector<std::string> within;  // The words columns that are being expanded.
  std::function<std::vector<Node>(const std::vector<Node>&)> expand =
      [&](const std::vector<Node>& nodes) {
        std::vector<Node> expanded;
        for (const Node& node : nodes) {
          const auto found = node.kind == Kind::kColumn ? words.find(node.text) : words.end();
          if (found == words.end()) {
            Node copy = node;
            for (std::vector<Node>& part : copy.parts) part = expand(part);
            expanded.push_back(std::move(copy));
            continue;
          }
          if (std::find(within.begin(), within.end(), node.text) != within.end()) {
            throw Error(fmt::format("the words of `{}` are made of themselves", node.text));
          }
          within.push_back(node.text);
          for (Node& part : expand(found->second.nodes_)) expanded.push_back(std::move(part));
          within.pop_back();
        }
        return expanded;
      };
  Template result;
  result.nodes_ = expand(nodes_);
  return result;
}

std::string Template::ToSql(std::string_view alias) const { return SqlWriter(alias).Write(nodes_); }

std::string Template::ToText(const schema::Record& row, const WordUnits& units) const {
  return TextWriter(row, units).Write(nodes_).value_or("");
}

}  // namespace oomdb::queries
