// HTML and SVG, written so that nothing from a capture can become markup.
#ifndef OOMDB_RENDER_MARKUP_H_
#define OOMDB_RENDER_MARKUP_H_

#include <initializer_list>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace oomdb::render {

// Text for an element or a quoted attribute: sanitized as for a terminal (control characters and
// those that turn the direction of writing become visible escapes), then & < > " ' escaped.
std::string EscapeMarkup(std::string_view text);

// An element tree, written as it comes. What is opened is closed by a Markup::Scope.
class Markup {
 public:
  // An attribute without a value (`hidden`) has the name twice, as in XML: {"hidden", "hidden"}.
  using Attributes = std::initializer_list<std::pair<std::string_view, std::string>>;

  // Closes its element when it ends.
  class Scope {
   public:
    Scope(Markup& markup, std::string_view tag) : markup_(markup), tag_(tag) {}
    ~Scope() { markup_.End(tag_); }
    Scope(const Scope&) = delete;
    Scope& operator=(const Scope&) = delete;

   private:
    Markup& markup_;
    const std::string tag_;
  };

  // `tag` and the names of attributes are the program's own; values are escaped.
  [[nodiscard]] Scope In(std::string_view tag, Attributes attributes = {});
  void Leaf(std::string_view tag, Attributes attributes = {}, std::string_view text = {});
  void Text(std::string_view text);
  // As it is: the program's own style sheet, script and markup.
  void Raw(std::string_view markup) { out_ += markup; }
  std::string Take() { return std::move(out_); }

 private:
  void Begin(std::string_view tag, Attributes attributes);
  void End(std::string_view tag);

  std::string out_;
};

}  // namespace oomdb::render

#endif  // OOMDB_RENDER_MARKUP_H_
