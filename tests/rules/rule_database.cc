#include "tests/rules/rule_database.h"

#include <SQLiteCpp/SQLiteCpp.h>

#include <memory>
#include <stdexcept>

#include "ingest/log/log_importer.h"
#include "ingest/plan/hlo_importer.h"
#include "ingest/source/source.h"
#include "ingest/xplane/xplane_importer.h"
#include "queries/catalogue.h"
#include "queries/generated_views.h"
#include "schema/capture_writer.h"

namespace oomdb::queries {
namespace {

std::optional<int64_t> MaybeInt64(const SQLite::Column& column) {
  if (column.isNull()) return std::nullopt;
  return column.getInt64();
}

std::string TextOrEmpty(const SQLite::Column& column) {
  return column.isNull() ? std::string() : column.getString();
}

void Store(schema::Database& database, const std::string& bytes, const std::string& path,
           const std::string& run,
           void (*import)(const ingest::Source&, const ingest::ImportOptions&, ingest::FactSink&)) {
  const std::unique_ptr<ingest::Source> source = ingest::MemorySource(bytes, path);
  schema::CaptureSource description;
  description.path = path;
  description.content_hash = ingest::ContentHash(*source);
  description.bytes = static_cast<int64_t>(bytes.size());
  description.run = run;
  schema::CaptureWriter writer(database, description);
  import(*source, {}, writer);
  writer.Commit({});
}

// What a rule brings to one of the views that unite all of them: to plan those takes a second.
std::string PartOf(const std::string& view, const std::string& rule) {
  for (const CatalogueEntry& entry : FindingViews(Catalogue::Get().entries(), {rule})) {
    if (entry.id == view) return entry.select;
  }
  throw std::logic_error("no view " + view);
}

}  // namespace

AskedRules& AskedRules::OfThisProcess() {
  static AskedRules asked;
  return asked;
}

RuleDatabase::RuleDatabase(const schema::SettingOverrides& settings)
    : database_(schema::Database::Throwaway(Catalogue::Get().views(), settings)) {}

void RuleDatabase::Ingest(const std::string& xspace_bytes, const std::string& run) {
  Store(database_, xspace_bytes, "/" + run + "/" + std::to_string(++captures_) + ".xplane.pb", run,
        ingest::ImportXPlane);
}

void RuleDatabase::IngestPlan(const std::string& hlo_bytes, const std::string& run) {
  Store(database_, hlo_bytes, "/" + run + "/" + std::to_string(++captures_) + ".hlo.pb", run,
        ingest::ImportHlo);
}

void RuleDatabase::IngestText(const std::string& text, const std::string& run) {
  Store(database_, text, "/" + run + "/" + std::to_string(++captures_) + ".log", run,
        ingest::ImportLog);
}

void RuleDatabase::Execute(const std::string& sql) { database_.connection().exec(sql); }

std::vector<Finding> RuleDatabase::Findings(const std::string& rule) {
  SQLite::Statement statement(
      database_.connection(),
      "SELECT finding_id, rule, device, module_name, severity, evidence, title, detail, bytes "
      "FROM (" +
          PartOf("findings", rule) + ") ORDER BY finding_id");
  std::vector<Finding> findings;
  while (statement.executeStep()) {
    findings.push_back({statement.getColumn(0).getString(), statement.getColumn(1).getString(),
                        MaybeInt64(statement.getColumn(2)), TextOrEmpty(statement.getColumn(3)),
                        statement.getColumn(4).getString(), statement.getColumn(5).getString(),
                        TextOrEmpty(statement.getColumn(6)), TextOrEmpty(statement.getColumn(7)),
                        MaybeInt64(statement.getColumn(8))});
  }
  AskedRules& asked = AskedRules::OfThisProcess();
  (findings.empty() ? asked.quiet : asked.fired).insert(rule);
  return findings;
}

std::vector<std::string> RuleDatabase::Summary() {
  SQLite::Statement statement(database_.connection(),
                              "SELECT rule || ' ' || severity FROM findings ORDER BY 1");
  std::vector<std::string> summary;
  while (statement.executeStep()) summary.push_back(statement.getColumn(0).getString());
  return summary;
}

std::vector<Remedy> RuleDatabase::Remedies(const Finding& finding) {
  SQLite::Statement statement(database_.connection(),
                              "SELECT fix, saving_bytes, needs_bytes, fits, likely, remedy FROM (" +
                                  PartOf("remedies", finding.rule) +
                                  ") WHERE finding_id = ? ORDER BY position");
  statement.bind(1, finding.id);
  std::vector<Remedy> remedies;
  while (statement.executeStep()) {
    remedies.push_back({statement.getColumn(0).getString(), MaybeInt64(statement.getColumn(1)),
                        MaybeInt64(statement.getColumn(2)), MaybeInt64(statement.getColumn(3)),
                        MaybeInt64(statement.getColumn(4)), statement.getColumn(5).getString()});
  }
  return remedies;
}

std::vector<Item> RuleDatabase::Items(const Finding& finding) {
  SQLite::Statement statement(database_.connection(),
                              "SELECT kind, label, bytes, count FROM (" +
                                  PartOf("finding_items", finding.rule) +
                                  ") WHERE finding_id = ? ORDER BY position");
  statement.bind(1, finding.id);
  std::vector<Item> items;
  while (statement.executeStep()) {
    items.push_back({statement.getColumn(0).getString(), statement.getColumn(1).getString(),
                     MaybeInt64(statement.getColumn(2)), MaybeInt64(statement.getColumn(3))});
  }
  return items;
}

std::optional<int64_t> RuleDatabase::Integer(const std::string& sql) {
  SQLite::Statement statement(database_.connection(), sql);
  if (!statement.executeStep()) return std::nullopt;
  return MaybeInt64(statement.getColumn(0));
}

}  // namespace oomdb::queries
