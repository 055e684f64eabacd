// What logs and people put around a message: time stamps, process names, colours, quoting.
#ifndef OOMDB_INGEST_LOG_WRAPPING_H_
#define OOMDB_INGEST_LOG_WRAPPING_H_

#include <string>
#include <string_view>
#include <vector>

#include "ingest/log/patterns.h"

namespace oomdb::ingest {

// `line` without log stamps (absl, TensorFlow, Python, vLLM, Kubernetes, journald), the process it
// came from (Ray, mpirun, docker), quoting, columns of line numbers, colour codes (also those whose
// ESC byte was lost), HTML entities and bold type. Indentation goes too: wrappers lose it, so
// nothing may depend on it.
// `process` is set to the name of its process, where several write into one log; else empty.
// A number alone (`3: `), which may count lines as well, has a # in front.
std::string Unwrap(std::string_view line, std::string* process = nullptr);

// What a terminal shows of a line that was rewritten with \r: the last of its texts that `counts`
// matches, else the last.
std::string_view LastRewrite(std::string_view line, const Pattern& counts);

// An unwrapped line as the lines of its message: several where whole lines were joined, or where a
// message was printed with \n for the ends of its lines.
std::vector<std::string_view> SplitJoined(std::string_view line);

// Without the exception's class and the like in front (`jax.errors.JaxRuntimeError: `).
std::string_view WithoutException(std::string_view message);

// Without quotes, the \" of JSON and of Python reprs.
std::string UnescapeQuotes(std::string_view text);

}  // namespace oomdb::ingest

#endif  // OOMDB_INGEST_LOG_WRAPPING_H_
