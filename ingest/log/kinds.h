// What users call the forms of messages: `oom_events.kind`. The names are stable; several forms
// that mean the same share one. The view oom_kinds (queries/facts/) says what each means,
// which a test holds to this table.
#ifndef OOMDB_INGEST_LOG_KINDS_H_
#define OOMDB_INGEST_LOG_KINDS_H_

#include <span>
#include <string_view>

namespace oomdb::ingest {

struct KindOfForm {
  std::string_view form;  // `oom_events.form`: of forms.cc, of a report's reader, or an error code.
  std::string_view kind;
};

std::span<const KindOfForm> KindsOfForms();

// Empty for what is not a form.
std::string_view KindOf(std::string_view form);

}  // namespace oomdb::ingest

#endif  // OOMDB_INGEST_LOG_KINDS_H_
