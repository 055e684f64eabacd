#include "ingest/importers.h"

#include <array>

#include "ingest/log/log_importer.h"
#include "ingest/plan/hlo_importer.h"
#include "ingest/xplane/xplane_importer.h"

namespace oomdb {

std::span<const Importer> Importers() {
  static constexpr std::array<Importer, 3> kImporters = {{
      {"xplane", ClaimsXPlane, ImportXPlane},
      {"hlo", ClaimsHlo, ImportHlo},
      // Last: it takes any text.
      {"log", ClaimsLog, ImportLog, HoldsLog},
  }};
  return kImporters;
}

}  // namespace oomdb
