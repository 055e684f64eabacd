#include "ingest/log/patterns.h"

#include <re2/re2.h>

#include <algorithm>
#include <stdexcept>

namespace oomdb::ingest {
namespace {

using re2::StringPiece;

constexpr std::string_view kSize =
    R"((-?[0-9]+(?:\.[0-9]+)?(?: ?(?:[KMGTPE]i?B|[KMGTPE]|B|bytes)\b)?))";
constexpr std::string_view kSizeWithUnit =
    R"((-?[0-9]+(?:\.[0-9]+)? ?(?:[KMGTPE]i?B|[KMGTPE]|B|bytes)\b))";

void ReplaceAll(std::string& text, std::string_view what, std::string_view by) {
  for (size_t at = text.find(what); at != std::string::npos; at = text.find(what, at + by.size()))
    text.replace(at, what.size(), by);
}

std::string_view View(const StringPiece& piece) { return {piece.data(), piece.size()}; }

}  // namespace

Pattern::Pattern(std::string_view text) {
  std::string full(text);
  ReplaceAll(full, "{H}", kSize);
  ReplaceAll(full, "{U}", kSizeWithUnit);
  RE2::Options options(RE2::Latin1);
  options.set_log_errors(false);
  expression_ = std::make_unique<re2::RE2>(full, options);
  if (!expression_->ok()) throw std::logic_error(full + ": " + expression_->error());
}

Pattern::~Pattern() = default;
Pattern::Pattern(Pattern&&) noexcept = default;

bool Pattern::Find(std::string_view text, std::vector<std::string_view>* groups) const {
  StringPiece pieces[24];
  const int count = std::min(expression_->NumberOfCapturingGroups() + 1, 24);
  if (!expression_->Match(StringPiece(text.data(), text.size()), 0, text.size(), RE2::UNANCHORED,
                          pieces, count)) {
    return false;
  }
  groups->assign(static_cast<size_t>(count), {});
  for (int i = 0; i < count; ++i) (*groups)[static_cast<size_t>(i)] = View(pieces[i]);
  return true;
}

bool Pattern::Starts(std::string_view text, std::vector<std::string_view>* groups) const {
  StringPiece pieces[24];
  const int count = std::min(expression_->NumberOfCapturingGroups() + 1, 24);
  if (!expression_->Match(StringPiece(text.data(), text.size()), 0, text.size(), RE2::ANCHOR_START,
                          pieces, count)) {
    return false;
  }
  groups->assign(static_cast<size_t>(count), {});
  for (int i = 0; i < count; ++i) (*groups)[static_cast<size_t>(i)] = View(pieces[i]);
  return true;
}

size_t Pattern::StartsWith(std::string_view text) const {
  StringPiece whole;
  if (!expression_->Match(StringPiece(text.data(), text.size()), 0, text.size(), RE2::ANCHOR_START,
                          &whole, 1)) {
    return 0;
  }
  return whole.size();
}

bool Pattern::Matches(std::string_view text) const {
  return expression_->Match(StringPiece(text.data(), text.size()), 0, text.size(), RE2::UNANCHORED,
                            nullptr, 0);
}

size_t Pattern::Position(std::string_view text) const {
  StringPiece whole;
  if (!expression_->Match(StringPiece(text.data(), text.size()), 0, text.size(), RE2::UNANCHORED,
                          &whole, 1)) {
    return std::string_view::npos;
  }
  return static_cast<size_t>(whole.data() - text.data());
}

std::string AnyOf(std::span<const std::string_view> literals) {
  std::string any;
  for (std::string_view literal : literals) {
    if (!any.empty()) any += '|';
    any += RE2::QuoteMeta(StringPiece(literal.data(), literal.size()));
  }
  return any;
}

}  // namespace oomdb::ingest
