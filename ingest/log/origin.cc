#include "ingest/log/origin.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <set>
#include <vector>

#include "base/ascii.h"
#include "ingest/log/patterns.h"
#include "ingest/log/wrapping.h"

namespace oomdb::ingest {
namespace {

const Pattern& NumberLabel() {
  static const Pattern label(R"(([0-9]{1,5}):(?:\s|$))");
  return label;
}

const Pattern& HostLabel() {
  static const Pattern label(R"(([A-Za-z][\w.-]{0,63}):(?:\s|$))");
  return label;
}

const Pattern& PodLabel() {
  static const Pattern label(
      R"(([a-z][a-z0-9]*(?:[-.][a-z0-9]+)+) ([a-z0-9](?:[a-z0-9.-]*[a-z0-9])?)(?:\s|$))");
  return label;
}

bool HasDigit(std::string_view text) { return std::any_of(text.begin(), text.end(), IsDigit); }

// A word before a colon that may be a host's name: `node7`, `gpu-a.cluster`, not `Shape`, `E1000`,
// `jax.errors.JaxRuntimeError`, `train.py`.
bool MayBeHost(std::string_view word) {
  if (word == "localhost") return true;
  if (!HasDigit(word) && word.find('-') == std::string_view::npos) return false;
  const bool code = word.size() == 5 && word[0] >= 'A' && word[0] <= 'Z' &&
                    std::all_of(word.begin() + 1, word.end(), IsDigit);
  constexpr std::array<std::string_view, 10> kEnds = {
      "Error", "Exception", "Warning", "Interrupt", "StackTrace",
      ".py",   ".cc",       ".sh",     ".so",       ".service"};
  return !code && std::none_of(kEnds.begin(), kEnds.end(),
                               [&](std::string_view end) { return word.ends_with(end); });
}

// Kubernetes ends the names of most pods with five letters and digits that no two share.
bool EndsAsPod(std::string_view word) {
  constexpr size_t kSuffixBytes = 5;
  const std::string_view suffix = word.substr(word.find_last_of('-') + 1);
  return suffix.size() == kSuffixBytes && HasDigit(suffix);
}

bool MayBePod(std::string_view word) { return HasDigit(word) || EndsAsPod(word); }

}  // namespace

void Origin::Add(std::string_view part, std::string_view called) {
  if (part.empty()) return;
  if (!process.empty()) process += ' ';
  process += part;
  if (called.empty()) return;
  if (!name.empty()) name += ' ';
  name += called;
}

LineLabels LabelsIn(std::string_view part) {
  int64_t lines = 0;
  int64_t numbers = 0;
  int64_t hosts = 0;
  int64_t pods = 0;
  bool counts = true;  // The numbers are those of lines.
  int last = -1;
  std::set<std::string, std::less<>> pod_names;
  bool end_as_pods = true;
  std::vector<std::string_view> groups;
  for (std::string_view rest = part; !rest.empty();) {
    const size_t end = std::min(rest.find('\n'), rest.size());
    std::string_view line = rest.substr(0, end);
    rest.remove_prefix(std::min(end + 1, rest.size()));
    const size_t text = line.find_first_not_of(" \t\r");
    if (text == std::string_view::npos) continue;
    line.remove_prefix(text);
    ++lines;
    if (NumberLabel().Starts(line, &groups)) {
      ++numbers;
      int value = 0;
      std::from_chars(groups[1].data(), groups[1].data() + groups[1].size(), value);
      counts = counts && value > last;
      last = value;
      continue;
    }
    // Time stamps and colours may stand before a name.
    const std::string unwrapped = Unwrap(line);
    line = unwrapped;
    if (HostLabel().Starts(line, &groups)) {
      hosts += MayBeHost(groups[1]);
    } else if (PodLabel().Starts(line, &groups) && MayBePod(groups[1])) {
      ++pods;
      end_as_pods = end_as_pods && EndsAsPod(groups[1]);
      pod_names.emplace(groups[0]);
    }
  }
  const auto nearly_all = [&](int64_t count) { return count > 0 && count * 5 >= lines * 4; };
  if (!counts && nearly_all(numbers)) return LineLabels::kNumbers;
  if (nearly_all(hosts)) return LineLabels::kHosts;
  // Two words that begin every line of prose differ from line to line.
  if (nearly_all(pods) && (static_cast<int64_t>(pod_names.size()) * 2 <= pods || end_as_pods))
    return LineLabels::kPods;
  return LineLabels::kNone;
}

size_t ReadLabel(std::string_view text, LineLabels labels, Origin* origin) {
  if (labels == LineLabels::kNone) return 0;
  std::vector<std::string_view> groups;
  const Pattern& pattern = labels == LineLabels::kNumbers ? NumberLabel()
                           : labels == LineLabels::kHosts ? HostLabel()
                                                          : PodLabel();
  if (!pattern.Starts(text, &groups)) return 0;
  if (labels == LineLabels::kHosts && !MayBeHost(groups[1])) return 0;
  if (labels == LineLabels::kPods && !MayBePod(groups[1])) return 0;
  if (origin != nullptr)
    origin->Add(labels == LineLabels::kPods ? groups[0] : groups[1], groups[1]);
  return groups[0].size();
}

void ReadName(std::string_view prefix, Origin* origin) {
  // Each has the name in its first group, and in the second what tells apart those of one name.
  static const std::array bracketed = {
      // kubectl logs --prefix
      Pattern(R"(\[pod/([^/\]\s]+)(/[^\]\s]*)?\])"),
      // mpirun, SageMaker
      Pattern(R"(\[(?:[\w.-]+@)?[0-9]+,(?:mpirank:)?([0-9]+(?:,[\w.-]+)?)\]<())"),
      // kubetail, torchrun, Intel's mpirun
      Pattern(R"(\[([a-z][a-z0-9]*(?:[-.][a-z0-9]+)+)\]())"),
      Pattern(R"(\[([A-Za-z]*[ :=_-]?[0-9]+(?:/[0-9]+)?)\]())"),
      // SGLang: [2025-06-01 10:11:12 DP0 TP3]
      Pattern(R"(\[[0-9-]{10}[ T][0-9:.,]+ ((?:[DTPE]P[0-9]+ ?)+)\]())"),
  };
  // docker compose, docker service, SageMaker's local mode
  static const Pattern column(R"(([A-Za-z][\w.@-]*)\s+\|())");
  // Ray, vLLM
  static const Pattern process(R"([0-9]*\s*\((.*\bpid=.*)\)())");
  // syslog, journald
  static const Pattern unit(
      R"((?:<[0-9]+>)?[A-Z0-9][\w:.+-]*(?: [ 0-9][0-9] [0-9:.]+)? ([A-Za-z][\w.-]*) )"
      R"(([^\s:\[]+(?:\[[0-9]+\])?): )");
  // CloudWatch's streams: aws logs tail
  static const Pattern stream(
      R"([0-9]{4}-[0-9]{2}-[0-9]{2}[ T]\S+\s+([A-Za-z][\w.$@-]*(?:/[\w.$@-]+)+) ())");
  // kail; logcli
  static const Pattern kail(R"([a-z][a-z0-9.-]*/([a-z0-9.-]+)(\[[a-z0-9.-]+\]): )");
  static const Pattern logcli(R"re(\{[^{}]*\bpod="([^"]*)"([^{}]*)\} )re");

  const auto read = [&](const Pattern& name) {
    std::vector<std::string_view> groups;
    if (!name.Starts(prefix, &groups)) return false;
    std::string part(groups[1]);
    part += groups[2];
    origin->Add(part, groups[1]);
    return true;
  };
  const auto has = [&](std::string_view text) {
    return prefix.find(text) != std::string_view::npos;
  };
  // Most lines have a time stamp and no name: that must not take long.
  if (prefix.starts_with('[')) {
    std::any_of(bracketed.begin(), bracketed.end(), read);
  } else if (has("pid=")) {
    read(process);
  } else if (has("|")) {
    read(column);
  } else if (prefix.starts_with('{')) {
    read(logcli);
  } else if (prefix.ends_with("]: ") && has("/") && read(kail)) {
    return;
  } else if (prefix.ends_with(": ") && std::count(prefix.begin(), prefix.end(), ' ') > 1 &&
             (has("]: ") || has(" kernel: ") || !IsDigit(prefix.front()))) {
    read(unit);
  } else if (IsDigit(prefix.front()) && has("/")) {
    read(stream);
  }
}

}  // namespace oomdb::ingest
