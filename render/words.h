// What things are called for people: sizes, counts, Python lines, operations.
#ifndef OOMDB_RENDER_WORDS_H_
#define OOMDB_RENDER_WORDS_H_

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace oomdb::render {

// Text of a capture, safe to show.
std::string Safe(std::string_view text);
std::string BytesOrDash(std::optional<int64_t> bytes);
// "+2.00 GiB", "-1.50 KiB".
std::string SignedBytes(int64_t bytes);
// "4 × f32[8,1024,512]", "4"; "–" for none.
std::string CountOf(int64_t count, const std::string& what);
// "plans.py:17 layer"; empty without a file.
std::string Place(const std::string& file, std::optional<int64_t> line,
                  const std::string& function);
// JAX's name stack without the jit(...) that every op of the module has.
std::string ShortOp(const std::string& op_name);
// Cut at the front: the end of a name says more, an op's own name stands last in its stack.
std::string TruncateFront(const std::string& text, size_t width);
// One column of a picture of numbers: the height of `value` where the highest is `highest`. The least
// is blank, or with `always` the lowest bar.
std::string_view HeightBar(int64_t value, int64_t highest, bool always);
// Python files without their folders, and short ops: for reading, not for finding.
std::string ShortPaths(const std::string& text);
// "1 execution", "3 executions".
std::string Plural(int64_t count, std::string_view what);
std::string Upper(std::string text);

}  // namespace oomdb::render

#endif  // OOMDB_RENDER_WORDS_H_
