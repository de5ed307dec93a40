//===- Events.h - the timeline looks on -------------------------*- C++ -*-===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef BLOCKSCALE_LIB_EMULATOR_REPORT_EVENTS_H
#define BLOCKSCALE_LIB_EMULATOR_REPORT_EVENTS_H

#include "../Run/Observer.h"

#include <array>
#include <map>
#include <unordered_set>

namespace blockscale::emulator::machine {

/// Sectors of global memory that a CTA has loaded lately, about as many as its
/// cache keeps beside the shared memory that kernels take.
class RecentSectors {
public:
  static constexpr uint64_t kBytes = 32;

  /// Notes one; whether it is new. The oldest one goes.
  bool add(uint64_t sector) {
    if (!kept.insert(sector).second)
      return false;
    uint64_t &oldest = order[count % order.size()];
    if (count++ >= order.size())
      kept.erase(oldest);
    oldest = sector;
    return true;
  }

private:
  std::unordered_set<uint64_t> kept;
  std::array<uint64_t, 1024> order;
  size_t count = 0;
};

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

private:
  void countLoad(Exec &x, const Record &r);
  void countPrefetch(Exec &x, const Record &r);
  /// Bytes of sectors that the CTA has not loaded lately, which it has now.
  uint64_t newBytes(Exec &x, const AddressOperand &address, uint64_t bytes);

  std::map<uint32_t, RecentSectors> recent; ///< by the rank of the CTA
};

} // namespace blockscale::emulator::machine

#endif // BLOCKSCALE_LIB_EMULATOR_REPORT_EVENTS_H
