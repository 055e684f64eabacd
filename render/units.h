// Numbers as people read them, and back. Machine formats never use these.
#ifndef OOMDB_RENDER_UNITS_H_
#define OOMDB_RENDER_UNITS_H_

#include <cstdint>
#include <string>
#include <string_view>

namespace oomdb::render {

// "2.86 GiB", "192 MiB", "588 B", "-1.50 KiB": three significant figures, powers of 1024.
std::string HumanBytes(int64_t bytes);

// "10.0 s", "68.5 ms", "4.00 µs", "588 ns"; from two minutes on "2 min 5 s", from two hours "2 h 5
// min".
std::string HumanNanoseconds(int64_t nanoseconds);

// "72 %", "0.4 %" (below one per cent one more digit), "0 %". `whole` 0: "–".
std::string HumanPercent(int64_t part, int64_t whole);

// Rewrites every integer that " bytes" or " ns" follows, as findings carry them in their sentences:
// "needs 3277852672 bytes" becomes "needs 3.05 GiB". Anything else stays as it is, names too: a
// number that is part of a word (jit_12, f32.12) is no size.
std::string HumanizeSentence(std::string_view sentence);

// "1024", "16G", "16GiB", "1.5 GiB", "512m", "100 bytes": powers of 1024 with or without "iB"; any
// case. Throws Error (usage), naming `what` (an option, a setting), when it is no size, negative,
// larger than int64, or in ambiguous decimal units (GB).
int64_t ParseBytes(std::string_view text, std::string_view what);

}  // namespace oomdb::render

#endif  // OOMDB_RENDER_UNITS_H_
