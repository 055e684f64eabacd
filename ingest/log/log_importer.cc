#include "ingest/log/log_importer.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "base/error.h"
#include "ingest/log/kinds.h"
#include "ingest/log/line_reader.h"
#include "ingest/log/log_parser.h"
#include "ingest/plan/printed_shape.h"

namespace oomdb::ingest {
namespace {

// True when the beginning is text, in any encoding that keeps ASCII: few control characters. What
// a log holds of junk, most often a few NULs, is allowed.
bool LooksLikeText(const Source& source) {
  constexpr uint64_t kSampleBytes = 64 << 10;
  std::string sample(std::min<uint64_t>(source.size(), kSampleBytes), '\0');
  source.ReadAt(0, std::span<char>(sample.data(), sample.size()));
  const auto controls = std::count_if(sample.begin(), sample.end(), [](char c) {
    const auto byte = static_cast<unsigned char>(c);
    return byte == 0x7f || (byte < 0x20 && c != '\t' && c != '\n' && c != '\r' && c != '\x1b' &&
                            c != '\b' && c != '\f');
  });
  return static_cast<size_t>(controls) * 50 <= sample.size();
}

// Text of two bytes a character, with a mark at its beginning or without.
bool IsUtf16(const Source& source) {
  std::string sample(std::min<uint64_t>(source.size(), 1024), '\0');
  source.ReadAt(0, std::span<char>(sample.data(), sample.size()));
  if (sample.starts_with("\xFF\xFE") || sample.starts_with("\xFE\xFF")) return true;
  std::array<size_t, 2> nuls = {0, 0};
  for (size_t i = 0; i < sample.size(); ++i) nuls[i % 2] += sample[i] == '\0';
  const size_t many = sample.size() * 2 / 5;
  return sample.size() >= 8 && std::max(nuls[0], nuls[1]) > many && std::min(nuls[0], nuls[1]) == 0;
}

// True when nearly all lines at the beginning have a number in front that does not count them.
bool HasNumberedRanks(const Source& source) {
  constexpr uint64_t kSampleBytes = 64 << 10;
  std::string sample(std::min<uint64_t>(source.size(), kSampleBytes), '\0');
  source.ReadAt(0, std::span<char>(sample.data(), sample.size()));
  static const Pattern number(R"(\s*([0-9]{1,5}): )");
  std::vector<std::string_view> groups;
  int64_t lines = 0;
  int64_t numbered = 0;
  bool counts = true;
  int last = -1;
  for (std::string_view rest = sample; !rest.empty();) {
    const size_t end = std::min(rest.find('\n'), rest.size());
    const std::string_view line = rest.substr(0, end);
    rest.remove_prefix(std::min(end + 1, rest.size()));
    if (line.find_first_not_of(" \t\r") == std::string_view::npos) continue;
    ++lines;
    if (!number.Starts(line, &groups)) continue;
    ++numbered;
    int value = 0;
    std::from_chars(groups[1].data(), groups[1].data() + groups[1].size(), value);
    counts = counts && value > last;
    last = value;
  }
  return !counts && numbered * 5 >= lines * 4;
}

// Reads what is near a match of the prefilter, to the end or (`first_only`) to the first failure.
int64_t Parse(const Source& source, bool first_only, LogParser& parser) {
  LineReader reader(source);
  LineReader::Line line;
  while (reader.SkipTo(Prefilter())) {
    do {
      if (!reader.Next(&line)) break;
      parser.Take(line.number, line.text);
      if (first_only && parser.found_failure()) return reader.lines();
    } while (parser.expects_more());
  }
  return reader.lines();
}

void AddIssue(FactSink& sink, std::string what, std::string detail, int64_t count = 1) {
  sink.Add(IssueFact{"info", std::move(what), std::move(detail), count});
}

// No memory is larger: a size above it is wrong, and sums of such would overflow. Of a
// program that does not fit because a shape is wrong, sizes up to 2^62 are real.
constexpr int64_t kMaxBufferBytes = int64_t{1} << 53;

// Less than nothing is unknown as well; but what a compiler wants to get to may be that.
void DropImpossible(OomEvent& event) {
  if (event.fact.fatal.has_value() && !*event.fact.fatal) return;
  for (int i = static_cast<int>(Field::kRequested); i <= static_cast<int>(Field::kSparseCore);
       ++i) {
    MaybeInt* const bytes = event.Bytes(static_cast<Field>(i));
    if (bytes != nullptr && bytes->value_or(0) < 0) bytes->reset();
  }
}

bool IsPossible(const MaybeInt& bytes) {
  return !bytes.has_value() || (*bytes >= 0 && *bytes <= kMaxBufferBytes);
}

void AddEvent(OomEvent&& event, Index index, FactSink& sink) {
  event.fact.kind = KindOf(event.fact.form);
  DropImpossible(event);
  const size_t listed = event.buffers.size() + event.chunks.size();
  std::erase_if(event.buffers, [](const OomBufferFact& b) {
    return !IsPossible(b.bytes) || !IsPossible(b.unpadded_bytes) || !IsPossible(b.padding_bytes) ||
           b.count < 1 || b.count > kMaxBufferBytes / std::max<int64_t>(b.bytes.value_or(1), 1);
  });
  std::erase_if(event.chunks, [](const OomChunkFact& c) { return !IsPossible(c.bytes); });
  if (const size_t left = event.buffers.size() + event.chunks.size(); left < listed) {
    sink.Add(IssueFact{"warning", "impossible_size",
                       "listed buffers or chunks of a size that no memory has were left out",
                       static_cast<int64_t>(listed - left)});
  }
  sink.Add(event.fact);
  for (OomBufferFact& buffer : event.buffers) {
    buffer.event = index;
    buffer.plain_shape = WithoutLayouts(buffer.shape);
    if (const std::optional<PrintedShape> shape = ParsePrintedShape(buffer.shape)) {
      buffer.dense_bytes = shape->DenseBytes();
      buffer.tiled_bytes = shape->TiledBytes();
    }
    sink.Add(buffer);
  }
  for (OomChunkFact& chunk : event.chunks) {
    chunk.event = index;
    sink.Add(chunk);
  }
}

bool IsDumpOfXla(std::string_view name) {
  // A time in microseconds may stand in front.
  name.remove_prefix(std::min(name.find_first_not_of("0123456789."), name.size()));
  if (name.starts_with("module_") && name.size() > 7 && name[7] >= '0' && name[7] <= '9')
    return true;
  constexpr std::array<std::string_view, 7> kParts = {"buffer-assignment",
                                                      "memory-usage-report",
                                                      "peak_memory_tensors",
                                                      "live-range.txt",
                                                      "after_optimizations",
                                                      "before_optimizations",
                                                      "oom_top_memory_consuming_instructions"};
  return std::any_of(kParts.begin(), kParts.end(), [&](std::string_view part) {
    return name.find(part) != std::string_view::npos;
  });
}

}  // namespace

bool ClaimsLog(std::string_view file_name) {
  file_name.remove_prefix(file_name.rfind('/') + 1);  // npos + 1 is 0.
  for (std::string_view compressed : {".gz", ".zst"}) {
    if (file_name.ends_with(compressed)) file_name.remove_suffix(compressed.size());
  }
  if (file_name.empty() || IsDumpOfXla(file_name)) return false;
  const size_t dot = file_name.rfind('.');
  if (dot == std::string_view::npos) return true;
  const std::string_view extension = file_name.substr(dot);
  return extension == ".txt" || extension == ".log" || extension == ".out" || extension == ".err";
}

bool HoldsLog(const Source& source, bool named) {
  if (!LooksLikeText(source)) return false;
  if (named) return true;
  LogParser parser;
  Parse(source, /*first_only=*/true, parser);
  parser.Finish();  // What is known at the end of the text only.
  return parser.found_failure();
}

void ImportLog(const Source& source, const ImportOptions&, FactSink& sink) {
  if (source.size() == 0) throw Error(source.path() + ": is empty; a log's text was expected");
  if (IsUtf16(source)) {
    throw Error(source.path() +
                ": is text in UTF-16, as PowerShell writes it; UTF-8 was expected: convert it with "
                "iconv -f UTF-16 -t UTF-8");
  }
  if (!LooksLikeText(source)) {
    throw Error(source.path() + ": is binary; a log's text was expected");
  }
  LogParser parser;
  parser.set_numbered_ranks(HasNumberedRanks(source));
  const int64_t lines = Parse(source, /*first_only=*/false, parser);
  std::vector<OomEvent> events = parser.Finish();

  CaptureFact capture;
  capture.kind = "oom_log";
  capture.truncated = source.ended_early();
  sink.Add(capture);
  if (!parser.found_failure()) {
    AddIssue(sink, "no_oom_found",
             "no OOM found in " + std::to_string(lines) + (lines == 1 ? " line" : " lines"));
  }
  if (parser.unknown_lines() > 0) {
    AddIssue(sink, "unknown_oom_form",
             "memory is exhausted in an unknown form; first in line " +
                 std::to_string(parser.first_unknown_line()),
             parser.unknown_lines());
  }
  if (parser.ambiguous_units() > 0) {
    AddIssue(sink, "unit_ambiguous",
             "sizes in GB may mean powers of ten; they are taken as powers of two",
             parser.ambiguous_units());
  }
  if (parser.left_out() > 0) {
    AddIssue(
        sink, "events_left_out",
        "failures beyond the first " + std::to_string(EventGroups::kMaxEvents) + " are not kept",
        parser.left_out());
  }
  for (size_t i = 0; i < events.size(); ++i)
    AddEvent(std::move(events[i]), static_cast<Index>(i), sink);
}

}  // namespace oomdb::ingest
