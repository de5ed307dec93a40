//===- Print.cpp - an estimate as text and as a trace ---------------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "blockscale/Timeline/Print.h"
#include "blockscale/Formats/Text.h"

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>
#include <set>

using namespace blockscale;
using namespace blockscale::timeline;
using nlohmann::ordered_json;

std::vector<std::pair<std::string, std::string>>
timeline::estimateFacts(const Estimate &estimate) {
  return {{"cycles of a cluster", formatNumber("%.0f", estimate.cycles)},
          {"waves of the grid", std::to_string(estimate.waves)},
          {"microseconds", formatNumber("%.2f", estimate.microseconds)},
          {"  of memory traffic",
           formatNumber("%.2f", estimate.memoryMicroseconds)},
          {"tensor core busy",
           formatNumber("%.1f %%", 100 * estimate.tensorCoreBusy)},
          {"bound by", std::string(estimate.bound)}};
}

std::string timeline::printReport(const Estimate &estimate,
                                  const hw::Part &part,
                                  const std::string &kernel) {
  std::string text = std::string(kEstimateLabel) + ": kernel '" + kernel +
                     "' on " + std::string(part.name) + " at " +
                     formatNumber("%.3f", estimate.clockGhz) + " GHz\n";
  for (auto &[name, value] : estimateFacts(estimate)) {
    constexpr size_t kWidth = 23;
    std::string padded = name;
    padded.resize(std::max(name.size(), kWidth), ' ');
    text += padded + value + '\n';
  }
  text += "tensor core's time in a cluster\n";
  for (size_t use = 0; use != kUses; ++use) {
    std::string name(useName(Use(use)));
    constexpr size_t kWidth = 21;
    name.resize(std::max(name.size(), kWidth), ' ');
    text += "  " + name + formatNumber("%.1f %%", 100 * estimate.shares[use]) +
            '\n';
  }
  return text;
}

//===----------------------------------------------------------------------===//
// Trace events
//===----------------------------------------------------------------------===//

namespace {
class TraceWriter {
public:
  explicit TraceWriter(const Estimate &estimate) : estimate(estimate) {}

  std::string write(const hw::Part &part, const std::string &kernel) {
    for (const Slice &slice : estimate.slices)
      addSlice(slice);
    std::string text = "{\"displayTimeUnit\":\"ns\",\"otherData\":" +
                       summary(part, kernel).dump() + ",\"traceEvents\":[";
    // Events one by one: as one value a long trace would take much memory.
    text += events;
    return text + "]}";
  }

private:
  ordered_json summary(const hw::Part &part, const std::string &kernel) {
    ordered_json shares = ordered_json::object();
    for (size_t use = 0; use != kUses; ++use)
      shares[std::string(useName(Use(use)))] = estimate.shares[use];
    return {{"label", kEstimateLabel},
            {"kernel", kernel},
            {"part", part.name},
            {"clock_ghz", estimate.clockGhz},
            {"cycles", estimate.cycles},
            {"waves", estimate.waves},
            {"microseconds", estimate.microseconds},
            {"memory_microseconds", estimate.memoryMicroseconds},
            {"tensor_core_busy", estimate.tensorCoreBusy},
            {"bound", estimate.bound},
            {"tensor_core_shares", shares}};
  }

  void add(const ordered_json &event) {
    events += (events.empty() ? "" : ",") + event.dump();
  }

  /// A metadata event that names a process or a thread.
  void addName(const char *what, uint32_t process, int64_t thread,
               const std::string &name) {
    add({{"ph", "M"},
         {"name", what},
         {"pid", process},
         {"tid", thread},
         {"args", {{"name", name}}}});
  }

  int64_t threadOf(const Slice &slice) {
    if (processes.insert(slice.cta).second)
      addName("process_name", slice.cta, 0,
              "CTA " + std::to_string(slice.cta) + " (estimate)");
    auto [entry, isNew] = threads.try_emplace({slice.cta, slice.track},
                                              int64_t(threads.size()) + 1);
    if (isNew)
      addName("thread_name", slice.cta, entry->second, slice.track);
    return entry->second;
  }

  void addSlice(const Slice &slice) {
    bool isInstant = slice.start == slice.end;
    ordered_json event = {{"ph", isInstant ? "i" : "X"},
                          {"name", slice.name},
                          {"pid", slice.cta},
                          {"tid", threadOf(slice)},
                          {"ts", microseconds(slice.start)}};
    if (isInstant)
      event["s"] = "t";
    else
      event["dur"] = microseconds(slice.end - slice.start);
    event["args"] = {{"ptx line", slice.line}, {"cycle", slice.start}};
    add(event);
  }

  double microseconds(double cycles) const {
    return cycles / (estimate.clockGhz * 1e3);
  }

  const Estimate &estimate;
  std::string events;
  std::set<uint32_t> processes;
  std::map<std::pair<uint32_t, std::string>, int64_t> threads;
};
} // namespace

std::string timeline::printTrace(const Estimate &estimate, const hw::Part &part,
                                 const std::string &kernel) {
  return TraceWriter(estimate).write(part, kernel);
}
