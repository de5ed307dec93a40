//===- TimelineChart.h - an estimated timeline as a picture -----*- C++ -*-===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef BLOCKSCALE_LIB_DRIVER_TIMELINECHART_H
#define BLOCKSCALE_LIB_DRIVER_TIMELINECHART_H

#include "blockscale/Timeline/Timeline.h"

#include <string>

namespace blockscale::driver {

/// The whole of the first cluster as SVG, or the cycles from `from` to `to`.
std::string drawTimeline(const timeline::Estimate &estimate,
                         const std::string &kernel, const hw::Part &part);
std::string drawTimeline(const timeline::Estimate &estimate,
                         const std::string &kernel, const hw::Part &part,
                         double from, double to);

} // namespace blockscale::driver

#endif // BLOCKSCALE_LIB_DRIVER_TIMELINECHART_H
