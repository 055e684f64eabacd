#include "render/markup.h"

#include <gtest/gtest.h>

namespace oomdb::render {
namespace {

TEST(MarkupTest, WhatWouldBeMarkupIsText) {
  EXPECT_EQ(EscapeMarkup("</script><b a='1' c=\"2\">&"),
            "&lt;/script&gt;&lt;b a=&#39;1&#39; c=&quot;2&quot;&gt;&amp;");
}

TEST(MarkupTest, ControlAndDirectionBecomeVisible) {
  EXPECT_EQ(EscapeMarkup("a\nb\x1b[31m"), "a\\nb\\x1b[31m");
  // RIGHT-TO-LEFT OVERRIDE must not turn what follows around.
  EXPECT_EQ(EscapeMarkup("a\u202eb").find("\u202e"), std::string::npos);
  // Broken UTF-8 is no way out of a quote.
  EXPECT_EQ(EscapeMarkup("\xc3\"x"), "\uFFFD&quot;x");
}

TEST(MarkupTest, ElementsCloseInOrder) {
  Markup out;
  {
    const auto outer = out.In("g", {{"class", "a\"b"}});
    out.Leaf("rect", {{"width", "1"}});
    out.Leaf("td");
    out.Leaf("text", {}, "x < y");
  }
  EXPECT_EQ(out.Take(),
            "<g class=\"a&quot;b\"><rect width=\"1\"/><td></td><text>x &lt; y</text></g>");
}

}  // namespace
}  // namespace oomdb::render
