//===- TimelineOutput.cpp - record and write a timeline -------------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "TimelineOutput.h"
#include "Verb.h"
#include "blockscale/Driver/Driver.h"

#include <iostream>
#include <map>
#include <nlohmann/json.hpp>
#include <set>

using namespace blockscale;
using namespace blockscale::driver;
using nlohmann::ordered_json;

/// What the trace and the report say of themselves.
static constexpr const char *kLabel =
    "estimate from a throughput model, not measured";

TimelineOutput::TimelineOutput(CommandLine &command) {
  command.text("timeline", file, "FILE.json",
               "Write the estimated times of the first cluster as a trace that "
               "Perfetto opens");
  command.flag("report", report,
               "Print the estimated time, how busy the tensor core is and what "
               "bounds it");
}

int TimelineOutput::attach(const emulator::Module &module,
                           const emulator::Launch &launch,
                           emulator::Options &options) {
  if ((file.empty() && !report) || timeline)
    return kSuccess;
  if (options.completion != emulator::Completion::Immediate)
    return reportError("--timeline and --report need --completion=immediate",
                       kNotUnderstood);
  Result<hw::Target> target = hw::parseTarget(module.target);
  if (!target)
    return reportError("no model of time: " + target.why().text, kFailure);
  kernel = launch.kernel;
  conditions = timeline::conditionsOf(launch, hw::referencePart(target->chip));
  timeline = std::make_unique<timeline::Timeline>(conditions);
  options.eventCluster =
      options.clusters.empty() ? 0 : options.clusters.front();
  options.event = [this](const emulator::Event &event) {
    timeline->add(event);
  };
  return kSuccess;
}

void TimelineOutput::finish(OutputFiles &files) {
  if (!timeline)
    return;
  timeline::Estimate estimate = timeline->finish();
  if (report)
    printReport(estimate);
  if (!file.empty())
    files.add(file, printTrace(estimate));
}

//===----------------------------------------------------------------------===//
// Text
//===----------------------------------------------------------------------===//

void TimelineOutput::printReport(const timeline::Estimate &estimate) const {
  const hw::Part &part = conditions.part;
  std::cout << kLabel << ": kernel '" << kernel << "' on " << part.name
            << " at " << formatNumber("%.3f", estimate.clockGhz) << " GHz\n"
            << "cycles of a cluster    "
            << formatNumber("%.0f", estimate.cycles)
            << "\nwaves of the grid      " << estimate.waves
            << "\nmicroseconds           "
            << formatNumber("%.2f", estimate.microseconds)
            << "\n  of memory traffic    "
            << formatNumber("%.2f", estimate.memoryMicroseconds)
            << "\ntensor core busy       "
            << formatNumber("%.1f %%", 100 * estimate.tensorCoreBusy)
            << "\nbound by               " << estimate.bound
            << "\ntensor core's time in a cluster\n";
  for (size_t use = 0; use != timeline::kUses; ++use) {
    std::string name(timeline::useName(timeline::Use(use)));
    constexpr size_t kWidth = 21;
    name.resize(std::max(name.size(), kWidth), ' ');
    std::cout << "  " << name
              << formatNumber("%.1f %%", 100 * estimate.shares[use]) << '\n';
  }
}

//===----------------------------------------------------------------------===//
// Trace events
//===----------------------------------------------------------------------===//

namespace {
/// Writes the trace-event format: a process for each CTA, a thread for each
/// track, times in microseconds.
class TraceWriter {
public:
  explicit TraceWriter(const timeline::Estimate &estimate)
      : estimate(estimate) {}

  std::string write(const hw::Part &part, const std::string &kernel) {
    for (const timeline::Slice &slice : estimate.slices)
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
    for (size_t use = 0; use != timeline::kUses; ++use)
      shares[std::string(timeline::useName(timeline::Use(use)))] =
          estimate.shares[use];
    return {{"label", kLabel},
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

  int64_t threadOf(const timeline::Slice &slice) {
    if (processes.insert(slice.cta).second)
      addName("process_name", slice.cta, 0,
              "CTA " + std::to_string(slice.cta) + " (estimate)");
    auto [entry, isNew] = threads.try_emplace({slice.cta, slice.track},
                                              int64_t(threads.size()) + 1);
    if (isNew)
      addName("thread_name", slice.cta, entry->second, slice.track);
    return entry->second;
  }

  void addSlice(const timeline::Slice &slice) {
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

  const timeline::Estimate &estimate;
  std::string events;
  std::set<uint32_t> processes;
  std::map<std::pair<uint32_t, std::string>, int64_t> threads;
};
} // namespace

std::string
TimelineOutput::printTrace(const timeline::Estimate &estimate) const {
  return TraceWriter(estimate).write(conditions.part, kernel);
}
