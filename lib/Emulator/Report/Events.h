//===- Events.h - the timeline looks on -------------------------*- C++ -*-===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef BLOCKSCALE_LIB_EMULATOR_REPORT_EVENTS_H
#define BLOCKSCALE_LIB_EMULATOR_REPORT_EVENTS_H

#include "../Instructions/LoadStore.h"
#include "../Run/Observer.h"

#include <array>
#include <map>
#include <unordered_set>
#include <vector>

namespace blockscale::emulator::machine {

/// The least that a cache asks memory for.
inline constexpr uint64_t kSectorBytes = 32;

/// Sectors of global memory that a CTA has loaded lately, about as many as its
/// cache keeps beside the shared memory that kernels take.
class RecentSectors {
public:
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

  void clear() {
    kept.clear();
    count = 0;
  }

private:
  std::unordered_set<uint64_t> kept;
  std::array<uint64_t, 1024> order;
  size_t count = 0;
};

/// Loads of a warp from global memory whose results nobody has used. Lanes that
/// have diverged load and use theirs on their own.
class LoadsUnderWay {
public:
  bool empty() const { return results.empty(); }
  /// Begins one; returns its number.
  uint32_t begin() { return ++count; }
  /// Whose result `lanes` get in a register; 0 for another instruction's.
  void set(Slot slot, uint32_t lanes, uint32_t load);
  /// The last load whose result `lanes` have in the register, 0 if there is
  /// none.
  uint32_t of(Slot slot, uint32_t lanes) const;
  /// `lanes` have waited for all loads up to `last`.
  void finish(uint32_t lanes, uint32_t last);

private:
  struct Result {
    Slot slot;
    uint32_t lanes, load;
  };
  uint32_t count = 0;
  std::vector<Result> results;
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
  void countSectors(Exec &x, const LoadStoreRecord &load);
  void countPrefetch(Exec &x, const Record &r);
  /// Notes which loads the instruction waits for, as it uses their results or
  /// writes over them.
  void countUses(Exec &x, const Record &r);
  void observeWait(Exec &x, const Record &r, Step step);

  /// Sectors that L1 caches have, by the rank of the CTA, and that the L2 cache
  /// has.
  std::map<uint32_t, RecentSectors> recent;
  std::unordered_set<uint64_t> inL2;
  std::map<const Warp *, LoadsUnderWay> underWay;
};

} // namespace blockscale::emulator::machine

#endif // BLOCKSCALE_LIB_EMULATOR_REPORT_EVENTS_H
