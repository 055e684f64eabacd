#include "cli/verb.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <utility>

#include "base/error.h"

namespace oomdb::cli {

VerbOption& VerbOption::Type(const std::string& name) {
  option_->type_name(name);
  return *this;
}

VerbOption& VerbOption::Variable(const std::string& name) {
  option_->envname(name);
  return *this;
}

VerbOption& VerbOption::Required() {
  option_->required();
  return *this;
}

VerbOption& VerbOption::ShowDefault() {
  option_->capture_default_str();
  return *this;
}

VerbOption& VerbOption::OneValue() {
  option_->allow_extra_args(false);
  return *this;
}

VerbOption& VerbOption::Between(int64_t least, int64_t most) {
  option_->check(CLI::Range(least, most));
  return *this;
}

VerbOption& VerbOption::Positive() {
  option_->check(CLI::PositiveNumber);
  return *this;
}

VerbOption Verb::Option(const std::string& names, std::string& into, const std::string& help) {
  return VerbOption(app_->add_option(names, into, help));
}

VerbOption Verb::Option(const std::string& names, std::vector<std::string>& into,
                        const std::string& help) {
  return VerbOption(app_->add_option(names, into, help));
}

VerbOption Verb::Option(const std::string& names, int& into, const std::string& help) {
  return VerbOption(app_->add_option(names, into, help));
}

VerbOption Verb::Option(const std::string& names, int64_t& into, const std::string& help) {
  return VerbOption(app_->add_option(names, into, help));
}

VerbOption Verb::Option(const std::string& names, size_t& into, const std::string& help) {
  return VerbOption(app_->add_option(names, into, help));
}

VerbOption Verb::Option(const std::string& names, double& into, const std::string& help) {
  return VerbOption(app_->add_option(names, into, help));
}

VerbOption Verb::Option(const std::string& names, std::optional<int64_t>& into,
                        const std::string& help) {
  return VerbOption(app_->add_option(names, into, help));
}

VerbOption Verb::Flag(const std::string& names, bool& into, const std::string& help) {
  return VerbOption(app_->add_flag(names, into, help));
}

void Verb::Footer(const std::string& text) { app_->footer(text); }

void Verb::Run(std::function<void()> body) { app_->callback(std::move(body)); }

Verb Verbs::Add(const std::string& name, const std::string& help) {
  return Verb(app_->add_subcommand(name, help));
}

std::vector<VerbDescription> Verbs::Describe() const {
  std::vector<VerbDescription> verbs;
  for (const CLI::App* app : app_->get_subcommands({})) {
    VerbDescription& verb = verbs.emplace_back();
    verb.name = app->get_name();
    verb.help = app->get_description();
    verb.footer = app->get_footer();
    for (const CLI::Option* option : app->get_options()) {
      OptionDescription& described = verb.options.emplace_back();
      described.is_positional = option->get_positional();
      if (described.is_positional) described.names.push_back(option->get_name(true));
      for (const std::string& name : option->get_snames()) described.names.push_back("-" + name);
      for (const std::string& name : option->get_lnames()) described.names.push_back("--" + name);
      if (option->get_items_expected_max() > 0) described.type = option->get_type_name();
      described.help = option->get_description();
    }
  }
  return verbs;
}

void ReadCommandLine(const CommandLineTexts& texts, std::vector<std::string> arguments,
                     const std::function<void(Verbs&)>& add_verbs,
                     const std::function<void(const std::vector<std::string>& verbs,
                                              std::vector<std::string>& arguments)>& choose) {
  CLI::App app(texts.description, "oomdb");
  app.set_version_flag("--version", texts.version);
  app.require_subcommand(1);
  app.failure_message(CLI::FailureMessage::simple);
  app.get_formatter()->column_width(32);
  Verbs verbs(&app);
  add_verbs(verbs);
  app.footer(texts.footer);
  std::vector<std::string> names;
  for (const CLI::App* verb : app.get_subcommands({})) names.push_back(verb->get_name());
  choose(names, arguments);
  std::reverse(arguments.begin(), arguments.end());  // What CLI11 wants of a vector.
  try {
    app.parse(arguments);
  } catch (const CLI::ParseError& error) {
    if (error.get_exit_code() == 0) {  // --help, --version.
      app.exit(error);
      return;
    }
    const std::vector<CLI::App*> chosen = app.get_subcommands();
    const std::string verb = chosen.empty() ? "" : chosen.front()->get_name() + " ";
    throw Error(fmt::format("{}; see `oomdb {}--help`", error.what(), verb), ExitCode::kUsage);
  }
}

}  // namespace oomdb::cli
