// A report to look at: one HTML file with pictures.
#ifndef OOMDB_CLI_PAGE_REPORT_PAGE_H_
#define OOMDB_CLI_PAGE_REPORT_PAGE_H_

#include <string>

#include "cli/report/model.h"
#include "cli/report/text.h"
#include "schema/database.h"

namespace oomdb::cli::page {

// The verdict in the words of the text report, the picture that its cause needs, then all others
// that the capture has something for, the findings, and the text report as it is. At most about 2
// MB, whatever the capture.
std::string ReportHtml(schema::Database& database, const Report& report, const ReportStyle& style);

}  // namespace oomdb::cli::page

#endif  // OOMDB_CLI_PAGE_REPORT_PAGE_H_
