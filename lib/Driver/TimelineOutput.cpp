//===- TimelineOutput.cpp - record and write a timeline -------------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "TimelineOutput.h"
#include "Verb.h"
#include "blockscale/Driver/Driver.h"
#include "llvm/ADT/Twine.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/JSON.h"
#include "llvm/Support/ToolOutputFile.h"
#include "llvm/Support/raw_ostream.h"

#include <map>

using namespace blockscale;
using namespace blockscale::driver;
namespace cl = llvm::cl;
namespace json = llvm::json;

/// What the trace and the report say of themselves.
static constexpr llvm::StringLiteral kLabel =
    "estimate from a throughput model, not measured";

TimelineOutput::TimelineOutput(cl::SubCommand &command)
    : file("timeline", cl::sub(command), cl::value_desc("FILE.json"),
           cl::desc("Write the estimated times of the first cluster as a trace "
                    "that Perfetto opens")),
      report("report", cl::sub(command),
             cl::desc("Print the estimated time, how busy the tensor core is "
                      "and what bounds it")) {}

int TimelineOutput::attach(const emulator::Module &module,
                           const emulator::Launch &launch,
                           emulator::Options &options) {
  if ((file.empty() && !report) || timeline)
    return kSuccess;
  if (options.completion != emulator::Completion::Immediate)
    return reportError("--timeline and --report need --completion=immediate",
                       kNotUnderstood);
  std::string why;
  std::optional<hw::Target> target = hw::parseTarget(module.target, &why);
  if (!target)
    return reportError("no model of time: " + why, kFailure);
  kernel = launch.kernel;
  conditions.part = hw::referencePart(target->chip);
  conditions.gridCtas = launch.grid.count();
  conditions.clusterCtas = launch.cluster.count();
  conditions.memoryBytes = 0;
  for (const emulator::Buffer &buffer : launch.buffers)
    conditions.memoryBytes += buffer.size;
  timeline = std::make_unique<timeline::Timeline>(conditions);
  options.eventCluster =
      options.clusters.empty() ? 0 : options.clusters.front();
  options.event = [this](const emulator::Event &event) {
    timeline->add(event);
  };
  return kSuccess;
}

int TimelineOutput::finish() {
  if (!timeline)
    return kSuccess;
  timeline::Estimate estimate = timeline->finish();
  if (report)
    printReport(estimate);
  return file.empty() ? kSuccess : writeTrace(estimate);
}

//===----------------------------------------------------------------------===//
// Text
//===----------------------------------------------------------------------===//

void TimelineOutput::printReport(const timeline::Estimate &estimate) const {
  llvm::raw_ostream &out = llvm::outs();
  const hw::Part &part = conditions.part;
  out << kLabel << ": kernel '" << kernel << "' on "
      << llvm::StringRef(part.name) << " at "
      << llvm::format("%.3f", estimate.clockGhz) << " GHz\n"
      << "cycles of a cluster    " << llvm::format("%.0f", estimate.cycles)
      << "\nwaves of the grid      " << estimate.waves
      << "\nmicroseconds           "
      << llvm::format("%.2f", estimate.microseconds)
      << "\n  of memory traffic    "
      << llvm::format("%.2f", estimate.memoryMicroseconds)
      << "\ntensor core busy       "
      << llvm::format("%.1f %%", 100 * estimate.tensorCoreBusy)
      << "\nbound by               " << llvm::StringRef(estimate.bound)
      << "\ntensor core's time in a cluster\n";
  for (size_t use = 0; use != timeline::kUses; ++use)
    out << "  "
        << llvm::left_justify(
               llvm::StringRef(timeline::useName(timeline::Use(use))), 21)
        << llvm::format("%.1f %%", 100 * estimate.shares[use]) << '\n';
}

//===----------------------------------------------------------------------===//
// Trace events
//===----------------------------------------------------------------------===//

namespace {
/// Writes the trace-event format: a process for each CTA, a thread for each
/// track, times in microseconds.
class TraceWriter {
public:
  TraceWriter(llvm::raw_ostream &out, const timeline::Estimate &estimate)
      : json(out), estimate(estimate) {}

  void write(const hw::Part &part, llvm::StringRef kernel) {
    json.object([&] {
      json.attribute("displayTimeUnit", "ns");
      json.attributeObject("otherData", [&] { writeSummary(part, kernel); });
      json.attributeArray("traceEvents", [&] {
        for (const timeline::Slice &slice : estimate.slices)
          writeSlice(slice);
      });
    });
  }

private:
  void writeSummary(const hw::Part &part, llvm::StringRef kernel) {
    json.attribute("label", kLabel);
    json.attribute("kernel", kernel);
    json.attribute("part", llvm::StringRef(part.name));
    json.attribute("clock_ghz", estimate.clockGhz);
    json.attribute("cycles", estimate.cycles);
    json.attribute("waves", int64_t(estimate.waves));
    json.attribute("microseconds", estimate.microseconds);
    json.attribute("memory_microseconds", estimate.memoryMicroseconds);
    json.attribute("tensor_core_busy", estimate.tensorCoreBusy);
    json.attribute("bound", llvm::StringRef(estimate.bound));
    json.attributeObject("tensor_core_shares", [&] {
      for (size_t use = 0; use != timeline::kUses; ++use)
        json.attribute(llvm::StringRef(timeline::useName(timeline::Use(use))),
                       estimate.shares[use]);
    });
  }

  /// A metadata event that names a process or a thread.
  void writeName(llvm::StringRef what, int64_t process, int64_t thread,
                 const std::string &name) {
    json.object([&] {
      json.attribute("ph", "M");
      json.attribute("name", what);
      json.attribute("pid", process);
      json.attribute("tid", thread);
      json.attributeObject("args", [&] { json.attribute("name", name); });
    });
  }

  int64_t threadOf(const timeline::Slice &slice) {
    if (processes.try_emplace(slice.cta).second)
      writeName("process_name", slice.cta, 0,
                "CTA " + std::to_string(slice.cta) + " (estimate)");
    auto [entry, isNew] = threads.try_emplace({slice.cta, slice.track},
                                              int64_t(threads.size()) + 1);
    if (isNew)
      writeName("thread_name", slice.cta, entry->second, slice.track);
    return entry->second;
  }

  void writeSlice(const timeline::Slice &slice) {
    int64_t thread = threadOf(slice);
    bool isInstant = slice.start == slice.end;
    json.object([&] {
      json.attribute("ph", isInstant ? "i" : "X");
      json.attribute("name", slice.name);
      json.attribute("pid", int64_t(slice.cta));
      json.attribute("tid", thread);
      json.attribute("ts", microseconds(slice.start));
      if (isInstant)
        json.attribute("s", "t");
      else
        json.attribute("dur", microseconds(slice.end - slice.start));
      json.attributeObject("args", [&] {
        json.attribute("ptx line", int64_t(slice.line));
        json.attribute("cycle", slice.start);
      });
    });
  }

  double microseconds(double cycles) const {
    return cycles / (estimate.clockGhz * 1e3);
  }

  json::OStream json;
  const timeline::Estimate &estimate;
  std::map<uint32_t, bool> processes;
  std::map<std::pair<uint32_t, std::string>, int64_t> threads;
};
} // namespace

int TimelineOutput::writeTrace(const timeline::Estimate &estimate) const {
  std::error_code error;
  llvm::ToolOutputFile output(file, error, llvm::sys::fs::OF_Text);
  if (error)
    return reportError("cannot write '" + file + "': " + error.message(),
                       kFailure);
  TraceWriter(output.os(), estimate).write(conditions.part, kernel);
  output.keep();
  return kSuccess;
}
