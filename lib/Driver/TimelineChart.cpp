//===- TimelineChart.cpp - an estimated timeline as a picture -------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "TimelineChart.h"
#include "blockscale/Formats/Text.h"
#include "blockscale/Pictures/TimeChart.h"
#include "blockscale/Timeline/Print.h"

#include <algorithm>

using namespace blockscale;
using namespace blockscale::driver;

/// "load" of "load, 16384 bytes"; everything that waits is of one kind.
static std::string kindOf(const timeline::Slice &slice) {
  if (slice.name.rfind("wait", 0) == 0)
    return pictures::kWaiting;
  return slice.name.substr(0, slice.name.find(','));
}

std::string blockscale::driver::drawTimeline(const timeline::Estimate &estimate,
                                             const std::string &kernel,
                                             const hw::Part &part, double from,
                                             double to) {
  bool severalCtas =
      std::any_of(estimate.slices.begin(), estimate.slices.end(),
                  [&](const timeline::Slice &slice) {
                    return slice.cta != estimate.slices.front().cta;
                  });
  pictures::TimeChart chart;
  bool isWhole = from <= 0 && to >= estimate.cycles;
  chart.title = isWhole ? "Timeline of the first cluster"
                        : "Part of it, cycles " + formatNumber("%.0f", from) +
                              " to " + formatNumber("%.0f", to);
  chart.notes = {"Kernel " + kernel + " on " + std::string(part.name) + ": " +
                 timeline::kEstimateLabel + "."};
  chart.unit = "cycles";
  chart.from = from;
  chart.to = to;
  for (const timeline::Slice &slice : estimate.slices)
    if (slice.end > slice.start)
      chart.bars.push_back(
          {(severalCtas ? "CTA " + std::to_string(slice.cta) + ": " : "") +
               slice.track,
           kindOf(slice), slice.start, slice.end});
  return pictures::drawTimeChart(chart);
}

std::string blockscale::driver::drawTimeline(const timeline::Estimate &estimate,
                                             const std::string &kernel,
                                             const hw::Part &part) {
  return drawTimeline(estimate, kernel, part, 0, estimate.cycles);
}
