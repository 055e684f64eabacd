#include "ingest/importers.h"

#include <array>

#include "ingest/dump/text_importer.h"
#include "ingest/plan/hlo_importer.h"
#include "ingest/xplane/xplane_importer.h"

namespace oomdb {

std::span<const Importer> Importers() {
  static constexpr std::array<Importer, 3> kImporters = {{
      {"xplane", ClaimsXPlane, ImportXPlane},
      {"hlo", ClaimsHlo, ImportHlo},
      {"plan_text", ClaimsPlanText, ImportPlanText},
  }};
  return kImporters;
}

}  // namespace oomdb
