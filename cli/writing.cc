#include "cli/writing.h"

#include <chrono>
#include <iostream>
#include <memory>

#include "cli/interrupt.h"
#include "queries/catalogue.h"
#include "render/terminal.h"

namespace oomdb::cli {
namespace {

// Others write for less than that as a rule.
constexpr std::chrono::seconds kSilence(2);

}  // namespace

schema::Database OpenToWrite(const std::string& path, bool must_exist) {
  const auto said = std::make_shared<bool>(false);
  return schema::Database::OpenForIngest(path, queries::Catalogue::Get().views(), must_exist,
                                         [path, said](std::chrono::milliseconds waited) {
                                           if (StopRequested()) return false;
                                           if (waited > kSilence && !*said) {
                                             *said = true;
                                             std::cerr
                                                 << "oomdb: waiting for another program that uses "
                                                 << render::Sanitize(path) << std::endl;
                                           }
                                           return true;
                                         });
}

}  // namespace oomdb::cli
