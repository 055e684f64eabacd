// A report made by hand, for the renderers.
#ifndef OOMDB_TESTS_REPORT_SAMPLE_REPORT_H_
#define OOMDB_TESTS_REPORT_SAMPLE_REPORT_H_

#include "cli/report/model.h"

namespace oomdb::cli {

// A step that does not fit, with one finding, two remedies, a peak of two groups and one failed
// execution.
Report MisfitReport();

// The same capture when all is well.
Report HealthyReport();

}  // namespace oomdb::cli

#endif  // OOMDB_TESTS_REPORT_SAMPLE_REPORT_H_
