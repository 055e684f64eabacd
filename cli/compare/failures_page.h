// The page of oomdb compare about two runs' failures.
#ifndef OOMDB_CLI_COMPARE_FAILURES_PAGE_H_
#define OOMDB_CLI_COMPARE_FAILURES_PAGE_H_

#include <cstddef>
#include <cstdint>
#include <iosfwd>
#include <optional>
#include <string>
#include <vector>

#include "cli/compare/failures.h"
#include "render/table.h"

namespace oomdb {

// A row of failure_comparison.
struct FailureDifference {
  std::string stage, kind, name, change;  // `change` empty: not known.
  std::string base_shape, new_shape, op_name, place, label;
  std::optional<int64_t> base_bytes, new_bytes, delta_bytes, base_count, new_count;
  int64_t other_operations = 0;  // Besides op_name, of a row that stands for several.
};

class FailurePage {
 public:
  // All must outlive it. The names are as they are to be shown.
  FailurePage(const RunFailures& base, const RunFailures& changed, const std::string& base_name,
              const std::string& new_name, const Rows& rows);

  std::string Sentence() const;
  void Write(std::ostream& out, size_t top, const TableOptions& look) const;

 private:
  std::string OfOneStage() const;
  std::string OfTwoStages() const;
  std::string OfBaseAlone() const;
  std::string OfNewAlone() const;
  bool Alike(const std::string& stage) const;
  // The buffer that changed the most in the direction in which the need did: "; 7.2 GiB less …".
  std::string Cause(int64_t direction) const;
  void WriteNotes(std::ostream& out) const;
  void WriteStage(std::ostream& out, const std::string& stage, size_t top,
                  const TableOptions& look) const;
  void WriteFigures(std::ostream& out, const std::string& stage, const TableOptions& look) const;
  void WriteBuffers(std::ostream& out, const std::string& stage, size_t top,
                    const TableOptions& look) const;
  std::vector<const FailureDifference*> Of(const std::string& stage, const char* kind) const;

  const RunFailures& base_;
  const RunFailures& new_;
  const std::string& base_name_;
  const std::string& new_name_;
  std::vector<FailureDifference> differences_;
  std::string common_;  // The stage in which both fail that the sentence is about; may be empty.
};

}  // namespace oomdb

#endif  // OOMDB_CLI_COMPARE_FAILURES_PAGE_H_
