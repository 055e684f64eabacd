#include "cli/page/document.h"

#include <fmt/format.h>

#include <span>
#include <stdexcept>

#include "base/embedded.h"
#include "render/markup.h"
#include "schema/migrations.h"
#include "schema/version.h"

namespace oomdb::cli {
std::span<const EmbeddedFile> EmbeddedPage();

namespace page {
namespace {

const EmbeddedFile& FileNamed(std::string_view name) {
  for (const EmbeddedFile& file : EmbeddedPage()) {
    if (file.path == name) return file;
  }
  throw std::logic_error("no embedded file of this name");
}

int DigitOf(char c) { return c <= '9' ? c - '0' : c - 'a' + 10; }

// A hash as a policy wants it: its bytes in Base64.
std::string Source(std::string_view hexadecimal) {
  static constexpr char kDigits[] =
      "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  std::string base64;
  uint32_t bits = 0;
  int count = 0;
  for (const char c : hexadecimal) {
    bits = bits << 4 | static_cast<uint32_t>(DigitOf(c));
    count += 4;
    if (count < 6) continue;
    count -= 6;
    base64 += kDigits[bits >> count & 63];
  }
  if (count > 0) base64 += kDigits[bits << (6 - count) & 63];
  while (base64.size() % 4 != 0) base64 += '=';
  return "'sha256-" + base64 + "'";
}

// JSON that can't end the element that it stands in.
std::string Inside(const Json& json) {
  std::string text;
  for (const char c : Dumped(json, -1)) {
    if (c == '<') {
      text += "\\u003c";
    } else {
      text += c;
    }
  }
  return text;
}

}  // namespace

std::string Document(std::string_view title, std::string_view header, std::string_view main,
                     const Json& charts) {
  const EmbeddedFile &style = FileNamed("page.css"), &script = FileNamed("page.js");
  render::Markup out;
  out.Raw("<!doctype html>\n");
  {
    const auto html = out.In("html", {{"lang", "en"}});
    {
      const auto head = out.In("head");
      out.Leaf("meta", {{"charset", "utf-8"}});
      out.Leaf("meta", {{"http-equiv", "Content-Security-Policy"},
                        {"content", fmt::format("default-src 'none'; script-src {}; style-src {}; "
                                                "base-uri 'none'; form-action 'none'",
                                                Source(script.sha256), Source(style.sha256))}});
      out.Leaf("meta", {{"name", "viewport"}, {"content", "width=device-width, initial-scale=1"}});
      out.Leaf("meta", {{"name", "referrer"}, {"content", "no-referrer"}});
      out.Leaf("title", {}, title);
      out.Raw("<style>");
      out.Raw(style.content);
      out.Raw("</style>");
    }
    const auto body = out.In("body");
    out.Leaf("a", {{"class", "skip"}, {"href", "#main"}}, "To the pictures");
    {
      const auto top = out.In("header", {{"class", "top"}});
      out.Raw(header);
    }
    {
      const auto middle = out.In("main", {{"id", "main"}});
      out.Raw(main);
    }
    {
      const auto footer = out.In("footer");
      const auto in = out.In("div", {{"class", "in"}});
      out.Leaf("span", {},
               fmt::format("oomdb {} · schema {} · one file, nothing is loaded", schema::kVersion,
                           schema::SchemaVersion()));
      out.Leaf("span", {}, "read: from the plan · measured: while it ran · inferred: by oomdb");
    }
    out.Raw("<script type=\"application/json\" id=\"data\">");
    out.Raw(Inside(charts));
    out.Raw("</script><script>");
    out.Raw(script.content);
    out.Raw("</script>");
  }
  out.Raw("\n");
  return out.Take();
}

}  // namespace page
}  // namespace oomdb::cli
