// oomdb sweep: how a plan grows with a label, which value is the largest that fits, and where it
// would break.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <tuple>
#include <vector>

#include "base/ascii.h"
#include "cli/nearest.h"
#include "cli/open_captures.h"
#include "cli/options.h"
#include "cli/sweep/fit.h"
#include "cli/verbs.h"
#include "queries/catalogue.h"
#include "render/terminal.h"
#include "render/units.h"
#include "render/utf8.h"
#include "render/words.h"
#include "schema/query.h"

namespace oomdb::cli {
namespace {

constexpr size_t kPlotWidth = 50;

struct Options {
  std::string database;
  std::string label;
  std::string module;
  SettingOptions settings;
  OutputOptions output;
};

struct Point {
  std::string label, run;
  std::optional<double> number;  // The label, when it is one.
  int64_t plan_bytes = 0;
  std::optional<int64_t> peak_bytes, capacity_bytes, remat;
  std::optional<bool> fits;
  bool kink = false;  // XLA rematerializes more than at the smallest label: not on the curve.
};

// The points of one curve: runs that agree in all other labels.
struct Curve {
  std::string other_labels;
  std::vector<Point> points;
  std::optional<SweepFit> fit;
  size_t fitted = 0;  // Points that the fit is of.
  std::optional<int64_t> capacity_bytes;
  std::optional<double> breaks_at;
};

std::optional<double> Number(const std::string& text) {
  const std::optional<double> number = WholeNumber<double>(text);
  return number && std::isfinite(*number) ? number : std::nullopt;
}

void Finish(Curve& curve) {
  std::vector<Point>& points = curve.points;
  std::sort(points.begin(), points.end(), [](const Point& a, const Point& b) {
    return std::tuple(!a.number, a.number.value_or(0), a.label, a.run) <
           std::tuple(!b.number, b.number.value_or(0), b.label, b.run);
  });
  std::vector<FitPoint> smooth;
  for (Point& point : points) {
    point.kink = point.remat.value_or(0) > points.front().remat.value_or(0);
    if (point.capacity_bytes && *point.capacity_bytes < curve.capacity_bytes.value_or(INT64_MAX)) {
      curve.capacity_bytes = point.capacity_bytes;
    }
    if (point.number && !point.kink) {
      smooth.push_back({*point.number, static_cast<double>(point.plan_bytes)});
    }
  }
  curve.fit = FitSweep(smooth);
  curve.fitted = smooth.size();
  if (curve.fit && curve.capacity_bytes) {
    curve.breaks_at =
        CrossesAbove(*curve.fit, smooth.front().x, static_cast<double>(*curve.capacity_bytes));
  }
}

std::vector<Curve> ReadCurves(const std::vector<schema::Record>& rows, const std::string& module) {
  std::map<std::string, Curve> curves;
  for (const schema::Record& row : rows) {
    if (row.Text("module_name") != module) continue;
    Curve& curve = curves[row.Text("other_labels")];
    curve.other_labels = row.Text("other_labels");
    Point& point = curve.points.emplace_back();
    point.label = row.Text("label");
    point.run = row.Text("run");
    point.number = Number(point.label);
    point.plan_bytes = row.Integer("plan_bytes");
    point.peak_bytes = row.MaybeInteger("peak_bytes");
    point.capacity_bytes = row.MaybeInteger("capacity_bytes");
    point.fits = row.MaybeFlag("fits");
    point.remat = row.MaybeInteger("remat_instruction_count");
  }
  std::vector<Curve> sorted;
  for (auto& [labels, curve] : curves) {
    Finish(curve);
    sorted.push_back(std::move(curve));
  }
  std::stable_sort(sorted.begin(), sorted.end(), [](const Curve& a, const Curve& b) {
    return a.points.size() > b.points.size();
  });
  return sorted;
}

// The module that was asked for, else the largest of those that most runs have.
std::string ChooseModule(schema::Database& database, const std::vector<schema::Record>& points,
                         const Options& options) {
  struct Extent {
    int64_t runs = 0, plan_bytes = 0;
  };
  std::map<std::string, Extent> modules;
  for (const schema::Record& point : points) {
    Extent& module = modules[point.Text("module_name")];
    ++module.runs;
    module.plan_bytes = std::max(module.plan_bytes, point.Integer("plan_bytes"));
  }
  if (modules.empty()) {
    std::vector<std::string> labels;
    for (const schema::Record& row : schema::ReadView(database, "run_labels"))
      labels.push_back(row.Text("name"));
    throw Error(fmt::format("no run has the label {}; oomdb ingest --label {}=… sets it{}",
                            options.label, options.label, DidYouMean(options.label, labels)),
                ExitCode::kUsage);
  }
  if (options.module.empty()) {
    const auto less = [](const auto& a, const auto& b) {
      return std::tuple(a.second.runs, a.second.plan_bytes, b.first) <
             std::tuple(b.second.runs, b.second.plan_bytes, a.first);
    };
    return std::max_element(modules.begin(), modules.end(), less)->first;
  }
  if (modules.count(options.module) == 0) {
    std::vector<std::string> names;
    for (const auto& [name, extent] : modules) names.push_back(name);
    throw Error(fmt::format("no module {} in the sweep{}", options.module,
                            DidYouMean(options.module, names)),
                ExitCode::kUsage);
  }
  return options.module;
}

// "6.6", "34": as many digits as say something.
std::string Short(double number) { return fmt::format("{:.3g}", number); }

class Page {
 public:
  Page(std::ostream& out, const Options& options, std::string module,
       const render::TableOptions& look)
      : out_(out),
        label_(render::Safe(options.label)),
        module_(render::Safe(module)),
        look_(look) {}

  void Write(const Curve& curve) {
    out_ << render::Paint(render::Style::kBold, Sentence(curve), look_.color) << "\n\n";
    WritePoints(curve);
    WritePlot(curve);
    out_ << "\n";
    WriteFit(curve);
  }

 private:
  static bool HasKinks(const Curve& curve) {
    return std::any_of(curve.points.begin(), curve.points.end(),
                       [](const Point& point) { return point.kink; });
  }

  std::string Named(const Point& point) const { return label_ + "=" + render::Safe(point.label); }

  std::string Sentence(const Curve& curve) const {
    const Point* fitting = nullptr;
    const Point* failing = nullptr;
    for (const Point& point : curve.points) {
      if (point.fits == true) fitting = &point;
      if (point.fits == false && failing == nullptr) failing = &point;
    }
    std::string with = render::Safe(curve.other_labels);
    if (!with.empty()) with = " (with " + with.substr(0, with.find_last_not_of(' ') + 1) + ")";
    const std::string points = render::Plural(static_cast<int64_t>(curve.points.size()), "point");
    std::string sentence;
    if (fitting == nullptr && failing == nullptr) {
      sentence = fmt::format("{} of {}; capacity unknown; set it with --capacity", points, module_);
    } else if (failing == nullptr) {
      sentence = fmt::format("{} of {} fit{}, the largest, {}, with {} of {}", points, module_,
                             curve.points.size() == 1 ? "s" : "", Named(*fitting),
                             render::HumanBytes(fitting->plan_bytes),
                             render::HumanBytes(*fitting->capacity_bytes));
    } else if (fitting == nullptr) {
      sentence = fmt::format("no {} of {} fits: {} needs {} of {}", label_, module_,
                             Named(*failing), render::HumanBytes(failing->plan_bytes),
                             render::HumanBytes(*failing->capacity_bytes));
    } else {
      sentence = fmt::format("{} is the largest that fits, with {} of {}; {} needs {}",
                             Named(*fitting), render::HumanBytes(fitting->plan_bytes),
                             render::HumanBytes(*fitting->capacity_bytes), Named(*failing),
                             render::HumanBytes(failing->plan_bytes));
    }
    return sentence + with;
  }

  void WritePoints(const Curve& curve) {
    std::vector<std::vector<render::Cell>> rows;
    const bool kinks = HasKinks(curve);
    for (const Point& point : curve.points) {
      rows.push_back({render::Safe(point.label), render::HumanBytes(point.plan_bytes),
                      render::BytesOrDash(point.peak_bytes),
                      render::BytesOrDash(point.capacity_bytes),
                      !point.fits   ? "–"
                      : *point.fits ? "yes"
                                    : "no",
                      curve.fit && point.number
                          ? render::HumanBytes(std::llround(curve.fit->At(*point.number)))
                          : "–",
                      render::Safe(point.run)});
      if (!kinks) continue;
      rows.back().emplace_back(
          point.kink ? fmt::format("{} instructions rematerialized: not in the fit", *point.remat)
                     : "");
    }
    std::vector<std::string> columns = {label_, "plan",           "peak", "capacity",
                                        "fits", "fit (inferred)", "run"};
    if (kinks) columns.emplace_back("");
    render::WriteTable(out_, columns, rows, look_);
  }

  void WritePlot(const Curve& curve) {
    double whole = static_cast<double>(curve.capacity_bytes.value_or(0));
    size_t width = 8;  // "capacity"
    for (const Point& point : curve.points) {
      whole = std::max(whole, static_cast<double>(point.plan_bytes));
      width = std::max(width, render::DisplayWidth(render::Safe(point.label)));
    }
    const bool fenced = look_.format == render::TableFormat::kMarkdown;
    out_ << (fenced ? "\n```\n" : "\n");
    for (const Point& point : curve.points) {
      const std::string bar = render::Bar(static_cast<double>(point.plan_bytes), whole, kPlotWidth);
      const render::Style style = point.fits == false ? render::Style::kRed
                                  : point.kink        ? render::Style::kYellow
                                                      : render::Style::kGreen;
      out_ << render::PadLeft(render::Safe(point.label), width) << "  "
           << render::Paint(style, bar, look_.color) << "  " << render::HumanBytes(point.plan_bytes)
           << (point.kink ? " remat" : "") << "\n";
    }
    if (curve.capacity_bytes) {
      const auto at = static_cast<size_t>(static_cast<double>(*curve.capacity_bytes) / whole *
                                          static_cast<double>(kPlotWidth));
      out_ << render::PadLeft("capacity", width) << "  ";
      for (size_t i = 1; i < std::max<size_t>(at, 1); ++i) out_ << "─";
      out_ << "┤  " << render::HumanBytes(*curve.capacity_bytes) << "\n";
    }
    if (fenced) out_ << "```\n";
  }

  void WriteFit(const Curve& curve) {
    if (!curve.fit) {
      out_ << "no curve: it takes three points with numeric labels and without rematerialization, "
              "there are "
           << curve.fitted << "\n";
      return;
    }
    const SweepFit& fit = *curve.fit;
    std::string terms = render::HumanBytes(std::llround(fit.constant));
    if (fit.linear != 0) {
      terms += fmt::format(" + {} × {}", render::HumanBytes(std::llround(fit.linear)), label_);
    }
    if (fit.quadratic != 0) {
      terms += fmt::format(" + {} × {}²", render::HumanBytes(std::llround(fit.quadratic)), label_);
    }
    out_ << fmt::format("plan ≈ {} (inferred: {} over {}, residual {:.2g} %)\n", terms, fit.terms,
                        render::Plural(static_cast<int64_t>(curve.fitted), "point"),
                        100 * fit.residual);
    if (!curve.capacity_bytes) return;
    const bool kinks = HasKinks(curve);
    if (curve.breaks_at) {
      out_ << fmt::format(
          "it passes {} at {}={} (inferred){}\n", render::HumanBytes(*curve.capacity_bytes), label_,
          Short(*curve.breaks_at), kinks ? "; from there on XLA must rematerialize to fit" : "");
    } else {
      out_ << fmt::format("it does not cross {} at any {} above the smallest (inferred)\n",
                          render::HumanBytes(*curve.capacity_bytes), label_);
    }
  }

  std::ostream& out_;
  const std::string label_, module_;
  const render::TableOptions look_;
};

void WriteRows(std::ostream& out, const Options& options, const std::string& module,
               const std::vector<Curve>& curves, const render::TableOptions& look) {
  render::TableWriter table(out,
                            {"name", "label", "run", "module_name", "other_labels", "plan_bytes",
                             "peak_bytes", "capacity_bytes", "fits", "remat_instruction_count",
                             "in_fit", "fit_bytes", "fit_terms", "fit_residual", "breaks_at"},
                            look);
  const auto maybe = [](const auto& value) {
    return value ? render::Cell(static_cast<int64_t>(*value)) : render::Cell();
  };
  for (const Curve& curve : curves) {
    for (const Point& point : curve.points) {
      const bool on_curve = curve.fit && point.number;
      table.AddRow({options.label, point.label, point.run, module, curve.other_labels,
                    point.plan_bytes, maybe(point.peak_bytes), maybe(point.capacity_bytes),
                    maybe(point.fits), maybe(point.remat), int64_t{on_curve && !point.kink},
                    on_curve ? render::Cell(int64_t{std::llround(curve.fit->At(*point.number))})
                             : render::Cell(),
                    curve.fit ? render::Cell(curve.fit->terms) : render::Cell(),
                    curve.fit ? render::Cell(curve.fit->residual) : render::Cell(),
                    curve.breaks_at ? render::Cell(*curve.breaks_at) : render::Cell()});
    }
  }
  table.Finish();
}

void Run(const Options& options, ExitCode& exit_code) {
  Output output(options.output);
  schema::Database database = OpenCaptures({}, RequireDatabase(options.database),
                                           ReadSettingOptions(options.settings), exit_code);
  const std::vector<schema::Record> points =
      schema::ReadView(database, "sweep_points", {{"name", options.label}});
  const std::string module = ChooseModule(database, points, options);
  const std::vector<Curve> curves = ReadCurves(points, module);
  const render::TableOptions look = output.table_options();
  if (look.for_people()) {
    Page page(output.stream(), options, module, look);
    int64_t alone = 0;
    for (size_t i = 0; i < curves.size(); ++i) {
      // Beside a curve a single point says nothing of the label.
      if (i > 0 && curves[i].points.size() == 1) {
        ++alone;
        continue;
      }
      if (i > 0) output.stream() << "\n";
      page.Write(curves[i]);
    }
    if (alone > 0) {
      output.stream() << "left out: " << render::Plural(alone, "run")
                      << " with other labels of their own\n";
    }
  } else {
    WriteRows(output.stream(), options, module, curves, look);
  }
  output.Finish();
}

}  // namespace

void RegisterSweep(Verbs& verbs, ExitCode& exit_code) {
  Verb verb = verbs.Add("sweep", "Say which value of a label fits, and where it would break");
  const auto options = std::make_shared<Options>();
  AddDatabaseOption(verb, options->database);
  verb.Option("--label", options->label, "The label's name, as in ingest --label batch=8")
      .Required()
      .Type("NAME");
  verb.Option("--module", options->module,
              "The module; else the largest of those that most runs have")
      .Type("NAME");
  AddSettingOptions(verb, options->settings);
  AddOutputOptions(verb, options->output);
  verb.Footer(
      "Runs are points of one curve when they agree in all other labels. Where XLA rematerializes "
      "more than at the smallest label the curve has a kink: such points are left out of the "
      "fit.\n"
      "Example: oomdb sweep --db oom.db --label batch");
  verb.Run([options, &exit_code] { Run(*options, exit_code); });
}

}  // namespace oomdb::cli
