//===- TimelineOutput.cpp - record and write a timeline -------------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "TimelineOutput.h"
#include "TimelineChart.h"
#include "Verb.h"
#include "blockscale/Driver/Driver.h"
#include "blockscale/Timeline/Print.h"

#include <iostream>

using namespace blockscale;
using namespace blockscale::driver;

TimelineOutput::TimelineOutput(CommandLine &command) {
  command.text("timeline", file, "FILE",
               "Write the estimated times of the first cluster: FILE.json is a "
               "trace that Perfetto opens, FILE.svg a picture");
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
    std::cout << timeline::printReport(estimate, conditions.part, kernel);
  if (!file.empty())
    files.add(file,
              isPicture()
                  ? drawTimeline(estimate, kernel, conditions.part)
                  : timeline::printTrace(estimate, conditions.part, kernel));
}
