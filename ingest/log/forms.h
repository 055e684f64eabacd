// The forms of lines that report a failure, or advise, in one table. To add one: a row in forms.cc
// (its literal, its pattern, what the groups mean) and its texts in tests/log/cases.
//
// Reports of several lines that follow or stand alone have readers of their own: tpu_report,
// buffer_report, usage_rows, allocator_dump, memory_stats.
#ifndef OOMDB_INGEST_LOG_FORMS_H_
#define OOMDB_INGEST_LOG_FORMS_H_

#include <array>
#include <cstddef>
#include <optional>
#include <span>
#include <string_view>

#include "ingest/log/oom_event.h"

namespace oomdb::ingest {

enum class Verdict : unsigned char { kFatal, kAdvice, kUnknown };

struct Form {
  std::string_view id;
  Family family = Family::kOther;
  Verdict verdict = Verdict::kFatal;
  std::string_view space;   // Where the text does not name it; empty: unknown.
  std::string_view needle;  // Stands in every line of this form: looked for first.
  std::string_view pattern;
  std::array<Field, 9> fields = {};  // Of the groups. A later one of the same kind wins.
};

// Most specific first: a line is of the first form that matches.
std::span<const Form> Forms();

// The form that an unwrapped line is of; null when it is of none.
const Form* FormOf(std::string_view line);

// Reads the event in an unwrapped line, all but its place. std::nullopt: none.
std::optional<OomEvent> MatchForm(std::string_view line);

// The code of an error of XLA's (`E1000: CompileTimeHbmOom:`), else the status where it is not
// RESOURCE_EXHAUSTED; empty: unknown.
std::string ErrorCodeOf(std::string_view line);
// The executable's name, where a line has one.
std::string ModuleNameOf(std::string_view line);

}  // namespace oomdb::ingest

#endif  // OOMDB_INGEST_LOG_FORMS_H_
