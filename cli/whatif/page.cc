#include <fmt/format.h>

#include <algorithm>
#include <ostream>
#include <string>
#include <vector>

#include "cli/whatif/question.h"
#include "render/terminal.h"
#include "render/units.h"
#include "render/utf8.h"
#include "render/words.h"

namespace oomdb::cli {
namespace {

using render::HumanBytes;
using render::Paint;
using render::Style;

// The live bytes of the heap as a line of bars; `whole`: what the highest bar stands for.
std::string Curve(const std::vector<int64_t>& curve, int64_t whole) {
  std::string line;
  for (int64_t bytes : curve) line += render::HeightBar(bytes, whole, /*always=*/false);
  return line;
}

std::string RangeOf(const ingest::Answer& answer) {
  if (answer.low_bytes && answer.high_bytes && *answer.low_bytes == *answer.high_bytes) return "";
  if (answer.low_bytes && answer.high_bytes) {
    return fmt::format("{} to {}", HumanBytes(*answer.low_bytes), HumanBytes(*answer.high_bytes));
  }
  if (answer.high_bytes) return "up to " + HumanBytes(*answer.high_bytes);
  return "";
}

std::string FitsWord(const std::optional<bool>& fits) {
  return !fits ? "unknown" : *fits ? "yes" : "no";
}

// Whether `more` asks for all that `less` does.
bool IsMore(const ingest::Change& more, const ingest::Change& less) {
  return more.donate >= less.donate && more.checkpoint >= less.checkpoint &&
         more.fused_attention >= less.fused_attention &&
         more.chunk_loss.value_or(1) >= less.chunk_loss.value_or(1) &&
         more.accumulate.value_or(1) >= less.accumulate.value_or(1);
}

class Page {
 public:
  Page(std::ostream& out, const WhatIf& what_if, const render::TableOptions& look)
      : out_(out), w_(what_if), look_(look) {}

  void Write() {
    out_ << Paint(Style::kBold, Sentence(), look_.color) << "\n\n";
    WriteNeeds();
    WriteCurves();
    WriteLargest();
    WriteBatch();
    WritePlan();
    WriteCombinations();
    for (const std::string& note : w_.answer.notes) {
      out_ << "note: " << render::HumanizeSentence(note) << "\n";
    }
  }

 private:
  bool AsksForChange() const { return !OptionsOf(w_.change).empty(); }

  std::string Sentence() const {
    const std::string module = render::Safe(w_.module);
    if (!w_.answer.after) {
      return fmt::format("{}: not known what it would need: {}", module,
                         render::Safe(w_.answer.why_unknown));
    }
    const std::string range = RangeOf(w_.answer);
    const std::string needs = w_.answer.only_range
                                  ? range + " (inferred)"
                                  : HumanBytes(w_.answer.after->total()) +
                                        (range.empty() ? "" : " (" + range + ", inferred)");
    std::string sentence =
        AsksForChange()
            ? fmt::format("with {} {} would need {} instead of {}", OptionsOf(w_.change), module,
                          needs, HumanBytes(w_.answer.before.total()))
            : fmt::format("{} needs {}", module, HumanBytes(w_.answer.before.total()));
    if (!w_.capacity_bytes) return sentence + "; whether it fits: say the --capacity";
    const std::string capacity = HumanBytes(*w_.capacity_bytes);
    const std::optional<bool> fits = w_.fits();
    if (fits == true) return sentence + ": it fits in " + capacity;
    if (fits == false) return sentence + ": it does not fit in " + capacity;
    return sentence +
           fmt::format(": whether it fits in {} is not known: {}", capacity,
                       w_.answer.is_bound ? "this is only a bound" : "that lies within the range");
  }

  void WriteNeeds() {
    std::vector<std::vector<render::Cell>> rows;
    const ingest::MemoryNeed& before = w_.answer.before;
    auto add = [&](const char* what, int64_t ingest::MemoryNeed::*bytes) {
      rows.push_back({what, HumanBytes(before.*bytes),
                      w_.answer.after ? HumanBytes(*w_.answer.after.*bytes) : "–"});
    };
    add("parameters", &ingest::MemoryNeed::parameter_bytes);
    add("outputs", &ingest::MemoryNeed::output_bytes);
    add("constants", &ingest::MemoryNeed::constant_bytes);
    add("temps", &ingest::MemoryNeed::temp_bytes);
    rows.push_back({"all", HumanBytes(before.total()),
                    w_.answer.after ? HumanBytes(w_.answer.after->total()) : "–"});
    render::WriteTable(out_, {"", "now", "then"}, rows, look_);
  }

  void WriteCurves() {
    if (w_.answer.curve_before.empty()) return;
    int64_t whole = 0;
    for (const auto* curve : {&w_.answer.curve_before, &w_.answer.curve_after}) {
      for (int64_t bytes : *curve) whole = std::max(whole, bytes);
    }
    const bool fenced = look_.format == render::TableFormat::kMarkdown;
    out_ << (fenced ? "\n```\n" : "\n");
    out_ << "now   " << Curve(w_.answer.curve_before, whole) << "\n";
    if (!w_.answer.curve_after.empty()) {
      out_ << "then  " << Curve(w_.answer.curve_after, whole) << "\n";
    }
    out_ << "      temps live from the start of the program to its end, up to " << HumanBytes(whole)
         << "\n";
    if (fenced) out_ << "```\n";
  }

  void WriteLargest() {
    if (w_.answer.largest.empty()) return;
    out_ << "\nwhat is largest at the peak then\n";
    std::vector<std::vector<render::Cell>> rows;
    for (const ingest::AtPeak& item : w_.answer.largest) {
      std::string what = item.what;
      if (!item.op_name.empty()) what += (what.empty() ? "" : ": ") + item.op_name;
      rows.push_back({HumanBytes(item.bytes), render::Safe(item.shape),
                      render::Safe(item.instruction), render::Safe(what)});
    }
    render::WriteTable(out_, {"bytes", "shape now", "instruction", "what"}, rows, look_);
  }

  void WriteBatch() {
    if (w_.largest_batch) {
      const ingest::LargestBatch& largest = *w_.largest_batch;
      out_ << "\n";
      if (!largest.why_unknown.empty()) {
        out_ << "the largest batch is not known: " << render::Safe(largest.why_unknown) << "\n";
      } else {
        out_ << "largest batch on a device: "
             << (largest.surely ? fmt::format("{} fits", *largest.surely)
                                : std::string("of none it can be said that it fits"));
        if (largest.at_most == 0) {
          out_ << "; not even the smallest does";
        } else if (largest.at_most && largest.at_most != largest.surely) {
          out_ << fmt::format("; up to {} may", *largest.at_most);
        }
        out_ << " (inferred)\n";
      }
    }
    if (w_.batch_extent) {
      out_ << fmt::format("\nbatch: {}, the leading dimension of {}\n", *w_.batch_extent,
                          render::Safe(w_.batch_argument));
    } else {
      out_ << "\nbatch: not found: " << render::Safe(w_.batch_why_not)
           << "; --batch-size N or --batch-arg NAME names it\n";
    }
  }

  // Of one plan alone there is nothing to say.
  void WritePlan() {
    if (w_.plans < 2) return;
    std::string of;
    if (!w_.run.empty()) of += " of run " + render::Safe(w_.run);
    if (!w_.host.empty()) of += (of.empty() ? " of host " : ", host ") + render::Safe(w_.host);
    out_ << fmt::format(
        "plan: {}{}, the largest of {} (--module, --run, --host, --capture choose another)\n",
        render::Safe(w_.module), of, w_.plans);
  }

  void WriteCombinations() {
    if (!w_.combinations) return;
    if (w_.combinations->empty()) {
      out_ << "\nno combination of donation, fused attention, a chunked loss, accumulation and "
              "checkpoints is known to fit\n";
      return;
    }
    out_ << "\nwhat makes it fit, the cheapest first\n";
    std::vector<std::vector<render::Cell>> rows;
    std::vector<const ingest::Combination*> shown;
    for (const ingest::Combination& c : *w_.combinations) {
      // More of what suffices already is of no use.
      const bool is_more = std::any_of(shown.begin(), shown.end(), [&](const auto* less) {
        return less->answer.Fits(*w_.capacity_bytes) == true && IsMore(c.change, less->change);
      });
      if (is_more) continue;
      shown.push_back(&c);
      const std::string options = OptionsOf(c.change);
      rows.push_back({options.empty() ? "nothing" : options, HumanBytes(c.answer.after->total()),
                      RangeOf(c.answer), FitsWord(c.answer.Fits(*w_.capacity_bytes))});
      constexpr size_t kShown = 10;
      if (rows.size() == kShown) break;
    }
    render::WriteTable(out_, {"options", "needs", "range", "fits"}, rows, look_);
  }

  std::ostream& out_;
  const WhatIf& w_;
  const render::TableOptions look_;
};

}  // namespace

std::string OptionsOf(const ingest::Change& c) {
  std::string text;
  auto add = [&](const std::string& option) { text += (text.empty() ? "" : " ") + option; };
  if (c.donate) add("--donate");
  if (c.batch_ratio) add(fmt::format("--batch {:g}x", *c.batch_ratio));
  if (c.batch_size) add(fmt::format("--batch {}", *c.batch_size));
  if (c.sequence_ratio) add(fmt::format("--sequence {:g}x", *c.sequence_ratio));
  if (c.accumulate) add(fmt::format("--accumulate {}", *c.accumulate));
  if (c.checkpoint) add("--checkpoint");
  if (c.fused_attention) add("--fused-attention");
  if (c.chunk_loss) add(fmt::format("--chunk-loss {}", *c.chunk_loss));
  if (c.data_parallel) add(fmt::format("--data-parallel {}", *c.data_parallel));
  if (c.fsdp) add(fmt::format("--fsdp {}", *c.fsdp));
  if (c.zero1) add(fmt::format("--zero1 {}", *c.zero1));
  if (c.bf16) add("--bf16");
  if (c.offload_activations) add("--offload activations");
  if (c.offload_optimizer) add("--offload optimizer");
  return text;
}

void WritePage(std::ostream& out, const WhatIf& what_if, const render::TableOptions& look) {
  Page(out, what_if, look).Write();
}

}  // namespace oomdb::cli
