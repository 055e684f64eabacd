// oomdb compare: what a run needs more, or less, than another, and which buffers make the
// difference.
#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <iostream>
#include <memory>
#include <optional>
#include <sstream>
#include <string>
#include <tuple>
#include <vector>

#include "cli/compare/difference.h"
#include "cli/compare/failures.h"
#include "cli/compare/gate.h"
#include "cli/compare/profiles.h"
#include "cli/open_captures.h"
#include "cli/options.h"
#include "cli/page/compare_page.h"
#include "cli/verbs.h"
#include "queries/catalogue.h"
#include "queries/materialize.h"
#include "render/terminal.h"
#include "render/units.h"
#include "render/words.h"
#include "schema/query.h"

namespace oomdb::cli {
namespace {

constexpr size_t kOpWidth = 44;

struct Options {
  std::string base;
  std::string changed;  // NEW.
  std::string database;
  size_t top = 20;
  std::string fail_on;
  std::string html_file;
  SettingOptions settings;
  OutputOptions output;
};

// A row of run_comparison.
struct PlanDifference : Difference {
  std::string module, role, instruction;
  std::string pairing;  // Empty: it is in one run only.
  int64_t module_place = 0;
};

constexpr char kOrder[] =
    "module_name, place, CASE kind WHEN 'module' THEN 0 ELSE 1 END, ABS(delta_bytes) DESC, kind, "
    "op_name, new_shape, base_shape";

std::vector<PlanDifference> ReadDifferences(const std::vector<schema::Record>& rows) {
  std::vector<PlanDifference> differences;
  for (const schema::Record& row : rows) {
    differences.push_back({ReadDifference(row), row.Text("module_name"), row.Text("role"),
                           row.Text("instruction"), row.Text("pairing"), row.Integer("place")});
  }
  return differences;
}

class Page {
 public:
  Page(std::vector<PlanDifference> differences, const Options& options)
      : differences_(std::move(differences)), options_(options) {
    std::tie(base_, new_) = ShortNames(options.base, options.changed);
    for (const PlanDifference& d : differences_) {
      if (d.kind != "module") continue;
      modules_.push_back(&d);
      if (d.base_count == 0 || d.new_count == 0) continue;
      if (main_ == nullptr || d.largest_bytes() > main_->largest_bytes()) main_ = &d;
    }
    // What both have first, the largest of it above all.
    std::stable_sort(modules_.begin(), modules_.end(), [](const auto* a, const auto* b) {
      return a->largest_bytes() > b->largest_bytes();
    });
    for (const PlanDifference& d : differences_) {
      if (main_ != nullptr && d.kind != "module" && d.module == main_->module &&
          d.module_place == main_->module_place) {
        buffers_.push_back(&d);
      }
    }
  }

  std::string Sentence() const {
    if (main_ == nullptr) return fmt::format("{} and {} have no module in common", base_, new_);
    const std::string where =
        fmt::format("{} → {} in {}", render::HumanBytes(main_->base_bytes.value_or(0)),
                    render::HumanBytes(main_->new_bytes.value_or(0)), render::Safe(main_->module));
    if (main_->delta() == 0) {
      return fmt::format("{} peaks as high as {}: {}", new_, base_, where);
    }
    const bool higher = main_->delta() > 0;
    std::string sentence = fmt::format("{} peaks {} {} than {} ({})", new_,
                                       render::HumanBytes(std::abs(main_->delta())),
                                       higher ? "higher" : "lower", base_, where);
    const PlanDifference* const cause = LeadingDifference(buffers_, main_->delta());
    if (cause == nullptr) return sentence;
    sentence += fmt::format("; {} {} is {}", render::HumanBytes(std::abs(cause->delta())),
                            higher ? "more" : "less", Name(*cause));
    sentence += cause->change == "appeared" ? ", new"
                : cause->change == "went"   ? ", gone"
                                            : ", which " + cause->change;
    return sentence + (cause->place.empty() ? "" : ", " + render::Safe(cause->place));
  }

  // What a page with pictures shows of it; `text` is left to the caller.
  page::Comparison Pictures() const {
    page::Comparison comparison{
        options_.base, options_.changed, base_, new_, Sentence(), "", {}, {}, ""};
    if (main_ != nullptr) comparison.module = main_->module;
    for (const PlanDifference* d : buffers_) comparison.buffers.push_back(d);
    for (const PlanDifference* d : modules_)
      comparison.modules.emplace_back(render::Safe(d->module), d);
    return comparison;
  }

  bool HasModules() const { return !modules_.empty(); }
  bool HasCommonModules() const { return main_ != nullptr; }

  void Write(std::ostream& out, const render::TableOptions& look) const {
    out << render::Paint(render::Style::kBold, Sentence(), look.color) << "\n";
    if (NoDifference()) {
      const auto modules = static_cast<int64_t>(modules_.size());
      out << "no difference between the plans: "
          << (modules == 1 ? "it peaks" : fmt::format("all {} modules peak", modules))
          << " as high, with the same buffers\n";
    }
    if (main_ != nullptr && main_->pairing == "name") {
      out << "paired by name only: the parameters or results of " << render::Safe(main_->module)
          << " have different shapes, so the two may be different functions (inferred)\n";
    }
    out << '\n';
    WriteModules(out, look);
    WriteBuffers(out, look);
  }

 private:
  bool NoDifference() const {
    return std::all_of(differences_.begin(), differences_.end(), [](const PlanDifference& d) {
      // A peak that is not known is none that is the same.
      return d.change == "same" && d.pairing != "name" && d.base_bytes && d.new_bytes;
    });
  }

  static std::string Name(const PlanDifference& d) {
    const std::string shape = render::Safe(d.new_shape.empty() ? d.base_shape : d.new_shape);
    const int64_t count = std::max(d.base_count.value_or(0), d.new_count.value_or(0));
    if (d.instruction.empty() || d.kind != "temp") {
      return fmt::format("{}s{}", d.kind, shape.empty() ? "" : ", the largest " + shape);
    }
    return render::Safe(d.instruction) +
           (count > 1 ? fmt::format(" and {} like it", count - 1) : "");
  }

  void WriteModules(std::ostream& out, const render::TableOptions& look) const {
    std::vector<std::vector<render::Cell>> rows;
    size_t same = 0;
    for (const PlanDifference* d : modules_) {
      if (d != main_ && d->change == "same") {
        ++same;
        continue;
      }
      if (rows.size() == options_.top) break;
      rows.push_back({render::Safe(d->module), render::BytesOrDash(d->base_bytes),
                      render::BytesOrDash(d->new_bytes), render::SignedBytes(d->delta()),
                      d->change + (d->pairing == "name" ? ", different shapes" : "")});
    }
    render::WriteTable(out, {"module (peak)", base_, new_, "difference", ""}, rows, look);
    if (same > 0)
      out << "and " << render::Plural(static_cast<int64_t>(same), "module")
          << " with the same peak\n";
  }

  void WriteBuffers(std::ostream& out, const render::TableOptions& look) const {
    if (main_ == nullptr) return;
    std::vector<std::vector<render::Cell>> rows;
    int64_t left_out = 0;
    const int64_t least = LeastShown();
    for (const char* const change : {"appeared", "grew", "shrank", "went", "same"}) {
      for (const PlanDifference* d : buffers_) {
        if (d->change != change) continue;
        if (std::abs(d->delta()) < least) {
          ++left_out;
          continue;
        }
        rows.push_back(
            {d->change, render::SignedBytes(d->delta()),
             render::CountOf(d->base_count.value_or(0), d->base_shape),
             render::CountOf(d->new_count.value_or(0), d->new_shape),
             d->role.empty() ? d->kind : d->role,
             render::TruncateFront(
                 render::Safe(render::ShortOp(d->op_name.empty() ? d->instruction : d->op_name)),
                 kOpWidth),
             render::Safe(d->place)});
      }
    }
    if (rows.empty()) {
      out << "\nat the peak of " << render::Safe(main_->module) << " both have the same buffers\n";
      return;
    }
    out << "\nat the peak of " << render::Safe(main_->module) << " (read from the plans)\n";
    render::WriteTable(out, {"", "difference", base_, new_, "role", "op", "line"}, rows, look);
    if (left_out > 0) out << "… " << render::Plural(left_out, "smaller difference") << " (--top)\n";
  }

  // How small the least of the --top largest differences is.
  int64_t LeastShown() const {
    std::vector<int64_t> sizes;
    for (const PlanDifference* d : buffers_) sizes.push_back(std::abs(d->delta()));
    std::sort(sizes.rbegin(), sizes.rend());
    return sizes.size() > options_.top ? sizes[options_.top - 1] : 0;
  }

  const std::vector<PlanDifference> differences_;
  const Options& options_;
  std::string base_, new_;  // As they are shown.
  std::vector<const PlanDifference*> modules_;
  const PlanDifference* main_ = nullptr;        // The largest that both have.
  std::vector<const PlanDifference*> buffers_;  // At its peak.
};

bool HoldsRun(schema::Database& database, const std::string& run) {
  return !schema::ReadView(database, "run_summaries", {{"run", run}}).empty();
}

bool Exists(const std::string& path) {
  std::error_code error;
  return std::filesystem::exists(path, error);
}

// Runs of a database when it has them, else captures.
schema::Database Open(Options& options, ExitCode& exit_code) {
  const std::string changed_path = options.changed;
  const bool paths = Exists(options.base) && Exists(options.changed);
  if (!options.database.empty()) {
    schema::Database database =
        OpenCaptures({}, options.database, ReadSettingOptions(options.settings), exit_code);
    if (!paths || (HoldsRun(database, options.base) && HoldsRun(database, options.changed))) {
      CheckRun(database, options.base);
      CheckRun(database, options.changed);
      if (options.base == options.changed) {
        throw Error(fmt::format("{0} is one run: name the run that {0} is to be compared with",
                                options.base),
                    ExitCode::kUsage);
      }
      return database;
    }
  } else if (!paths) {
    throw Error(
        fmt::format("{}: no such file or folder; to compare runs, name their database with --db",
                    Exists(options.base) ? options.changed : options.base),
        ExitCode::kUsage);
  }
  schema::Database database = OpenCaptures({options.base}, "", ReadSettingOptions(options.settings),
                                           exit_code, options.base);
  ExitCode second = ExitCode::kClean;
  // A script may well name one file twice.
  if (options.base == options.changed) options.changed += " (again)";
  AddCaptures(database, {changed_path}, second, options.changed);
  if (second != ExitCode::kClean) exit_code = second;
  return database;
}

// A large database has thousands of plans: only those of the two runs are looked at.
void KeepTwoRuns(schema::Database& database, const Options& options) {
  std::string ids;
  for (const schema::Record& row :
       schema::ReadViewWhere(database, "run_modules", "run = :base OR run = :new",
                             {{"base", options.base}, {"new", options.changed}})) {
    ids += (ids.empty() ? "" : ", ") + std::to_string(row.Integer("module_id"));
  }
  const std::string condition = fmt::format("module_id IN ({})", ids);
  queries::MaterializeView(database, queries::Catalogue::Get(), "run_modules", condition);
  queries::MaterializeView(database, queries::Catalogue::Get(), "peak_parts", condition);
}

std::vector<std::string> GateFailures(schema::Database& database, const Options& options) {
  return CompareGateFailures(database, options.fail_on, options.base, options.changed);
}

// Said first where it holds, and all below of one is so of the other; else empty.
std::string SameCaptures(schema::Database& database, const Options& options) {
  const std::vector<std::string> base = ContentsOf(database, options.base);
  if (base != ContentsOf(database, options.changed)) return "";
  const auto [base_name, new_name] = ShortNames(options.base, options.changed);
  return fmt::format("no difference: {} holds the same as {} ({}, byte for byte)", new_name,
                     base_name, render::Plural(std::ssize(base), "capture"));
}

// What a person needs first is first: the error, where there is one, then the plans.
void WriteForPeople(schema::Database& database, const Page& page, const FailureComparison& logs,
                    const Options& options, const render::TableOptions& look, std::ostream& out) {
  const std::string same = SameCaptures(database, options);
  if (!same.empty()) out << render::Paint(render::Style::kBold, same, look.color) << '\n';
  if (logs.any()) {
    logs.Write(out, options.top, look);
    if (page.HasModules()) out << '\n';
  }
  if (page.HasCommonModules() || (page.HasModules() && !logs.any())) {
    page.Write(out, look);
  } else if (page.HasModules()) {
    out << page.Sentence() << '\n';
  } else if (!logs.any() && same.empty()) {
    out << NothingToCompare(database, options.base, options.changed) << '\n';
  }
}

void Run(Options options, ExitCode& exit_code) {
  CheckCompareGate(options.fail_on);
  RefuseToOverwriteInputs(options.html_file, {options.base, options.changed, options.database});
  Output output(options.output);
  schema::Database database = Open(options, exit_code);
  if (HoldOnlyProfiles(database, options.base, options.changed)) {
    if (!options.html_file.empty())
      throw Error("--html draws plans, and memory profiles have none", ExitCode::kUsage);
    if (!options.fail_on.empty()) {
      throw Error("--fail-on asks for findings and plans, and memory profiles have neither",
                  ExitCode::kUsage);
    }
    CompareProfiles(database, options.base, options.changed, options.top, output,
                    SameCaptures(database, options));
    return;
  }
  std::vector<std::string> failures;
  // Severities ask every rule, which needs all of run_modules; a regression only the two runs.
  if (options.fail_on != "regression") failures = GateFailures(database, options);
  // Before the plans of other modules are put aside: a log may be about one.
  const FailureComparison logs(database, options.base, options.changed);
  KeepTwoRuns(database, options);
  const schema::Parameters pair = {{"base_run", options.base}, {"new_run", options.changed}};
  const schema::Rows rows = schema::ReadTable(database, "run_comparison", "*", pair, kOrder);
  const Page page(ReadDifferences(schema::Records(rows)), options);
  const render::TableOptions look = output.table_options();
  if (look.for_people()) {
    WriteForPeople(database, page, logs, options, look, output.stream());
  } else {
    const bool plans = !logs.any() || page.HasCommonModules();
    const schema::Rows& data = plans ? rows : logs.rows();
    render::WriteTable(output.stream(), data.columns, data.rows, look);
  }
  output.Finish();
  if (!options.html_file.empty()) {
    OutputOptions beside;
    beside.file = options.html_file;
    beside.format = "table";  // The page is no table.
    beside.force = options.output.force;
    Output html(beside);
    std::ostringstream text;
    WriteForPeople(database, page, logs, options, html.table_options(), text);
    page::Comparison comparison = page.Pictures();
    comparison.text = text.str();
    html.stream() << page::CompareHtml(database, comparison);
    html.Finish();
  }
  if (options.fail_on == "regression") {
    failures = GateFailures(database, options);
    for (std::string& failure : logs.Regressions(database)) failures.push_back(std::move(failure));
  }
  for (const std::string& failure : failures)
    std::cerr << "oomdb: failed: " << render::Sanitize(failure) << '\n';
  if (!failures.empty()) exit_code = ExitCode::kFindings;
}

}  // namespace

void RegisterCompare(Verbs& verbs, ExitCode& exit_code) {
  Verb verb = verbs.Add("compare", "Say what one run needs more than another, and why");
  const auto options = std::make_shared<Options>();
  verb.Option("BASE", options->base, "A run of the database, or a capture or folder").Required();
  verb.Option("NEW", options->changed, "What is measured against it").Required();
  AddDatabaseOption(verb, options->database);
  verb.Option("--top", options->top, "Differences to list").ShowDefault().Positive().Type("N");
  verb.Option("--fail-on", options->fail_on,
              "Exit with 3 when NEW has a finding of this severity or worse that BASE lacks; or "
              "(regression) when a module's peak rose, or NEW's error log shows a failure that "
              "BASE's does not, an earlier one, or one that lacks more memory")
      .Type("error|warning|info|regression");
  verb.Option("--html", options->html_file,
              "Also write a page with pictures to this file, for a browser")
      .Type("FILE");
  AddSettingOptions(verb, options->settings);
  AddOutputOptions(verb, options->output);
  verb.Footer(
      "Modules are paired by name and by the shapes of their parameters and results, the rest by "
      "name alone, and the page says so. Buffers are matched by instruction and shape, then by "
      "shape, JAX operation and Python line; "
      "the rows are those of the view run_comparison. For two device memory profiles: how much "
      "more or less each Python line holds.\n"
      "When an error log says that one of the two failed, the page begins with what did not fit, "
      "by how much, and which buffers appeared, went or changed. For machines (csv, json, jsonl) "
      "the rows are those of run_comparison when the two have modules in common, else those of "
      "failure_comparison when one failed.\n"
      "Exit: 0 compared, 3 something failed --fail-on, 4 part was rejected. How much a peak, "
      "or what is short, may rise: the settings regression_min_bytes and regression_min_percent.\n"
      "Example: oomdb compare sample_dbs/captures/dataset_oom sample_dbs/captures/attention_oom");
  verb.Run([options, &exit_code] { Run(*options, exit_code); });
}

}  // namespace oomdb::cli
