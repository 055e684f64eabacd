// oomdb completion: what shells complete, and the manual page, from the description of the command line.
#include <fmt/format.h>

#include <algorithm>
#include <iostream>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "cli/verb.h"
#include "cli/verbs.h"

namespace oomdb::cli {
namespace {

using Descriptions = std::vector<VerbDescription>;

// How the value of an option is completed.
enum class Values { kNone, kWords, kFiles };

Values ValuesOf(const OptionDescription& option) {
  if (option.type.find('|') != std::string::npos &&
      std::none_of(option.type.begin(), option.type.end(),
                   [](unsigned char c) { return std::isupper(c) != 0; })) {
    return Values::kWords;
  }
  for (std::string_view files : {"FILE", "PATH", "DIR", "FOLDER"}) {
    if (option.type == files) return Values::kFiles;
  }
  if (std::find(option.names.begin(), option.names.end(), "--color") != option.names.end()) {
    return Values::kWords;
  }
  return Values::kNone;
}

// "auto always never"
std::string WordsOf(const OptionDescription& option) {
  std::string words = option.type;
  if (words.find('|') == std::string::npos) words = "auto|always|never";
  std::replace(words.begin(), words.end(), '|', ' ');
  return words;
}

std::string Replaced(std::string text, std::string_view what, std::string_view with) {
  for (size_t at = 0; (at = text.find(what, at)) != std::string::npos; at += with.size()) {
    text.replace(at, what.size(), with);
  }
  return text;
}

// In single quotes of a POSIX shell, and of fish.
std::string Quoted(const std::string& text) { return "'" + Replaced(text, "'", "'\\''") + "'"; }

std::string JoinedNames(const OptionDescription& option, std::string_view between) {
  return fmt::format("{}", fmt::join(option.names, between));
}

// ---- bash

std::string BashScript(const Descriptions& verbs) {
  std::string names;
  for (const VerbDescription& verb : verbs) names += " " + verb.name;
  std::string out = "# bash completion of oomdb; made by `oomdb completion bash`\n_oomdb() {\n";
  out +=
      "  local cur=${COMP_WORDS[COMP_CWORD]} prev=${COMP_WORDS[COMP_CWORD-1]} verb= word "
      "options=\n";
  out += "  COMPREPLY=()\n";
  out += "  for word in \"${COMP_WORDS[@]:1:COMP_CWORD-1}\"; do\n";
  out += fmt::format("    case \" {} \" in *\" $word \"*) verb=$word; break ;; esac\n  done\n",
                     names.substr(1));
  out += "  case $verb:$prev in\n";
  for (const VerbDescription& verb : verbs) {
    for (const OptionDescription& option : verb.options) {
      if (option.is_positional || option.type.empty()) continue;
      std::string reply;
      switch (ValuesOf(option)) {
        case Values::kWords:
          reply = fmt::format("COMPREPLY=($(compgen -W \"{}\" -- \"$cur\"))", WordsOf(option));
          break;
        case Values::kFiles:
          reply = "compopt -o filenames; mapfile -t COMPREPLY < <(compgen -f -- \"$cur\")";
          break;
        case Values::kNone:
          reply = ":";
          break;
      }
      out += fmt::format("    {}:{}) {}; return ;;\n", verb.name,
                         JoinedNames(option, "|" + verb.name + ":"), reply);
    }
  }
  out += "  esac\n  case $verb in\n";
  out += fmt::format("    '') options=\"{} --help --version\" ;;\n", names.substr(1));
  for (const VerbDescription& verb : verbs) {
    std::string options;
    for (const OptionDescription& option : verb.options) {
      if (!option.is_positional) options += " " + JoinedNames(option, " ");
    }
    out += fmt::format("    {}) options=\"{}\" ;;\n", verb.name, options.substr(1));
  }
  out += "  esac\n";
  out += "  if [ -z \"$verb\" ] || [ \"${cur#-}\" != \"$cur\" ]; then\n";
  out += "    mapfile -t COMPREPLY < <(compgen -W \"$options\" -- \"$cur\")\n  fi\n";
  out += "  [ ${#COMPREPLY[@]} -gt 0 ] && return\n";
  out += "  compopt -o filenames 2>/dev/null\n";
  out += "  mapfile -t COMPREPLY < <(compgen -f -- \"$cur\")\n}\n";
  return out + "complete -F _oomdb oomdb\n";
}

// ---- zsh

std::string ZshScript(const Descriptions& verbs) {
  // Of what a specification of _arguments and _describe takes apart.
  const auto escaped = [](std::string text) {
    for (std::string_view special : {"\\", "[", "]", ":"}) {
      text = Replaced(text, special, "\\" + std::string(special));
    }
    return text;
  };
  std::string out =
      "#compdef oomdb\n# Made by `oomdb completion zsh`.\n_oomdb() {\n  local -a verbs\n";
  out += "  verbs=(\n";
  for (const VerbDescription& verb : verbs) {
    out += "    " + Quoted(verb.name + ":" + escaped(verb.help)) + "\n";
  }
  out +=
      "  )\n  if (( CURRENT == 2 )); then\n    _describe verb verbs\n    _files\n    return\n  "
      "fi\n";
  out += "  local verb=$words[2]\n  shift words\n  (( CURRENT-- ))\n  case $verb in\n";
  for (const VerbDescription& verb : verbs) {
    out += fmt::format("    {})\n      _arguments -s \\\n", verb.name);
    for (const OptionDescription& option : verb.options) {
      if (option.is_positional) continue;
      std::string value;
      if (!option.type.empty()) {
        value = ":" + escaped(option.type) + ":";
        if (ValuesOf(option) == Values::kFiles) value += "_files";
        if (ValuesOf(option) == Values::kWords) value += "(" + WordsOf(option) + ")";
      }
      for (const std::string& name : option.names) {
        out += "        " + Quoted("*" + name + "[" + escaped(option.help) + "]" + value) + " \\\n";
      }
    }
    out += "        '*:file:_files'\n      ;;\n";
  }
  return out + "  esac\n}\n_oomdb \"$@\"\n";
}

// ---- fish

std::string FishScript(const Descriptions& verbs) {
  std::string out = "# fish completion of oomdb; made by `oomdb completion fish`\n";
  for (const VerbDescription& verb : verbs) {
    out += fmt::format("complete -c oomdb -n __fish_use_subcommand -a {} -d {}\n", verb.name,
                       Quoted(verb.help));
  }
  for (const VerbDescription& verb : verbs) {
    for (const OptionDescription& option : verb.options) {
      if (option.is_positional) continue;
      out += fmt::format("complete -c oomdb -n '__fish_seen_subcommand_from {}'", verb.name);
      for (const std::string& name : option.names) {
        out += name.starts_with("--") ? " -l " + name.substr(2) : " -s " + name.substr(1);
      }
      if (!option.type.empty()) {
        switch (ValuesOf(option)) {
          case Values::kFiles:
            out += " -r";
            break;
          case Values::kWords:
            out += " -x -a " + Quoted(WordsOf(option));
            break;
          case Values::kNone:
            out += " -x";
            break;
        }
      }
      out += " -d " + Quoted(option.help) + "\n";
    }
  }
  return out;
}

// ---- the manual page

// Text of a roff page: no line of it is a command, and its dashes can be copied.
std::string Roff(std::string text) {
  text = Replaced(text, "\\", "\\e");
  text = Replaced(text, "-", "\\-");
  for (std::string_view command : {".", "'"}) {
    if (text.starts_with(command)) text = "\\&" + text;
    text = Replaced(text, "\n" + std::string(command), "\n\\&" + std::string(command));
  }
  return text;
}

std::string ManualPage(const Descriptions& verbs) {
  std::string out = ".\\\" Made by `oomdb completion man`.\n.TH OOMDB 1\n.SH NAME\n";
  out += Roff("oomdb - why a JAX or XLA program ran out of device memory, and what to do") + "\n";
  out += ".SH SYNOPSIS\n.B oomdb\n.I VERB\n[options]\n.br\n.B oomdb\n.IR CAPTURE ...\n";
  out += ".SH DESCRIPTION\n";
  out += Roff(
             "Reads what the profiler and the compiler recorded, and what error logs say, into "
             "SQLite; says what did not fit, who holds the memory, and which change makes it fit. "
             "A file instead of a verb is reported on.") +
         "\n.SH VERBS\n";
  for (const VerbDescription& verb : verbs) {
    std::string arguments;
    for (const OptionDescription& option : verb.options) {
      if (option.is_positional) arguments += " " + option.names.front();
    }
    out += fmt::format(".SS \"{}\"\n{}.\n", Roff(verb.name + arguments), Roff(verb.help));
    for (const OptionDescription& option : verb.options) {
      const std::string names = Roff(JoinedNames(option, ", "));
      out += fmt::format(".TP\n.B {}\n", names);
      if (!option.is_positional && !option.type.empty()) {
        out.pop_back();
        out += " \\fI" + Roff(option.type) + "\\fR\n";
      }
      out += Roff(option.help) + "\n";
    }
    if (!verb.footer.empty()) {
      out += ".PP\n" + Replaced(Roff(verb.footer), "\n", "\n.br\n") + "\n";
    }
  }
  out += ".SH EXIT STATUS\n";
  for (const auto& [code, meaning] : {std::pair{"0", "clean"},
                                      {"1", "failed: nothing could be done"},
                                      {"2", "wrong options or arguments"},
                                      {"3", "findings, where they were asked about"},
                                      {"4", "part of the input was rejected or truncated"},
                                      {"5", "the database is newer, or not one of ours"},
                                      {"130", "interrupted"}}) {
    out += fmt::format(".TP\n.B {}\n{}\n", code, Roff(meaning));
  }
  out += ".SH ENVIRONMENT\n.TP\n.B OOMDB_DB\nThe database where no option names one.\n";
  return out;
}

ExitCode Run(const Descriptions& verbs, const std::string& what) {
  if (what == "bash") {
    std::cout << BashScript(verbs);
  } else if (what == "zsh") {
    std::cout << ZshScript(verbs);
  } else if (what == "fish") {
    std::cout << FishScript(verbs);
  } else if (what == "man") {
    std::cout << ManualPage(verbs);
  } else {
    throw Error(fmt::format("completion {}: bash, zsh, fish or man expected", what),
                ExitCode::kUsage);
  }
  return ExitCode::kClean;
}

}  // namespace

void RegisterCompletion(Verbs& verbs, ExitCode& exit_code) {
  Verb verb = verbs.Add("completion", "Print what a shell completes, or the manual page");
  const auto what = std::make_shared<std::string>();
  verb.Option("WHAT", *what, "bash, zsh, fish or man").Required();
  verb.Footer(
      "bash: oomdb completion bash > ~/.local/share/bash-completion/completions/oomdb\n"
      "zsh:  oomdb completion zsh > a folder of $fpath, as _oomdb\n"
      "fish: oomdb completion fish > ~/.config/fish/completions/oomdb.fish\n"
      "Example: oomdb completion bash");
  verb.Run([what, &verbs, &exit_code] { exit_code = Run(verbs.Describe(), *what); });
}

}  // namespace oomdb::cli
