//===- Print.h - an estimate as text and as a trace -------------*- C++ -*-===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef BLOCKSCALE_TIMELINE_PRINT_H
#define BLOCKSCALE_TIMELINE_PRINT_H

#include "blockscale/Timeline/Timeline.h"

#include <string>
#include <utility>
#include <vector>

namespace blockscale::timeline {

/// What everything that shows an estimate says of it.
inline constexpr const char *kEstimateLabel =
    "estimate from a throughput model, not measured";

/// The numbers of an estimate with their names, for a list.
std::vector<std::pair<std::string, std::string>>
estimateFacts(const Estimate &estimate);

/// Some lines for people: time, how busy the tensor core is, what bounds it.
std::string printReport(const Estimate &estimate, const hw::Part &part,
                        const std::string &kernel);

/// A trace in the trace-event format, which Perfetto opens: a process for each
/// CTA, a thread for each track, times in microseconds.
std::string printTrace(const Estimate &estimate, const hw::Part &part,
                       const std::string &kernel);

} // namespace blockscale::timeline

#endif // BLOCKSCALE_TIMELINE_PRINT_H
