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

namespace blockscale::timeline {

/// Some lines for people: time, how busy the tensor core is, what bounds it.
std::string printReport(const Estimate &estimate, const hw::Part &part,
                        const std::string &kernel);

/// A trace in the trace-event format, which Perfetto opens: a process for each
/// CTA, a thread for each track, times in microseconds.
std::string printTrace(const Estimate &estimate, const hw::Part &part,
                       const std::string &kernel);

} // namespace blockscale::timeline

#endif // BLOCKSCALE_TIMELINE_PRINT_H
