#include "ingest/importers.h"

#include <array>

#include "ingest/dump/text_importer.h"
#include "ingest/log/log_importer.h"
#include "ingest/plan/hlo_importer.h"
#include "ingest/profile/profile_importer.h"
#include "ingest/xplane/xplane_importer.h"

namespace oomdb::ingest {

std::span<const Importer> Importers() {
  static constexpr std::array<Importer, 5> kImporters = {{
      {"xplane", ClaimsXPlane, ImportXPlane},
      {"hlo", ClaimsHlo, ImportHlo},
      {"plan_text", ClaimsPlanText, ImportPlanText},
      {"device_memory_profile", ClaimsProfile, ImportProfile, HoldsProfile},
      // Last: it takes any text.
      {"log", ClaimsLog, ImportLog, HoldsLog},
  }};
  return kImporters;
}

}  // namespace oomdb::ingest
