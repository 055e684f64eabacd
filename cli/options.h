// Options that several verbs have, so that they are named and read in one way.
#ifndef OOMDB_CLI_OPTIONS_H_
#define OOMDB_CLI_OPTIONS_H_

#include <iosfwd>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "cli/verb.h"
#include "render/table.h"
#include "schema/database.h"

namespace oomdb::cli {

// --db FILE, else $OOMDB_DB.
void AddDatabaseOption(Verb& verb, std::string& path);
// `path`, or Error (kUsage) when it is empty: no database was named.
const std::string& RequireDatabase(const std::string& path);

// --set name=value (repeatable) and --capacity SIZE: settings for this call only.
struct SettingOptions {
  std::vector<std::string> sets;
  std::string capacity;
};
void AddSettingOptions(Verb& verb, SettingOptions& options);
// The size of a device's memory, of the option's text. Throws Error (kUsage): not a size, or a bare
// number so small that its unit was forgotten.
int64_t ParseDeviceBytes(const std::string& text, const std::string& option);
// Throws Error (kUsage): no such setting (nearest names offered), not a number.
schema::SettingOverrides ReadSettingOptions(const SettingOptions& options);

// --format F, -o FILE, -f, --color.
struct OutputOptions {
  std::string format;  // Empty: what the file's name ends in, else table.
  std::string file;
  bool force = false;
  std::string color = "auto";
};
void AddOutputOptions(Verb& verb, OutputOptions& options);

// Where a verb's data goes: standard output, or the file of -o, which is written whole or not at
// all.
class Output {
 public:
  // Throws Error (kUsage) for an unknown format, (kFailed) when the file exists and -f is not
  // given.
  explicit Output(const OutputOptions& options);
  ~Output();
  Output(const Output&) = delete;
  Output& operator=(const Output&) = delete;

  std::ostream& stream();
  render::TableOptions table_options() const;
  // Puts the file in its place. Throws Error when it can't be written to the end.
  void Finish();

 private:
  struct State;
  std::unique_ptr<State> state_;
};

// Throws Error (kUsage) when `output` is one of `inputs`, or an existing file that is named like a
// capture: not even -f may write over what was recorded. Empty or missing: fine.
void RefuseToOverwriteInputs(const std::string& output, const std::vector<std::string>& inputs);

// "name=value" cut at the first `=`. Throws Error (kUsage), naming `option`, when there is none or
// the name is empty.
std::pair<std::string, std::string> SplitAssignment(const std::string& text,
                                                    std::string_view option);

// `text` as a shell takes it: quoted when it needs to be.
std::string ShellQuote(std::string_view text);

}  // namespace oomdb::cli

#endif  // OOMDB_CLI_OPTIONS_H_
