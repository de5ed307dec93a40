//===- TimeChart.h - what happens when, drawn -------------------*- C++ -*-===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef BLOCKSCALE_PICTURES_TIMECHART_H
#define BLOCKSCALE_PICTURES_TIMECHART_H

#include <string>
#include <vector>

namespace blockscale::pictures {

/// Something that takes time. A bar of no length is not drawn.
struct ChartBar {
  /// The line that it is on: lines are in the order of their first bars.
  std::string line;
  /// Bars of a kind have one fill; "wait" is none.
  std::string kind;
  double start = 0, end = 0;
};

struct TimeChart {
  std::string title;
  std::vector<std::string> notes;
  /// Of the times: "cycles".
  std::string unit;
  /// The part of the time that is drawn.
  double from = 0, to = 0;
  std::vector<ChartBar> bars;
};

/// What waits is drawn as an empty box.
inline constexpr const char *kWaiting = "wait";

/// Lines of bars over an axis. Bars of one kind that no gap of half a pixel
/// separates are drawn as one.
std::string drawTimeChart(const TimeChart &chart);

} // namespace blockscale::pictures

#endif // BLOCKSCALE_PICTURES_TIMECHART_H
