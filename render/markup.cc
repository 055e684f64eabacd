#include "render/markup.h"

#include <algorithm>
#include <array>

#include "render/terminal.h"

namespace oomdb::render {
namespace {

// Elements that hold nothing: HTML's own, and the shapes of SVG.
constexpr std::array<std::string_view, 9> kEmpty = {"meta", "input",  "br",  "rect", "path",
                                                    "line", "circle", "col", "hr"};

}  // namespace

std::string EscapeMarkup(std::string_view text) {
  std::string out;
  for (const char c : Sanitize(text)) {
    switch (c) {
      case '&':
        out += "&amp;";
        break;
      case '<':
        out += "&lt;";
        break;
      case '>':
        out += "&gt;";
        break;
      case '"':
        out += "&quot;";
        break;
      case '\'':
        out += "&#39;";
        break;
      default:
        out += c;
    }
  }
  return out;
}

Markup::Scope Markup::In(std::string_view tag, Attributes attributes) {
  Begin(tag, attributes);
  return {*this, tag};
}

void Markup::Leaf(std::string_view tag, Attributes attributes, std::string_view text) {
  Begin(tag, attributes);
  if (text.empty() && std::find(kEmpty.begin(), kEmpty.end(), tag) != kEmpty.end()) {
    out_.insert(out_.size() - 1, "/");
    return;
  }
  Text(text);
  End(tag);
}

void Markup::Text(std::string_view text) { out_ += EscapeMarkup(text); }

void Markup::Begin(std::string_view tag, Attributes attributes) {
  out_ += '<';
  out_ += tag;
  for (const auto& [name, value] : attributes) {
    out_ += ' ';
    out_ += name;
    out_ += "=\"" + EscapeMarkup(value) + '"';
  }
  out_ += '>';
}

void Markup::End(std::string_view tag) {
  out_ += "</";
  out_ += tag;
  out_ += '>';
}

}  // namespace oomdb::render
