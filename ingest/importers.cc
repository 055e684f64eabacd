#include "ingest/importers.h"

#include <array>

#include "ingest/plan/hlo_importer.h"
#include "ingest/xplane/xplane_importer.h"

namespace oomdb {

std::span<const Importer> Importers() {
  static constexpr std::array<Importer, 2> kImporters = {{
      {"xplane", ClaimsXPlane, ImportXPlane},
      {"hlo", ClaimsHlo, ImportHlo},
  }};
  return kImporters;
}

}  // namespace oomdb
