#include "cli/page/address_map.h"

#include <algorithm>
#include <map>
#include <utility>

#include "cli/page/heap.h"
#include "schema/query.h"

namespace oomdb::cli::page {
namespace {

// What a dump of the allocator in an error log lists, the failure's.
std::optional<AddressMap> FromLog(schema::Database& database, const Report& report) {
  for (const ReportErrorLog& log : report.logs) {
    if (!log.main) continue;
    AddressMap map;
    map.from_log = true;
    for (const ReportErrorNumber& n : log.numbers) {
      if (n.key == "needed_bytes" || n.key == "requested_bytes") map.request = n.bytes;
      if (n.key == "free_bytes") map.free_bytes = n.bytes;
      if (n.key == "largest_free_bytes") map.largest_free_bytes = n.bytes;
    }
    std::map<std::pair<int64_t, int64_t>, AddressRegion> regions;
    for (const schema::Record& row : schema::ReadView(
             database, "failed_chunks", {{"capture_id", log.capture_id}}, "region, position")) {
      regions[{row.Integer("oom_event_id"), row.Integer("region")}].pieces.push_back(
          {row.Integer("address"), row.Integer("bytes"), row.Flag("in_use"), row.Text("op_name")});
    }
    for (auto& [key, region] : regions) map.regions.push_back(std::move(region));
    if (!map.regions.empty()) return map;
  }
  return std::nullopt;
}

// What the allocator's events say was where when the request failed; at their end, where no
// execution is known to have failed. Between the lowest and the
// highest address that was ever given out, what nobody holds is free as far as is known.
std::optional<AddressMap> FromHeap(const Heap& heap) {
  AddressMap map;
  map.pool_bytes = heap.capacity_bytes;
  int64_t moment = 0;
  for (const HeapAllocation& a : heap.allocations)
    moment = std::max({moment, a.from_ns.value_or(0), a.to_ns.value_or(0)});
  if (heap.failure) {
    for (const HeapExecution& e : heap.executions) {
      if (e.execution_id == heap.failure->execution_id) moment = std::max(e.start_ns, e.end_ns - 1);
    }
    map.request = heap.failure->bytes;
    map.free_bytes = heap.failure->free_bytes;
    map.largest_free_bytes = heap.failure->largest_free_bytes;
  }
  std::vector<const HeapAllocation*> placed;
  const auto lives = [&](const HeapAllocation& a) {
    return (!a.from_ns || *a.from_ns <= moment) && (!a.to_ns || *a.to_ns > moment);
  };
  for (const HeapAllocation& a : heap.allocations) {
    if (a.address) placed.push_back(&a);
    if (!a.address && lives(a)) map.without_address += a.bytes;
  }
  std::stable_sort(
      placed.begin(), placed.end(),
      [](const HeapAllocation* a, const HeapAllocation* b) { return *a->address < *b->address; });
  // A step wider than the whole pool leads to another region of it.
  const int64_t widest = heap.capacity_bytes.value_or(INT64_MAX);
  int64_t at = 0;    // The end of what is drawn.
  int64_t seen = 0;  // The end of what was ever given out.
  const auto close = [&] {
    if (!map.regions.empty() && seen > at)
      map.regions.back().pieces.push_back({at, seen - at, false, ""});
  };
  for (const HeapAllocation* a : placed) {
    if (map.regions.empty() || *a->address - seen > widest) {
      close();
      map.regions.emplace_back();
      at = seen = *a->address;
    }
    seen = std::max(seen, *a->address + a->bytes);
    if (!lives(*a)) continue;
    std::vector<AddressPiece>& pieces = map.regions.back().pieces;
    if (*a->address > at) pieces.push_back({at, *a->address - at, false, ""});
    pieces.push_back({*a->address, a->bytes, true, a->origin});
    at = std::max(at, *a->address + a->bytes);
  }
  close();
  if (map.regions.empty()) return std::nullopt;
  return map;
}

}  // namespace

std::optional<AddressMap> ReadAddressMap(schema::Database& database, const Report& report) {
  std::optional<AddressMap> map = FromLog(database, report);
  if (map) return map;
  const std::optional<Heap> heap = ReadHeap(database, report);
  return heap ? FromHeap(*heap) : std::nullopt;
}

}  // namespace oomdb::cli::page
