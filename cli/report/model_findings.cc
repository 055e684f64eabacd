#include <algorithm>
#include <map>
#include <tuple>

#include "cli/report/model.h"
#include "queries/catalogue.h"
#include "queries/words.h"
#include "render/units.h"
#include "schema/query.h"

namespace oomdb::cli {
namespace {

// The column in which a rule lists in words what its items are.
constexpr std::string_view kListed = "largest";

const queries::WordUnits& Units() {
  static const queries::WordUnits units{render::HumanBytes, render::HumanNanoseconds,
                                        render::HumanizeSentence};
  return units;
}

// What a finding is about: capture, device, module.
using Subject = std::tuple<int64_t, std::optional<int64_t>, std::optional<int64_t>>;

Subject SubjectOf(const schema::Record& row) {
  return {row.Integer("capture_id"), row.MaybeInteger("device_id"), row.MaybeInteger("module_id")};
}

int SeverityRank(const std::string& severity) {
  return severity == "error" ? 0 : severity == "warning" ? 1 : 2;
}

class FindingsReader {
 public:
  explicit FindingsReader(schema::Database& database) : database_(database) {}

  std::vector<ReportFinding> Read(const std::function<bool(int64_t)>& wanted) {
    for (const schema::Record& row : schema::ReadView(database_, "findings")) {
      if (wanted(row.Integer("capture_id"))) Add(row);
    }
    std::sort(findings_.begin(), findings_.end(),
              [](const ReportFinding& a, const ReportFinding& b) {
                const auto key = [](const ReportFinding& f) {
                  return std::tuple(SeverityRank(f.severity), f.rank, f.run, f.host,
                                    f.device.value_or(-1), f.module_name, f.finding_id);
                };
                return key(a) < key(b);
              });
    ReadEvidence();
    ReadParts();
    return std::move(findings_);
  }

 private:
  void Add(const schema::Record& row) {
    const queries::CatalogueEntry& rule = *queries::Catalogue::Get().Find(row.Text("rule"));
    const schema::Record& columns = ColumnsOf(rule, SubjectOf(row));
    ReportFinding f{.finding_id = row.Text("finding_id"),
                    .capture_id = row.Integer("capture_id"),
                    .run = row.Text("run"),
                    .host = row.Text("host"),
                    .rule = rule.id,
                    .rule_title = rule.title,
                    .rank = rule.rank,
                    .is_hint = rule.hint,
                    .severity = row.Text("severity"),
                    .evidence = row.Text("evidence"),
                    .title = row.Text("title"),
                    .detail = row.Text("detail"),
                    .title_text = rule.says.ToText(columns, Units()),
                    .detail_text = rule.detail.ToText(columns, Units()),
                    .device = row.MaybeInteger("device"),
                    .module_id = row.MaybeInteger("module_id"),
                    .module_name = row.Text("module_name"),
                    .bytes = row.MaybeInteger("bytes"),
                    .verdict = row.Text("verdict"),
                    .incident_id = row.Text("incident_id")};
    f.brief_text = rule.detail.ToText(columns.Without(kListed), Units());
    f.bytes_evidence = IsSizeOfPlan(f) ? "read" : f.evidence;
    findings_.push_back(std::move(f));
  }

  // The rule's own row of a finding.
  const schema::Record& ColumnsOf(const queries::CatalogueEntry& rule, const Subject& subject) {
    const auto [found, is_new] = rows_.try_emplace(rule.id);
    if (is_new) {
      for (schema::Record& row : schema::ReadView(database_, rule.id))
        found->second.emplace(SubjectOf(row), std::move(row));
    }
    return found->second.at(subject);
  }

  bool IsSizeOfPlan(const ReportFinding& f) {
    if (!f.bytes || !f.module_id) return false;
    const std::vector<schema::Record> module =
        schema::ReadView(database_, "modules", {{"module_id", *f.module_id}});
    return !module.empty() && module[0].MaybeInteger("plan_bytes") == f.bytes;
  }

  void ReadEvidence() {
    if (findings_.empty()) return;
    std::map<std::string, ReportFinding*> by_id;
    for (ReportFinding& f : findings_) by_id[f.finding_id] = &f;
    for (const schema::Record& row :
         schema::ReadView(database_, "finding_items", {}, "finding_id, position")) {
      const auto found = by_id.find(row.Text("finding_id"));
      if (found == by_id.end()) continue;
      found->second->items.push_back({row.Text("kind"), row.Text("label"),
                                      row.MaybeInteger("bytes"), row.MaybeInteger("count")});
    }
    for (const schema::Record& row :
         schema::ReadView(database_, "remedies", {}, "finding_id, position")) {
      const auto found = by_id.find(row.Text("finding_id"));
      if (found == by_id.end()) continue;
      found->second->remedies.push_back({.fix = row.Text("fix"),
                                         .saving_bytes = row.MaybeInteger("saving_bytes"),
                                         .needs_bytes = row.MaybeInteger("needs_bytes"),
                                         .fits = row.MaybeFlag("fits"),
                                         .likely = row.MaybeFlag("likely"),
                                         .cost = row.Text("cost"),
                                         .changes_results = row.MaybeFlag("changes_results"),
                                         .evidence = row.Text("evidence"),
                                         .remedy = row.Text("remedy"),
                                         .needs_low_bytes = row.MaybeInteger("needs_low_bytes"),
                                         .needs_high_bytes = row.MaybeInteger("needs_high_bytes")});
    }
  }

  void ReadParts() {
    std::map<std::string, std::string> parts;
    for (const schema::Record& row : schema::ReadView(database_, "incident_findings"))
      parts[row.Text("finding_id")] = row.Text("part");
    for (ReportFinding& f : findings_) {
      const std::string& part = parts[f.finding_id];
      f.is_symptom = part == "symptom";
      f.is_explained = f.is_symptom || part == "part";
    }
  }

  schema::Database& database_;
  std::vector<ReportFinding> findings_;
  std::map<std::string, std::map<Subject, schema::Record>> rows_;  // By rule.
};

}  // namespace

std::vector<ReportFinding> ReadReportFindings(schema::Database& database,
                                              const std::function<bool(int64_t)>& wanted) {
  return FindingsReader(database).Read(wanted);
}

void SortReportFindings(int64_t shown, std::vector<ReportFinding>* findings) {
  std::stable_sort(findings->begin(), findings->end(),
                   [&](const ReportFinding& a, const ReportFinding& b) {
                     const auto key = [&](const ReportFinding& f) {
                       return std::tuple(SeverityRank(f.severity), f.capture_id != shown,
                                         f.is_explained, f.rank);
                     };
                     return key(a) < key(b);
                   });
}

std::vector<std::string> ReadReportQuiet(schema::Database& database,
                                         const std::vector<ReportFinding>& findings,
                                         int64_t capture_id, const ReportPlan& plan,
                                         std::optional<int64_t> device_id) {
  std::vector<const queries::CatalogueEntry*> rules = queries::Catalogue::Get().Rules();
  std::sort(rules.begin(), rules.end(),
            [](const queries::CatalogueEntry* a, const queries::CatalogueEntry* b) {
              return a->rank < b->rank;
            });
  std::vector<std::string> quiet;
  for (const queries::CatalogueEntry* rule : rules) {
    const bool found = std::any_of(findings.begin(), findings.end(), [&](const ReportFinding& f) {
      return f.rule == rule->id && f.capture_id == capture_id;
    });
    if (found || rule->quiet.empty()) continue;
    for (const schema::Record& row :
         schema::ReadView(database, rule->id + "_quiet", {{"module_id", plan.module_id}})) {
      if (!row.IsNull("device_id") && row.MaybeInteger("device_id") != device_id) continue;
      quiet.push_back(rule->quiet.ToText(row, Units()));
      break;
    }
  }
  return quiet;
}

}  // namespace oomdb::cli
