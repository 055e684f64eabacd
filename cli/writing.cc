#include "cli/writing.h"

#include <chrono>
#include <iostream>
#include <memory>

#include "cli/interrupt.h"
#include "queries/catalogue.h"
#include "render/terminal.h"

namespace oomdb {
namespace {

// Others write for less than that as a rule.
constexpr std::chrono::seconds kSilence(2);

}  // namespace

Database OpenToWrite(const std::string& path, bool must_exist) {
  const auto said = std::make_shared<bool>(false);
  return Database::OpenForIngest(path, Catalogue::Get().views(), must_exist,
                                 [path, said](std::chrono::milliseconds waited) {
                                   if (StopRequested()) return false;
                                   if (waited > kSilence && !*said) {
                                     *said = true;
                                     std::cerr << "oomdb: waiting for another program that uses "
                                               << Sanitize(path) << std::endl;
                                   }
                                   return true;
                                 });
}

}  // namespace oomdb
