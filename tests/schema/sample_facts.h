// Facts of a small capture, and what the tests of this room share.
#ifndef OOMDB_TESTS_SCHEMA_SAMPLE_FACTS_H_
#define OOMDB_TESTS_SCHEMA_SAMPLE_FACTS_H_

#include <memory>
#include <string>

#include "ingest/base/facts.h"
#include "ingest/plan/plan.h"
#include "schema/capture_writer.h"
#include "schema/database.h"
#include "schema/query.h"

namespace oomdb::schema {

// A folder of its own, removed at the end.
class TestFolder {
 public:
  TestFolder();
  ~TestFolder();
  std::string File(const std::string& name) const { return path_ + "/" + name; }

 private:
  std::string path_;
};

// One parameter of 8 bytes, one temp of 32, live at the peak.
std::shared_ptr<const ingest::Plan> SamplePlan();

CaptureSource SampleSource(const std::string& content_hash);

// One of each fact, `allocations` of them allocations; the module's plan is SamplePlan under
// `hlo_hash`.
void AddSampleFacts(ingest::FactSink& sink, const std::string& hlo_hash = "plan-hash",
                    int64_t allocations = 100);

// Opens, writes one sample capture, closes.
CaptureSummary WriteSample(Database& database, const std::string& content_hash,
                           const std::string& hlo_hash = "plan-hash");

int64_t QueryInt(Database& database, const std::string& sql);
std::string QueryText(Database& database, const std::string& sql);

}  // namespace oomdb::schema

#endif  // OOMDB_TESTS_SCHEMA_SAMPLE_FACTS_H_
