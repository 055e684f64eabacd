#include "cli/report_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "cli/terminal.h"
#include "cli/units.h"

namespace oomdb {
namespace {

// Columns at the right of a remedy: what it saves, what is needed then, whether that fits, how it is known.
constexpr size_t kSaves = 10, kNeeds = 11, kFits = 6, kEvidence = 10;
constexpr size_t kRight = kSaves + kNeeds + kFits + kEvidence;
// Where the text of a finding begins: "1 warning  ".
constexpr size_t kIndent = 11;
constexpr size_t kMinWidth = 80;
constexpr size_t kMaxShape = 32, kMaxLine = 26;
constexpr size_t kPlanWords = 40;
constexpr size_t kHealthyGroups = 5;
constexpr size_t kMaxItems = 4;
constexpr size_t kMaxRemedies = 4;
constexpr size_t kMaxFindings = 12;
constexpr size_t kMaxCaptures = 16;
constexpr size_t kMaxDevices = 8;

std::string Bytes(std::optional<int64_t> bytes) { return bytes ? HumanBytes(*bytes) : "–"; }

std::string Safe(std::string_view text) { return Sanitize(text); }

std::string FileName(const std::string& path) {
  const size_t slash = path.rfind('/');
  return slash == std::string::npos ? path : path.substr(slash + 1);
}

// "plans.py:17 layer"
std::string Place(const std::string& file, std::optional<int64_t> line, const std::string& function) {
  if (file.empty()) return "";
  std::string place = FileName(file);
  if (line) place += fmt::format(":{}", *line);
  if (!function.empty()) place += " " + function;
  return place;
}

// JAX's name stack without the jit(...) that every op of the module has.
std::string ShortOp(const std::string& op_name) {
  if (!op_name.starts_with("jit(")) return op_name;
  const size_t end = op_name.find(")/");
  return end == std::string::npos ? op_name : op_name.substr(end + 2);
}

// The end of a name says more than its beginning: an op's own name stands last in its stack.
std::string TruncateFront(const std::string& text, size_t width) {
  if (DisplayWidth(text) <= width) return text;
  size_t begin = 0;
  while (begin < text.size() && DisplayWidth(text.substr(begin)) + 1 > width) {
    ++begin;
    while (begin < text.size() && (static_cast<unsigned char>(text[begin]) & 0xc0) == 0x80) ++begin;
  }
  return "…" + text.substr(begin);
}

// Python files without their folders, and op names without the jit(...) that all of them have: for reading, not for finding.
std::string ShortPaths(const std::string& text) {
  std::string out;
  for (size_t i = 0; i < text.size();) {
    const size_t end = std::min(text.find(' ', i), text.size());
    std::string word = text.substr(i, end - i);
    const size_t py = word.find(".py:");
    const size_t slash = py == std::string::npos ? std::string::npos : word.rfind('/', py);
    if (slash != std::string::npos) word.erase(0, slash + 1);
    out += ShortOp(word);
    if (end < text.size()) out += ' ';
    i = end + 1;
  }
  return out;
}

std::string Plural(int64_t count, std::string_view what) {
  return fmt::format("{} {}{}", count, what, count == 1 ? "" : "s");
}

// Findings that differ only in the device or the host are shown once.
struct ShownFinding {
  const ReportFinding* finding = nullptr;
  std::vector<const ReportFinding*> like_it;
};

class TextReport {
 public:
  TextReport(const Report& report, const ReportStyle& style)
      : report_(report), style_(style), width_(std::max(style.width, kMinWidth)) {}

  std::string Write() {
    Headline();
    Identity();
    Captures();
    Findings();
    if (report_.plan) {
      Plan();
      Peak();
    }
    if (report_.run) Run();
    Next();
    return std::move(out_);
  }

 private:
  const ReportCapture& shown() const { return report_.captures[report_.shown]; }

  void Line(std::string_view text) {
    out_ += text;
    out_ += '\n';
  }

  // `left`, and `right` at the right edge of the page; `style` for the left part.
  void Spread(const std::string& left, const std::string& right, std::optional<Style> style = std::nullopt) {
    const size_t room = width_ - DisplayWidth(right) - (right.empty() ? 0 : 2);
    const std::string cut = Truncate(left, room);
    std::string line = style ? Paint(*style, cut, style_.color) : cut;
    if (!right.empty()) {
      line += std::string(width_ - DisplayWidth(cut) - DisplayWidth(right), ' ');
      line += Paint(Style::kDim, right, style_.color);
    }
    Line(line);
  }

  void Section(const std::string& title, const std::string& right) {
    Line("");
    Spread(title, right, Style::kBold);
  }

  // What happened, in one sentence.
  void Headline() {
    const ReportFinding* worst = report_.findings.empty() ? nullptr : &report_.findings.front();
    if (worst != nullptr && worst->severity != "info") {
      std::string right;
      if (worst->rule == "step_does_not_fit" && report_.plan && report_.plan->capacity_bytes &&
          worst->module_id == report_.plan->module_id) {
        right = "short by " + HumanBytes(report_.plan->plan_bytes - *report_.plan->capacity_bytes);
      }
      const std::string sentence = HumanizeSentence(Safe(worst->title));
      const std::vector<std::string> lines = Wrap(sentence, width_ - (right.empty() ? 0 : right.size() + 2));
      const Style style = worst->severity == "error" ? Style::kRed : Style::kYellow;
      for (size_t i = 0; i < lines.size(); ++i) Spread(lines[i], i == 0 ? right : "", style);
      return;
    }
    if (shown().failed_count > 0) {
      return Spread(fmt::format("{} launched nothing, and no rule explains it: see RUN below",
                                Plural(shown().failed_count, "execution")),
                    "", Style::kYellow);
    }
    if (!report_.plan) return Spread("nothing in this capture concerns memory: no module, no allocator", "");
    if (shown().status != "complete") {
      return Spread("the capture is truncated: what follows is what was whole", "", Style::kYellow);
    }
    const ReportPlan& plan = *report_.plan;
    std::string sentence;
    if (!plan.has_plan) {
      sentence = fmt::format("nothing found; the plan of {} is not in the capture", plan.Label());
    } else if (plan.capacity_bytes) {
      sentence = fmt::format("all is well: {} needs {} of {}", Safe(plan.Label()), HumanBytes(plan.plan_bytes),
                             HumanBytes(*plan.capacity_bytes));
    } else {
      sentence = fmt::format("nothing found: {} needs {}; the capacity is unknown, --capacity says it",
                             Safe(plan.Label()), HumanBytes(plan.plan_bytes));
    }
    Spread(sentence, "", Style::kGreen);
  }

  void Identity() {
    const ReportCapture& c = shown();
    std::string line = Safe(c.run.empty() ? c.path : c.run);
    if (!c.host.empty()) line += " / " + Safe(c.host);
    if (c.device_count > 0) {
      std::string kind = c.device_kind;
      std::transform(kind.begin(), kind.end(), kind.begin(), ::toupper);
      line += fmt::format(" · {} {}{}", c.device_count, kind, c.device_count == 1 ? "" : "s");
    }
    if (c.execution_count == 0 && c.module_count > 0) line += " · " + Plural(c.module_count, "module");
    line += c.has_allocators ? " · plan read, allocator measured" : " · plan read, no allocator events";
    if (c.duration_ns && *c.duration_ns > 0) line += " over " + HumanNanoseconds(*c.duration_ns);
    if (c.execution_count > 0) line += " · " + Plural(c.execution_count, "execution");
    if (c.failed_count > 0) line += fmt::format(", {} launched nothing", c.failed_count);
    if (c.status != "complete") line += " · TRUNCATED";
    for (const std::string& part : Wrap(line, width_)) Line(part);
    constexpr size_t kMaxIssues = 3;
    for (size_t i = 0; i < std::min(c.issues.size(), kMaxIssues); ++i) {
      for (const std::string& part : Wrap("! " + Safe(c.issues[i]), width_)) Line(Paint(Style::kYellow, part, style_.color));
    }
    if (c.issues.size() > kMaxIssues) Line(fmt::format("! {} more in ingest_issues", c.issues.size() - kMaxIssues));
  }

  void Captures() {
    if (report_.captures.size() < 2) return;
    Section(fmt::format("CAPTURES  {}", report_.captures.size()), "");
    size_t name_width = 0;
    for (const ReportCapture& c : report_.captures) {
      name_width = std::max(name_width, DisplayWidth(Safe(c.run + " / " + c.host)));
    }
    name_width = std::min<size_t>(name_width, 40);
    // The worst first where they are many.
    std::vector<size_t> order;
    for (size_t i = 0; i < report_.captures.size(); ++i) order.push_back(i);
    if (order.size() > kMaxCaptures) {
      std::stable_sort(order.begin(), order.end(), [&](size_t a, size_t b) {
        const ReportCapture &x = report_.captures[a], &y = report_.captures[b];
        return std::tuple(x.error_count, x.warning_count) > std::tuple(y.error_count, y.warning_count);
      });
    }
    for (size_t i = 0; i < std::min(order.size(), kMaxCaptures); ++i) {
      const ReportCapture& c = report_.captures[order[i]];
      std::string name = Safe(c.host.empty() ? (c.run.empty() ? c.path : c.run) : c.run + " / " + c.host);
      std::string verdict = c.worst_title.empty() ? (c.status == "complete" ? "nothing found" : "truncated")
                                                  : HumanizeSentence(Safe(c.worst_title));
      const char* mark = order[i] == report_.shown ? "▸ " : "  ";
      std::string counts = fmt::format("{:>5} exec", c.execution_count);
      if (c.failed_count > 0) counts += fmt::format(", {} failed", c.failed_count);
      const std::string line = fmt::format("{}{}  {}  {}", mark, PadRight(Truncate(name, name_width), name_width),
                                           PadRight(counts, 20), verdict);
      const std::string cut = Truncate(line, width_);
      Line(c.error_count > 0     ? Paint(Style::kRed, cut, style_.color)
           : c.warning_count > 0 ? Paint(Style::kYellow, cut, style_.color)
                                 : cut);
    }
    if (order.size() > kMaxCaptures) Line(fmt::format("  … {} more", order.size() - kMaxCaptures));
    Line(fmt::format("below: {} (--run, --host choose another)",
                     Safe(shown().run + (shown().host.empty() ? "" : " / " + shown().host))));
  }

  std::vector<ShownFinding> Grouped() const {
    std::vector<ShownFinding> shown;
    for (const ReportFinding& f : report_.findings) {
      const auto like = std::find_if(shown.begin(), shown.end(), [&](const ShownFinding& s) {
        return s.finding->rule == f.rule && s.finding->severity == f.severity && s.finding->module_name == f.module_name;
      });
      if (like == shown.end()) {
        shown.push_back({&f, {}});
      } else {
        like->like_it.push_back(&f);
      }
    }
    return shown;
  }

  void Findings() {
    const std::vector<ShownFinding> findings = Grouped();
    const bool any_remedy = std::any_of(report_.findings.begin(), report_.findings.end(),
                                        [](const ReportFinding& f) { return !f.remedies.empty(); });
    if (findings.empty() && report_.quiet.empty()) return;
    const std::string heads = PadLeft("saves", kSaves) + PadLeft("then needs", kNeeds) + PadLeft("fits?", kFits) +
                              std::string(kEvidence, ' ');
    Section("FINDINGS", any_remedy ? heads : "");
    std::set<std::string> told;  // A fix is told once, where it first stands.
    for (size_t i = 0; i < std::min(findings.size(), kMaxFindings); ++i) Finding(i + 1, findings[i], &told);
    if (findings.size() > kMaxFindings) {
      Line(fmt::format("  … {} more: SELECT title FROM findings", findings.size() - kMaxFindings));
    }
    if (report_.quiet.empty()) return;
    std::string quiet;
    for (const std::string& text : report_.quiet) quiet += (quiet.empty() ? "" : " · ") + text;
    bool first = true;
    for (const std::string& part : Wrap(quiet, width_ - kIndent)) {
      Line(Paint(Style::kDim, PadRight(first ? "  quiet" : "", kIndent) + part, style_.color));
      first = false;
    }
  }

  void Finding(size_t number, const ShownFinding& group, std::set<std::string>* told) {
    const ReportFinding& f = *group.finding;
    const Style style = f.severity == "error"     ? Style::kRed
                        : f.severity == "warning" ? Style::kYellow
                                                  : Style::kCyan;
    const size_t text_width = width_ - kIndent;
    std::string head = PadRight(fmt::format("{} {}", number, f.severity), kIndent);
    bool first = true;
    // The first one stands as the headline already: here only what kind of thing it is.
    const std::string title = number == 1 && !f.rule_title.empty() && f.severity != "info"
                                  ? Safe(f.rule_title)
                                  : HumanizeSentence(Safe(f.title));
    for (const std::string& part : Wrap(title, text_width - kEvidence)) {
      std::string line = Paint(style, first ? head : std::string(kIndent, ' '), style_.color) +
                         Paint(Style::kBold, part, style_.color);
      if (first) {
        line += std::string(text_width - DisplayWidth(part) - DisplayWidth(f.evidence), ' ') +
                Paint(Style::kDim, f.evidence, style_.color);
      }
      Line(line);
      first = false;
    }
    if (DetailWorthIt(f)) Indented(ShortPaths(HumanizeSentence(Safe(f.detail))), text_width);
    if (!group.like_it.empty()) Indented(LikeIt(f, group.like_it), text_width);
    if (DetailWorthIt(f)) Items(f, text_width);
    size_t shown = 0, left = 0;
    for (const ReportRemedy& remedy : f.remedies) {
      if (!told->insert(remedy.fix).second) continue;
      if (shown == kMaxRemedies) {
        ++left;
        continue;
      }
      ++shown;
      Remedy(remedy);
    }
    if (left > 0) Indented(fmt::format("  … {} more remedies: SELECT * FROM remedies", left), text_width);
  }

  // Which role dominates a plan that does not fit is told by its title; what there is to see and to do stands at the plan
  // itself.
  bool DetailWorthIt(const ReportFinding& f) const {
    if (!f.rule.ends_with("_dominates")) return true;
    return std::none_of(report_.findings.begin(), report_.findings.end(), [&](const ReportFinding& other) {
      return other.rule == "step_does_not_fit" && other.module_id == f.module_id;
    });
  }

  // "the same on GPU 1, 2 and 5 more"
  std::string LikeIt(const ReportFinding& f, const std::vector<const ReportFinding*>& others) const {
    std::vector<std::string> names;
    for (const ReportFinding* other : others) {
      std::string name;
      if (other->capture_id != f.capture_id) name = Safe(other->host.empty() ? other->run : other->host);
      if (other->capture_id != f.capture_id && other->run != f.run) name = Safe(other->run + " / " + other->host);
      if (other->device) name += fmt::format("{}device {}", name.empty() ? "" : " ", *other->device);
      if (name.empty() && other->module_id != f.module_id) name = "another module of that name";
      if (!name.empty()) names.push_back(name);
    }
    std::string text = "the same on ";
    constexpr size_t kNamed = 7;
    for (size_t i = 0; i < std::min(names.size(), kNamed); ++i) text += (i == 0 ? "" : ", ") + names[i];
    if (names.size() > kNamed) text += fmt::format(" and {} more", names.size() - kNamed);
    return names.empty() ? fmt::format("and {} more like it", others.size()) : text;
  }

  // The evidence, where it is more than one thing: a single one is in the title.
  void Items(const ReportFinding& f, size_t text_width) {
    if (f.items.size() < 2) return;
    for (size_t i = 0; i < std::min(f.items.size(), kMaxItems); ++i) {
      const ReportItem& item = f.items[i];
      std::string line = PadLeft(item.bytes ? HumanBytes(*item.bytes) : "", 9) + "  ";
      if (item.count.value_or(1) > 1) line += fmt::format("{} × ", *item.count);
      line += ShortPaths(HumanizeSentence(Safe(item.label)));
      Line(std::string(kIndent, ' ') + Paint(Style::kDim, Truncate(line, text_width), style_.color));
    }
  }

  void Remedy(const ReportRemedy& remedy) {
    std::string text = "▸ " + HumanizeSentence(Safe(remedy.fix));
    if (!remedy.cost.empty() && remedy.cost != "none") text += " (cost: " + HumanizeSentence(Safe(remedy.cost)) + ")";
    if (remedy.changes_results.value_or(false)) text += " — changes results";
    std::string right = PadLeft(remedy.saving_bytes ? "≤ " + HumanBytes(*remedy.saving_bytes) : "", kSaves) +
                        PadLeft(remedy.needs_bytes ? HumanBytes(*remedy.needs_bytes) : "", kNeeds) +
                        PadLeft(remedy.fits ? (*remedy.fits ? "yes" : "no") : "", kFits) +
                        PadLeft(remedy.evidence, kEvidence);
    const size_t room = width_ - kIndent - kRight - 1;
    bool first = true;
    for (const std::string& part : Wrap(text, room)) {
      std::string line = std::string(kIndent, ' ') + (first ? part : "  " + part);
      if (first) line += std::string(room + 1 - DisplayWidth(part), ' ') + right;
      Line(line);
      first = false;
    }
  }

  void Indented(const std::string& text, size_t text_width) {
    for (const std::string& part : Wrap(text, text_width)) Line(std::string(kIndent, ' ') + part);
  }

  // A line of the plan: name, size, words, a bar.
  void PlanLine(const std::string& name, const std::string& size, const std::string& words, double part, double whole) {
    std::string line = "  " + PadRight(name, 12) + PadLeft(size, 10) + "   ";
    line += PadRight(Truncate(words, kPlanWords), kPlanWords) + " ";
    if (whole > 0) line += Bar(part, whole, width_ - DisplayWidth(line) - 1);
    Line(line);
  }

  void Plan() {
    const ReportPlan& plan = *report_.plan;
    Section("PLAN  " + Safe(plan.Label()), plan.has_plan ? "read" : "");
    if (!plan.has_plan) return Line("  the capture holds no HLO proto of this module: its plan is unknown");
    const double whole = static_cast<double>(std::max(plan.plan_bytes, plan.capacity_bytes.value_or(0)));
    std::string words = fmt::format("{}, of them {} donated", plan.parameter_count, plan.donated_parameter_count);
    if (plan.donated_bytes > 0) words += " (" + HumanBytes(plan.donated_bytes) + ")";
    PlanLine("parameters", HumanBytes(plan.parameter_bytes), words, static_cast<double>(plan.parameter_bytes), whole);
    PlanLine("outputs", HumanBytes(plan.output_bytes), "not aliased to a parameter",
             static_cast<double>(plan.output_bytes), whole);
    if (plan.constant_bytes > 0) {
      PlanLine("constants", HumanBytes(plan.constant_bytes), "", static_cast<double>(plan.constant_bytes), whole);
    }
    words = plan.heap_peak_bytes ? "heap peak " + HumanBytes(*plan.heap_peak_bytes) : "no heap trace: the peak is the plan";
    if (plan.temp_bytes == 0) words = "";
    PlanLine("temps", HumanBytes(plan.temp_bytes), words, static_cast<double>(plan.temp_bytes), whole);
    for (const ReportSpace& space : plan.other_spaces) {
      PlanLine(Safe(space.name), HumanBytes(space.bytes), fmt::format("memory space {}", space.memory_space), 0, 0);
    }
    PlanLine("total", HumanBytes(plan.plan_bytes), "what must fit beside everything else",
             static_cast<double>(plan.plan_bytes), whole);
    if (plan.capacity_bytes) {
      words = plan.capacity_evidence + ": ";
      if (plan.memory_bytes && *plan.memory_bytes > 0 && plan.capacity_source != "device memory") {
        words += fmt::format("{} of the device's {}", HumanPercent(*plan.capacity_bytes, *plan.memory_bytes),
                             HumanBytes(*plan.memory_bytes));
      } else {
        words += plan.capacity_source;
      }
      std::string line = "  " + PadRight("capacity", 12) + PadLeft(HumanBytes(*plan.capacity_bytes), 10) + "   " +
                         PadRight(Truncate(words, kPlanWords), kPlanWords) + " ";
      const size_t room = width_ - DisplayWidth(line) - 1;
      const auto at = static_cast<size_t>(static_cast<double>(*plan.capacity_bytes) / whole * static_cast<double>(room));
      for (size_t i = 1; i < std::max<size_t>(at, 1); ++i) line += "─";
      Line(line + "┤");
    } else {
      PlanLine("capacity", "–", "unknown: --capacity 16GiB says it", 0, 0);
    }
  }

  void Peak() {
    const ReportPlan& plan = *report_.plan;
    if (!plan.has_plan || plan.groups.empty()) return;
    std::string roles;
    for (const ReportRole& role : plan.roles) {
      roles += fmt::format("{}{} {}", roles.empty() ? "" : "  ", role.role,
                           HumanPercent(role.bytes, plan.heap_peak_bytes.value_or(0)));
    }
    Section(plan.heap_peak_bytes ? "AT THE HEAP PEAK  " + HumanBytes(plan.peak_bytes) : "ALL OF THE PLAN",
            roles.empty() ? "read" : "temps by role: " + roles + "  inferred");
    struct Cells {
      std::string shape, role, op, line;
    };
    std::vector<Cells> cells;
    size_t shape_width = 13, role_width = 8, line_width = 4;
    const size_t listed = std::min(plan.groups.size(), WantsDetail() ? plan.groups.size() : kHealthyGroups);
    for (size_t i = 0; i < listed; ++i) {
      const ReportGroup& g = plan.groups[i];
      Cells c;
      c.shape = fmt::format("{} × {}", g.count, g.shape.empty() ? "(no shape)" : Safe(g.shape));
      c.role = g.role + (g.rematerialized ? " remat" : "");
      c.op = Safe(ShortOp(g.op_name));
      c.line = Safe(Place(g.source_file, g.source_line, g.function_name));
      shape_width = std::max(shape_width, std::min(DisplayWidth(c.shape), kMaxShape));
      role_width = std::max(role_width, DisplayWidth(c.role));
      line_width = std::max(line_width, std::min(DisplayWidth(c.line), kMaxLine));
      cells.push_back(std::move(c));
    }
    const size_t op_width = width_ - 11 - shape_width - 1 - role_width - 1 - line_width - 1;
    Line(Paint(Style::kDim,
               PadLeft("bytes", 9) + "  " + PadRight("count × shape", shape_width) + " " + PadRight("role", role_width) + " " +
                   PadRight("op", op_width) + " line",
               style_.color));
    for (size_t i = 0; i < listed; ++i) {
      const ReportGroup& g = plan.groups[i];
      const std::string line = PadLeft(HumanBytes(g.bytes), 9) + "  " +
                               PadRight(Truncate(cells[i].shape, shape_width), shape_width) + " " +
                               PadRight(cells[i].role, role_width) + " " +
                               PadRight(TruncateFront(cells[i].op, op_width), op_width) + " " +
                               Truncate(cells[i].line, line_width);
      Line(line.substr(0, line.find_last_not_of(' ') + 1));
    }
    int64_t more_bytes = plan.more_bytes, more_buffers = plan.more_buffers;
    const int64_t more_groups = plan.more_groups + static_cast<int64_t>(plan.groups.size() - listed);
    for (size_t i = listed; i < plan.groups.size(); ++i) {
      more_bytes += plan.groups[i].bytes;
      more_buffers += plan.groups[i].count;
    }
    if (more_groups > 0) {
      Line(PadLeft(HumanBytes(more_bytes), 9) +
           fmt::format("  {} more in {} (--top {})", Plural(more_buffers, "buffer"), Plural(more_groups, "group"),
                       static_cast<int64_t>(listed) + more_groups));
    }
  }

  // Whether there is something to prove; a healthy capture takes half the lines, unless --top asks for more.
  bool WantsDetail() const {
    return report_.top_asked || shown().failed_count > 0 ||
           std::any_of(report_.findings.begin(), report_.findings.end(),
                       [](const ReportFinding& f) { return f.severity != "info"; });
  }

  // In-use at the starts as a small picture: eight heights from 0 to the highest.
  static std::string Staircase(const std::vector<int64_t>& values, size_t width) {
    constexpr const char* kSteps[] = {"▁", "▂", "▃", "▄", "▅", "▆", "▇", "█"};
    const int64_t most = *std::max_element(values.begin(), values.end());
    std::string picture;
    const size_t columns = std::min(values.size(), width);
    for (size_t i = 0; i < columns; ++i) {
      const int64_t value = values[columns == 1 ? values.size() - 1 : i * (values.size() - 1) / (columns - 1)];
      const int64_t step = most <= 0 ? 0 : std::clamp<int64_t>(static_cast<int64_t>(7.0 * static_cast<double>(value) / static_cast<double>(most) + 0.5), 0, 7);
      picture += kSteps[step];
    }
    return picture;
  }

  void RunLine(const std::string& what, const std::string& size, const std::string& words) {
    const std::string line = "  " + PadRight(what, 34) + PadLeft(size, 10) + "   " + words;
    Line(Truncate(line, width_));
  }

  void Run() {
    const ReportRun& run = *report_.run;
    const ReportDevice& device = run.devices[run.shown];
    std::string kind = device.kind;
    std::transform(kind.begin(), kind.end(), kind.begin(), ::toupper);
    std::string name = kind.empty() ? "" : kind + (device.ordinal ? fmt::format(" {}", *device.ordinal) : "");
    Section("RUN  " + Safe(report_.plan->Label()) + (name.empty() ? "" : " on " + name),
            shown().has_allocators ? "measured" : "");
    if (run.devices.size() > 1) Devices();
    const auto& starts = device.in_use_at_starts;
    RunLine("executions", std::to_string(device.execution_count), LaunchWords(device));
    if (!starts.empty()) {
      RunLine(fmt::format("in use at the start of {}", starts.size() == 1 ? "it" : "the first"), HumanBytes(starts.front()), "");
      if (starts.size() > 1) RunLine("                    of the last", HumanBytes(starts.back()), Staircase(starts, 40));
    } else {
      RunLine("in use at the starts", "–", "no allocator events in the capture");
    }
    if (device.capture_peak_bytes) {
      std::string words;
      if (device.capacity_bytes) {
        words = fmt::format("of {}", HumanBytes(*device.capacity_bytes));
        if (device.memory_bytes && *device.memory_bytes > 0 && *device.memory_bytes != *device.capacity_bytes) {
          words += fmt::format(" ({} of the device's {})", HumanPercent(*device.capacity_bytes, *device.memory_bytes),
                               HumanBytes(*device.memory_bytes));
        }
      }
      RunLine("peak in the capture", HumanBytes(*device.capture_peak_bytes), words);
      if (device.peak_bytes && *device.peak_bytes > *device.capture_peak_bytes) {
        RunLine("peak before it began", HumanBytes(*device.peak_bytes), "start-up, compiling, tuning");
      }
    }
    if (device.wait_count > 0) {
      RunLine("waits for memory", std::to_string(device.wait_count),
              "the longest " + HumanNanoseconds(device.longest_wait_ns) + ", " + device.wait_evidence);
    }
    if (!run.live.empty()) {
      Line("  live at the start of the last one, by origin");
      for (const ReportLiveGroup& live : run.live) {
        Line(Truncate(PadLeft(HumanBytes(live.bytes), 14) + "  " + (live.count > 1 ? fmt::format("{} × ", live.count) : "") +
                          Safe(live.origin.empty() ? "unknown" : live.origin),
                      width_));
      }
      if (run.more_live_groups > 0) {
        Line(PadLeft(HumanBytes(run.more_live_bytes), 14) + fmt::format("  {} more", Plural(run.more_live_groups, "origin")));
      }
    }
    if (!run.between.empty() && WantsDetail()) {
      std::string events;
      for (const std::string& event : run.between) events += (events.empty() ? "" : " · ") + Safe(event);
      bool first = true;
      for (const std::string& part : Wrap(events, width_ - 32)) {
        Line(PadRight(first ? "  between the last two" : "", 32) + part);
        first = false;
      }
    }
  }

  static std::string LaunchWords(const ReportDevice& device) {
    if (device.failed_count == 0) return "";
    std::string words = device.failed_count == 1 ? "execution" : "executions";
    for (size_t i = 0; i < std::min<size_t>(device.failed_sequences.size(), 5); ++i) {
      words += fmt::format("{} {}", i == 0 ? "" : ",", device.failed_sequences[i]);
    }
    if (device.failed_sequences.size() > 5) words += fmt::format(" and {} more", device.failed_sequences.size() - 5);
    return words + " launched nothing";
  }

  void Devices() {
    const ReportRun& run = *report_.run;
    Line(Paint(Style::kDim, "  device   executions  failed  first start   last start         peak     capacity  waits", style_.color));
    for (size_t i = 0; i < std::min(run.devices.size(), kMaxDevices); ++i) {
      const ReportDevice& d = run.devices[i];
      const auto& starts = d.in_use_at_starts;
      Line(fmt::format("{}{}{:>11}{:>8}{}{}{}{}{:>7}", i == run.shown ? "▸ " : "  ",
                       PadRight(d.ordinal ? std::to_string(*d.ordinal) : "–", 8), d.execution_count, d.failed_count,
                       PadLeft(starts.empty() ? "–" : HumanBytes(starts.front()), 13),
                       PadLeft(starts.empty() ? "–" : HumanBytes(starts.back()), 13),
                       PadLeft(Bytes(d.capture_peak_bytes), 13), PadLeft(Bytes(d.capacity_bytes), 13), d.wait_count));
    }
    if (run.devices.size() > kMaxDevices) Line(fmt::format("  … {} more devices", run.devices.size() - kMaxDevices));
  }

  void Next() {
    Line("");
    bool first = true;
    for (const std::string& command : style_.next) {
      Line((first ? Paint(Style::kBold, "next", style_.color) + "  " : "      ") + command);
      first = false;
    }
  }

  const Report& report_;
  const ReportStyle& style_;
  const size_t width_;
  std::string out_;
};

}  // namespace

std::string ReportText(const Report& report, const ReportStyle& style) { return TextReport(report, style).Write(); }

}  // namespace oomdb
