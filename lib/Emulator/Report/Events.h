//===- Events.h - tell the observer what happened ---------------*- C++ -*-===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef BLOCKSCALE_LIB_EMULATOR_REPORT_EVENTS_H
#define BLOCKSCALE_LIB_EMULATOR_REPORT_EVENTS_H

#include "../Run/State.h"

namespace blockscale::emulator::machine {

/// Whether somebody wants the events of this cluster.
inline bool observed(const Cluster &cluster) {
  const Options &options = cluster.grid.options;
  return options.event && options.eventCluster == cluster.id;
}

/// Fills in who and where, and passes the event on. Call only if observed().
void emit(Cluster &cluster, const Origin &origin, Event event);

/// An event of the warp that executes.
void emit(const Exec &x, const Record &r, Event event);

/// The event of an arrival or a wait on an mbarrier.
Event barrierEvent(EventKind kind, uint32_t address, int64_t phase);

/// Looks at an instruction that was executed: counts it, and makes the events
/// that its handler does not make. `step` is what the handler returned.
void observe(Exec &x, const Record &r, Step step);

} // namespace blockscale::emulator::machine

#endif // BLOCKSCALE_LIB_EMULATOR_REPORT_EVENTS_H
