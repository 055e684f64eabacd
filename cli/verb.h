// Declaring a verb: its options, its help, what it does. The one place that knows the command line
// library (CLI11), whose header costs seconds in every file that includes it.
//
//   Verb verb = verbs.Add("forget", "Remove a run or a capture from a database");
//   verb.Option("--run", options->run, "All captures of this run").Type("NAME");
//   verb.Run([options] { Forget(*options); });
#ifndef OOMDB_CLI_VERB_H_
#define OOMDB_CLI_VERB_H_

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace CLI {
class App;
class Option;
}  // namespace CLI

namespace oomdb::cli {

// What a verb was just given; each call says one thing more of it.
class VerbOption {
 public:
  explicit VerbOption(CLI::Option* option) : option_(option) {}

  VerbOption& Type(const std::string& name);      // What help calls its value: FILE, SIZE.
  VerbOption& Variable(const std::string& name);  // The environment variable that stands in for it.
  VerbOption& Required();
  VerbOption& ShowDefault();  // Help shows what `into` holds now.
  VerbOption& OneValue();     // Of a vector: one value each time it is named.
  VerbOption& Between(int64_t least, int64_t most);
  VerbOption& Positive();

 private:
  CLI::Option* option_;
};

// `into` is written to when the command line is read, and must live until then. A name that begins
// with `-` is an option, another one a positional argument.
class Verb {
 public:
  explicit Verb(CLI::App* app) : app_(app) {}

  VerbOption Option(const std::string& names, std::string& into, const std::string& help);
  VerbOption Option(const std::string& names, std::vector<std::string>& into,
                    const std::string& help);
  VerbOption Option(const std::string& names, int& into, const std::string& help);
  VerbOption Option(const std::string& names, int64_t& into, const std::string& help);
  VerbOption Option(const std::string& names, size_t& into, const std::string& help);
  VerbOption Option(const std::string& names, double& into, const std::string& help);
  VerbOption Option(const std::string& names, std::optional<int64_t>& into,
                    const std::string& help);
  VerbOption Flag(const std::string& names, bool& into, const std::string& help);
  void Footer(const std::string& text);
  // Called when the command line names the verb. What it throws ends the program.
  void Run(std::function<void()> body);

 private:
  CLI::App* app_;
};

// What a verb takes, for what describes the command line: completion, the manual page.
struct OptionDescription {
  std::vector<std::string> names;  // "-o", "--output"; of a positional argument its name.
  bool is_positional = false;
  std::string type;  // What help calls its value; empty: a flag.
  std::string help;
};
struct VerbDescription {
  std::string name, help, footer;
  std::vector<OptionDescription> options;
};

// The verbs of a command line.
class Verbs {
 public:
  explicit Verbs(CLI::App* app) : app_(app) {}
  Verb Add(const std::string& name, const std::string& help);
  // Those that were added, in that order.
  std::vector<VerbDescription> Describe() const;

 private:
  CLI::App* app_;
};

// Reads a command line: the verb that it names runs, or --help or --version prints. `description`
// and `footer` stand above and below the list of verbs, `version` is what --version prints;
// `add_verbs` declares them. `choose` may change the arguments once the verbs' names are known.
// Throws Error (kUsage) for what can't be understood.
struct CommandLineTexts {
  std::string description, footer, version;
};
void ReadCommandLine(const CommandLineTexts& texts, std::vector<std::string> arguments,
                     const std::function<void(Verbs&)>& add_verbs,
                     const std::function<void(const std::vector<std::string>& verbs,
                                              std::vector<std::string>& arguments)>& choose);

}  // namespace oomdb::cli

#endif  // OOMDB_CLI_VERB_H_
