//===- Events.h - the timeline looks on -------------------------*- C++ -*-===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef BLOCKSCALE_LIB_EMULATOR_REPORT_EVENTS_H
#define BLOCKSCALE_LIB_EMULATOR_REPORT_EVENTS_H

#include "../Run/Observer.h"

namespace blockscale::emulator::machine {

/// Makes the events of a cluster, with what its lanes did between them.
class EventObserver final : public Observer {
public:
  using Observer::on;
  void on(const Executed &) override;
  void on(const BarrierArrived &) override;
  void on(const BarrierPassed &) override;
  void on(const MbarrierUpdated &) override;
  void on(const AsyncArrived &) override;
  void on(const AsyncCompleted &) override;
  void on(const CopyDone &) override;
  void on(const CancelAsked &) override;
  void on(const WarpMmaDone &) override;
  void on(const MmaDone &) override;
  void on(const TensorCopyDone &) override;
  void on(const CommitBegun &) override;
};

} // namespace blockscale::emulator::machine

#endif // BLOCKSCALE_LIB_EMULATOR_REPORT_EVENTS_H
