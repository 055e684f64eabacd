#include "cli/compare/failures_page.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <map>
#include <ostream>
#include <utility>

#include "cli/compare/difference.h"
#include "render/terminal.h"
#include "render/units.h"
#include "render/words.h"

namespace oomdb::cli {
namespace {

// A row of failure_comparison. Its change is empty where it is not known.
struct FailureDifference : Difference {
  std::string stage, name, label;
  int64_t other_operations = 0;  // Besides op_name, of a row that stands for several.
};

constexpr size_t kOpWidth = 28;
constexpr size_t kShapeWidth = 32;

// Of what is alike and made at one line, as by the layers of a model, one row with the sum.
void MergeAlike(std::vector<FailureDifference>& differences) {
  std::vector<FailureDifference> merged;
  for (FailureDifference& d : differences) {
    const auto found = std::find_if(merged.begin(), merged.end(), [&d](const auto& m) {
      return d.kind == "buffer" && !d.place.empty() && m.stage == d.stage && m.kind == d.kind &&
             m.place == d.place && m.change == d.change && m.base_shape == d.base_shape &&
             m.new_shape == d.new_shape && m.delta_bytes.has_value() == d.delta_bytes.has_value() &&
             m.base_count.has_value() == d.base_count.has_value() &&
             m.new_count.has_value() == d.new_count.has_value();
    });
    if (found == merged.end()) {
      merged.push_back(std::move(d));
      continue;
    }
    const auto add = [](std::optional<int64_t>& sum, const std::optional<int64_t>& more) {
      if (more) sum = sum.value_or(0) + *more;
    };
    add(found->base_bytes, d.base_bytes);
    add(found->new_bytes, d.new_bytes);
    add(found->delta_bytes, d.delta_bytes);
    add(found->base_count, d.base_count);
    add(found->new_count, d.new_count);
    if (found->op_name != d.op_name) ++found->other_operations;
  }
  const auto size = [](const FailureDifference& d) {
    return std::pair(std::abs(d.delta()), d.largest_bytes());
  };
  std::stable_sort(merged.begin(), merged.end(),
                   [&](const auto& a, const auto& b) { return size(a) > size(b); });
  differences = std::move(merged);
}

std::vector<FailureDifference> ReadDifferences(const std::vector<schema::Record>& rows) {
  std::vector<FailureDifference> differences;
  for (const schema::Record& row : rows) {
    differences.push_back(
        {ReadDifference(row), row.Text("stage"), row.Text("name"), row.Text("label")});
  }
  MergeAlike(differences);
  return differences;
}

// What is said of a stage, by its name.
struct StageWords {
  std::string fails, failed, heading;
};

const StageWords& Words(const std::string& stage) {
  static const std::map<std::string, StageWords> words = {
      {"compile", {"fails to compile", "failed to compile", "compiling"}},
      {"run", {"fails while running", "failed while running", "running"}},
      {"host", {"runs out of host memory", "ran out of host memory", "host memory"}},
      {"chip", {"runs out of on-chip memory", "ran out of on-chip memory", "on-chip memory"}}};
  return words.at(stage);
}

// ": short by 3.10 GiB", else what was needed; empty when nothing is known.
std::string HowMuch(const std::string& stage, const StageFailure& failure) {
  if (failure.short_bytes) return ": short by " + render::HumanBytes(*failure.short_bytes);
  if (!failure.needed_bytes) return "";
  const bool program = stage == "compile" || stage == "chip";
  return (program ? ": needs " : ": asked for ") + render::HumanBytes(*failure.needed_bytes);
}

// The same with what was free, where that is not said by what is short.
std::string HowMuchOfFree(const std::string& stage, const StageFailure& failure) {
  const bool free = !failure.short_bytes && failure.needed_bytes && failure.free_bytes;
  return HowMuch(stage, failure) +
         (free ? fmt::format(" with {} free", render::HumanBytes(*failure.free_bytes)) : "");
}

// The same after what was said of another: ", short by …".
std::string ByHowMuch(const std::string& stage, const StageFailure& failure) {
  const std::string words = HowMuchOfFree(stage, failure);
  return words.empty() ? "" : "," + words.substr(1);
}

// " was short by 3.10 GiB"; empty when nothing is known.
std::string Was(const std::string& stage, const StageFailure& failure) {
  if (failure.short_bytes) return " was short by " + render::HumanBytes(*failure.short_bytes);
  if (!failure.needed_bytes) return "";
  const bool program = stage == "compile" || stage == "chip";
  return (program ? " needed " : " asked for ") + render::HumanBytes(*failure.needed_bytes);
}

// What is said of a run whose logs do not say that it failed.
std::string WithoutFailure(const RunFailures& run) {
  if (run.has_log) return "has no OOM in its log";
  if (run.failed_executions == 0) return "has no error log";
  return fmt::format("has no error log, but {} in its capture failed",
                     render::Plural(run.failed_executions, "execution"));
}

std::string Shape(const std::string& shape) {
  return render::Truncate(render::Safe(shape), kShapeWidth);
}

// "32 × f32[8,1024] → f32[4,1024]", "4 → 2 × f32[8,1024]", or of one run alone "1 × f32[8,1024]".
std::string CountAndShape(const FailureDifference& d) {
  const int64_t before = d.base_count.value_or(0), now = d.new_count.value_or(0);
  // Of an unknown change one must see in which run they are.
  const bool unknown = d.change.empty();
  if (!d.base_bytes) return (unknown ? "? → " : "") + render::CountOf(now, Shape(d.new_shape));
  if (!d.new_bytes) return render::CountOf(before, Shape(d.base_shape)) + (unknown ? " → ?" : "");
  if (d.base_shape == d.new_shape) {
    if (before == now) return render::CountOf(now, Shape(d.new_shape));
    return fmt::format("{} → {}", before, render::CountOf(now, Shape(d.new_shape)));
  }
  const std::string changed =
      before == now ? Shape(d.new_shape) : render::CountOf(now, Shape(d.new_shape));
  return fmt::format("{} → {}", render::CountOf(before, Shape(d.base_shape)), changed);
}

// Without what a primitive was called with: "…hqk/dot_general[dimension_numbers=…]".
std::string WithoutParameters(const std::string& op) {
  if (!op.ends_with(']')) return op;
  int depth = 0;
  for (size_t i = op.size(); i-- > 0;) {
    depth += op[i] == ']' ? 1 : op[i] == '[' ? -1 : 0;
    if (depth == 0) return i == 0 ? op : op.substr(0, i);
  }
  return op;
}

std::string Operation(const FailureDifference& d) {
  if (d.op_name.empty()) return render::Truncate(render::Safe(d.label), kOpWidth);
  const std::string more =
      d.other_operations > 0 ? fmt::format(", {} more", d.other_operations) : "";
  return render::TruncateFront(render::Safe(render::ShortOp(WithoutParameters(d.op_name))),
                               kOpWidth - more.size()) +
         more;
}

// A group in a sentence, with its line or else its operation.
std::string Group(const FailureDifference& d) {
  const std::string where = d.place.empty() ? Operation(d) : render::Safe(d.place);
  return CountAndShape(d) + (where.empty() ? "" : ", " + where);
}

class Page {
 public:
  Page(const RunFailures& base, const RunFailures& changed, const schema::Rows& rows)
      : base_(base), new_(changed), differences_(ReadDifferences(schema::Records(rows))) {
    if (base_.stages.count(new_.main_stage) > 0) {
      common_ = new_.main_stage;
    } else if (new_.stages.count(base_.main_stage) > 0) {
      common_ = base_.main_stage;
    }
  }

  void Write(std::ostream& out, size_t top, const render::TableOptions& look) const {
    const std::string sentence = Sentence();
    for (const std::string& line :
         look.fit ? render::Wrap(sentence, look.width) : std::vector{sentence})
      out << render::Paint(render::Style::kBold, line, look.color) << '\n';
    WriteNotes(out);
    // What the sentence is about first.
    std::vector<std::string> order = {common_, new_.main_stage, base_.main_stage, "compile", "run",
                                      "host",  "chip"};
    for (size_t i = 0; i < order.size(); ++i) {
      const std::string& stage = order[i];
      const bool written = std::find(order.begin(), order.begin() + i, stage) != order.begin() + i;
      if (stage.empty() || written) continue;
      if (base_.stages.count(stage) + new_.stages.count(stage) > 0)
        WriteStage(out, stage, top, look);
    }
  }

 private:
  std::string Sentence() const {
    if (!common_.empty()) return OfOneStage();
    if (new_.stages.empty()) return OfBaseAlone();
    return base_.stages.empty() ? OfNewAlone() : OfTwoStages();
  }

  std::string OfOneStage() const {
    const StageFailure& before = base_.stages.at(common_);
    const StageFailure& now = new_.stages.at(common_);
    if (Alike(common_)) {
      return fmt::format("both fail alike: {} {} as {} does{}", new_.name, Words(common_).fails,
                         base_.name, HowMuch(common_, now));
    }
    const std::string still = fmt::format("{} still {}", new_.name, Words(common_).fails);
    const bool both_short = before.short_bytes && now.short_bytes;
    if (!both_short &&
        (before.short_bytes || now.short_bytes || !before.needed_bytes || !now.needed_bytes)) {
      const std::string was = Was(common_, before);
      return still + HowMuch(common_, now) + (was.empty() ? "" : "; " + base_.name + was);
    }
    const int64_t was = both_short ? *before.short_bytes : *before.needed_bytes;
    const int64_t is = both_short ? *now.short_bytes : *now.needed_bytes;
    const std::string how = HowMuch(common_, now);
    // By as much, yet not alike: the figures below say in what.
    if (render::HumanBytes(was) == render::HumanBytes(is))
      return fmt::format("{}{}, as much as {}", still, how, base_.name);
    return fmt::format("{}{}, was {}", still, how, render::HumanBytes(was)) + Cause(is - was);
  }

  std::string OfTwoStages() const {
    const std::string& now = new_.main_stage;
    const std::string& before = base_.main_stage;
    std::string sentence = new_.name;
    if (before == "compile" && now == "run") {
      sentence += " compiles now, but " + Words(now).fails;
    } else if (before == "run" && now == "compile") {
      sentence += " " + Words(now).fails + " now, so it gets less far";
    } else {
      sentence += " " + Words(now).fails + " now";
    }
    sentence += HowMuchOfFree(now, new_.stages.at(now));
    return sentence + fmt::format("; {} {}{}", base_.name, Words(before).failed,
                                  ByHowMuch(before, base_.stages.at(before)));
  }

  std::string OfBaseAlone() const {
    const std::string& stage = base_.main_stage;
    const std::string before = fmt::format("{} {}{}", base_.name, Words(stage).failed,
                                           ByHowMuch(stage, base_.stages.at(stage)));
    if (!new_.has_log) return fmt::format("{}; {} {}", before, new_.name, WithoutFailure(new_));
    return fmt::format("{} has no OOM in its log any more; {}", new_.name, before);
  }

  std::string OfNewAlone() const {
    const std::string& stage = new_.main_stage;
    std::string sentence = fmt::format("{} {}{}", new_.name, Words(stage).fails,
                                       HowMuchOfFree(stage, new_.stages.at(stage)));
    const std::vector<const FailureDifference*> buffers = Of(stage, "buffer");
    if (!buffers.empty()) {
      const FailureDifference& largest = *buffers.front();
      sentence += fmt::format("; the most is {} in {}", render::BytesOrDash(largest.new_bytes),
                              Group(largest));
    }
    return sentence + fmt::format("; {} {}", base_.name, WithoutFailure(base_));
  }

  bool Alike(const std::string& stage) const {
    return std::all_of(differences_.begin(), differences_.end(),
                       [&stage](const auto& d) { return d.stage != stage || d.change == "same"; });
  }

  // The buffer that changed the most in the direction in which the need did: "; 7.2 GiB less …".
  std::string Cause(int64_t direction) const {
    if (const FailureDifference* const d = LeadingDifference(Of(common_, "buffer"), direction)) {
      return fmt::format("; {} {}: {}", render::HumanBytes(std::abs(d->delta())),
                         direction > 0 ? "more" : "less", Group(*d));
    }
    return "";
  }

  // What one must know to read the numbers.
  void WriteNotes(std::ostream& out) const {
    if (!common_.empty()) {
      const std::string& before = base_.stages.at(common_).module_name;
      const std::string& now = new_.stages.at(common_).module_name;
      if (!before.empty() && !now.empty() && before != now) {
        out << fmt::format("different programs by name: {} before, {} now\n", render::Safe(before),
                           render::Safe(now));
      }
    }
    for (const FailureDifference& d : differences_) {
      if (d.stage == common_ && d.name == "capacity" && d.delta() != 0) {
        out << fmt::format("different capacities: {} now, {} before\n",
                           render::HumanBytes(*d.new_bytes), render::HumanBytes(*d.base_bytes));
      }
    }
    for (const RunFailures* run : {&base_, &new_}) {
      for (const auto& [stage, failure] : run->stages) {
        if (failure.captures < 2) continue;
        out << fmt::format(
            "{}: {} failures (stage {}); the one that lacks the most memory counts{}\n", run->name,
            failure.captures, stage,
            failure.host.empty() ? "" : ", host " + render::Safe(failure.host));
      }
    }
  }

  void WriteStage(std::ostream& out, const std::string& stage, size_t top,
                  const render::TableOptions& look) const {
    out << '\n' << Words(stage).heading << ": what the error logs say (read)\n";
    WriteFigures(out, stage, look);
    WriteBuffers(out, stage, top, look);
  }

  void WriteFigures(std::ostream& out, const std::string& stage,
                    const render::TableOptions& look) const {
    // In the order in which one asks, not by size.
    constexpr const char* kOrder[] = {"needed",       "capacity",   "short",     "requested",
                                      "used",         "total",      "program",   "arguments",
                                      "temps",        "outputs",    "aliased",   "free",
                                      "largest free", "TensorCore", "SparseCore"};
    const bool in_base = base_.stages.count(stage) > 0, in_new = new_.stages.count(stage) > 0;
    const std::vector<const FailureDifference*> figures = Of(stage, "figure");
    const auto find = [&figures](const std::string& name) {
      const auto found = std::find_if(figures.begin(), figures.end(),
                                      [&name](const auto* d) { return d->name == name; });
      return found == figures.end() ? nullptr : *found;
    };
    const FailureDifference* const needed = find("needed");
    std::vector<std::vector<render::Cell>> rows;
    for (const char* const name : kOrder) {
      const FailureDifference* const d = find(name);
      if (d == nullptr) continue;
      // Said above already.
      if (needed != nullptr && d != needed && d->base_bytes == needed->base_bytes &&
          d->new_bytes == needed->new_bytes) {
        continue;
      }
      std::vector<render::Cell> row = {
          d == needed && (stage == "run" || stage == "host") ? "request" : name};
      if (in_base) row.push_back(render::BytesOrDash(d->base_bytes));
      if (in_new) row.push_back(render::BytesOrDash(d->new_bytes));
      if (in_base && in_new)
        row.push_back(d->delta_bytes ? render::SignedBytes(*d->delta_bytes) : "–");
      rows.push_back(std::move(row));
    }
    if (rows.empty()) return;
    std::vector<std::string> columns = {""};
    if (in_base) columns.push_back(base_.name);
    if (in_new) columns.push_back(new_.name);
    if (in_base && in_new) columns.push_back("difference");
    render::WriteTable(out, columns, rows, look);
  }

  void WriteBuffers(std::ostream& out, const std::string& stage, size_t top,
                    const render::TableOptions& look) const {
    const bool in_base = base_.stages.count(stage) > 0, in_new = new_.stages.count(stage) > 0;
    std::vector<std::vector<render::Cell>> rows;
    int64_t same = 0, left_out = 0;
    bool unknown = false;
    for (const FailureDifference* d : Of(stage, "buffer")) {
      if (in_base && in_new && d->change == "same") {
        ++same;
        continue;
      }
      if (rows.size() == top) {
        ++left_out;
        continue;
      }
      const std::string op = Operation(*d);
      if (in_base && in_new) {
        unknown = unknown || d->change.empty();
        rows.push_back({d->change.empty() ? "?" : d->change,
                        d->delta_bytes ? render::SignedBytes(*d->delta_bytes) : "?",
                        CountAndShape(*d), op, render::Safe(d->place)});
      } else {
        rows.push_back({render::BytesOrDash(in_base ? d->base_bytes : d->new_bytes),
                        CountAndShape(*d), op, render::Safe(d->place)});
      }
    }
    if (rows.empty() && same == 0) return;
    out << '\n';
    if (in_base && in_new) {
      if (!rows.empty())
        render::WriteTable(out, {"", "difference", "count × shape", "op", "line"}, rows, look);
    } else {
      render::WriteTable(out, {"bytes", "count × shape", "op", "line"}, rows, look);
    }
    if (left_out > 0) out << "… " << left_out << " more (--top)\n";
    if (same > 0) out << "and " << render::Plural(same, "group") << " of buffers unchanged\n";
    if (unknown) out << "?: one of the two error logs lists none this small, or none at all\n";
  }

  std::vector<const FailureDifference*> Of(const std::string& stage, const char* kind) const {
    std::vector<const FailureDifference*> found;
    for (const FailureDifference& d : differences_) {
      if (d.stage == stage && d.kind == kind) found.push_back(&d);
    }
    return found;
  }

  const RunFailures& base_;
  const RunFailures& new_;
  const std::vector<FailureDifference> differences_;
  std::string common_;  // The stage in which both fail that the sentence is about; may be empty.
};

}  // namespace

void WriteFailures(std::ostream& out, const RunFailures& base, const RunFailures& changed,
                   const schema::Rows& rows, size_t top, const render::TableOptions& look) {
  Page(base, changed, rows).Write(out, top, look);
}

}  // namespace oomdb::cli
