#include "schema/text_runs.h"

#include <SQLiteCpp/SQLiteCpp.h>

namespace oomdb::schema {

void AdoptErrorTexts(Database& database) {
  database.connection().exec(R"sql(
WITH planned AS (
  SELECT DISTINCT c.run FROM captures c JOIN stored_modules m ON m.capture_id = c.capture_id
)
UPDATE captures SET run = (SELECT run FROM planned)
WHERE kind = 'oom_log' AND (SELECT COUNT(*) FROM planned) = 1
  AND run NOT IN (SELECT run FROM planned)
)sql");
}

}  // namespace oomdb::schema
