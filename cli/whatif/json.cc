#include "cli/json.h"

#include <fmt/format.h>

#include <ostream>

#include "cli/whatif/question.h"

namespace oomdb::cli {
namespace {

Json ToJson(const ingest::MemoryNeed& need) {
  return Json{{"needs_bytes", need.total()},
              {"parameter_bytes", need.parameter_bytes},
              {"output_bytes", need.output_bytes},
              {"constant_bytes", need.constant_bytes},
              {"temp_bytes", need.temp_bytes}};
}

Json ToJson(const ingest::AtPeak& item) {
  return Json{{"bytes", item.bytes},
              {"instruction", OrNull(item.instruction)},
              {"shape", OrNull(item.shape)},
              {"op_name", OrNull(item.op_name)},
              {"what", OrNull(item.what)}};
}

Json ToJson(const ingest::Combination& combination, int64_t capacity) {
  const ingest::Answer& answer = combination.answer;
  return Json{{"options", OptionsOf(combination.change)},
              {"cost", combination.cost},
              {"needs_bytes", answer.after->total()},
              {"needs_low_bytes", OrNull(answer.low_bytes)},
              {"needs_high_bytes", OrNull(answer.high_bytes)},
              {"fits", OrNull(answer.Fits(capacity))}};
}

}  // namespace

void WriteJson(std::ostream& out, const WhatIf& w, bool one_line) {
  Json json{
      {"module", w.module},
      {"run", OrNull(w.run)},
      {"host", OrNull(w.host)},
      {"platform", OrNull(w.platform)},
      {"change", OptionsOf(w.change)},
      {"capacity_bytes", OrNull(w.capacity_bytes)},
      {"before", ToJson(w.answer.before)},
      {"after", w.answer.after ? ToJson(*w.answer.after) : Json(nullptr)},
      {"needs_bytes",
       w.answer.after && !w.answer.only_range ? Json(w.answer.after->total()) : Json(nullptr)},
      {"needs_low_bytes", OrNull(w.answer.low_bytes)},
      {"needs_high_bytes", OrNull(w.answer.high_bytes)},
      {"fits", OrNull(w.fits())},
      {"is_bound", w.answer.is_bound},
      {"why_unknown", OrNull(w.answer.why_unknown)},
      {"notes", w.answer.notes},
      {"self_check",
       Json{{"heap_bytes", w.check.stored_bytes},
            {"packed_bytes",
             w.check.stored_bytes +
                 static_cast<int64_t>(w.check.Error() * static_cast<double>(w.check.stored_bytes))},
            {"error", w.check.Error()}}},
      {"batch", Json{{"extent", OrNull(w.batch_extent)},
                     {"argument", OrNull(w.batch_argument)},
                     {"why_unknown", OrNull(w.batch_why_not)}}},
      {"largest", List(w.answer.largest, [](const auto& item) { return ToJson(item); })},
      {"curve_before", w.answer.curve_before},
      {"curve", w.answer.curve_after}};
  if (w.largest_batch) {
    json["largest_batch"] = Json{{"fits", OrNull(w.largest_batch->surely)},
                                 {"at_most", OrNull(w.largest_batch->at_most)},
                                 {"why_unknown", OrNull(w.largest_batch->why_unknown)}};
  }
  if (w.combinations) {
    json["combinations"] =
        List(*w.combinations, [&](const auto& one) { return ToJson(one, *w.capacity_bytes); });
  }
  out << Dumped(json, one_line ? -1 : 2) << '\n';
}

void WriteCsv(std::ostream& out, const WhatIf& w, const render::TableOptions& look) {
  const auto maybe = [](const auto& value) {
    return value ? render::Cell(static_cast<int64_t>(*value)) : render::Cell();
  };
  render::TableWriter table(out,
                            {"module", "change", "capacity_bytes", "before_bytes", "needs_bytes",
                             "needs_low_bytes", "needs_high_bytes", "fits", "why_unknown"},
                            look);
  auto add = [&](const ingest::Change& change, const ingest::Answer& answer) {
    const std::optional<bool> fits =
        w.capacity_bytes ? answer.Fits(*w.capacity_bytes) : std::nullopt;
    table.AddRow({w.module, OptionsOf(change), maybe(w.capacity_bytes), answer.before.total(),
                  answer.after ? render::Cell(answer.after->total()) : render::Cell(),
                  maybe(answer.low_bytes), maybe(answer.high_bytes), maybe(fits),
                  answer.why_unknown.empty() ? render::Cell() : render::Cell(answer.why_unknown)});
  };
  add(w.change, w.answer);
  if (w.combinations) {
    for (const ingest::Combination& c : *w.combinations) add(c.change, c.answer);
  }
  table.Finish();
}

}  // namespace oomdb::cli
