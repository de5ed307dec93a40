//===- MBarrier.h - the mbarrier state machine ------------------*- C++ -*-===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// One mbarrier object: phase, expected and pending arrivals, pending bytes, and
// in layout v1 whether a copy reported something about its data (PTX ISA 9.4,
// "Conditional phase").
// Every case that the PTX ISA leaves undefined is returned as an error and
// leaves the object as it was.
//
//===----------------------------------------------------------------------===//

#ifndef BLOCKSCALE_LIB_EMULATOR_UNITS_MBARRIER_H
#define BLOCKSCALE_LIB_EMULATOR_UNITS_MBARRIER_H

#include <cstdint>

namespace blockscale::emulator {

/// What was wrong with a use of an mbarrier.
enum class MBarrierError : uint8_t {
  None,
  NotInitialised,
  InitOverLive,
  CountOutOfRange, ///< init count, or arrival count 0 or above 2^20 - 1
  OverArrival,     ///< more arrivals than are pending
  TxOutOfRange,    ///< |tx-count| above 2^20 - 1
  NoCompleteCompletes,
  TokenNotCurrent, ///< token of neither this phase nor the one before
  BadParity,       ///< parity other than 0 or 1
  NoReports,       ///< a report to an object of layout v0
};

/// A sentence for the error, empty for None.
const char *describe(MBarrierError error);

/// Result of an arrival.
struct MBarrierArrival {
  uint64_t token = 0;     ///< state of the phase in which the arrival happened
  bool completed = false; ///< the phase ended with this operation
  MBarrierError error = MBarrierError::None;
};

/// Result of a wait test.
struct MBarrierTest {
  bool done = false;
  MBarrierError error = MBarrierError::None;
};

/// One object. Counts: expected 1..2^20-1, pending 0..2^20-1, tx
/// -(2^20-1)..2^20-1 (PTX ISA, mbarrier).
class MBarrier {
public:
  static constexpr int64_t kLimit = (1 << 20) - 1;
  /// The largest count of arrivals of an object of layout v1.
  static constexpr uint32_t kMostWithReports = 511;

  MBarrierError init(uint32_t count, bool withReports = false);
  /// Also legal as the end of the object's life at any time.
  MBarrierError inval();

  MBarrierArrival expectTx(uint64_t bytes);
  MBarrierArrival completeTx(uint64_t bytes);
  MBarrierArrival arrive(uint32_t count = 1);
  /// expect-tx first, then one arrival.
  MBarrierArrival arriveExpectTx(uint64_t bytes, uint32_t count = 1);
  MBarrierArrival arriveNoComplete(uint32_t count);
  MBarrierArrival arriveDrop(uint32_t count = 1, bool noComplete = false);
  MBarrierArrival arriveDropExpectTx(uint64_t bytes, uint32_t count = 1);

  /// True iff the token's phase is over.
  MBarrierTest testToken(uint64_t token) const;
  /// True iff the phase with this parity is over.
  MBarrierTest testParity(uint32_t parity) const;
  /// The same of the conditional phase, which ends with phases without a
  /// report.
  MBarrierTest testConditional(uint32_t parity) const;

  /// Something is reported in the current phase; needs layout v1.
  MBarrierError report();

  /// Pending count recorded in a token (mbarrier.pending_count): arrivals that
  /// were pending before the operation that made the token.
  static uint32_t pendingCount(uint64_t token);

  bool live() const { return alive; }
  bool reports() const { return hasReports; } ///< layout v1
  /// Whether something was reported in the phase that ended last.
  bool lastReport() const { return reportedBefore; }
  uint32_t phase() const { return phaseNumber; }
  uint32_t conditionalPhase() const { return conditionalNumber; }
  uint32_t expected() const { return expectedCount; }
  uint32_t pending() const { return pendingArrivals; }
  int64_t tx() const { return txCount; }
  /// A lone expect_tx brought tx back to 0 with no arrival pending and ended
  /// the phase: depends on OpenPoint::ExpectTxCompletes.
  bool expectTxCompleted() const { return expectEnded; }

private:
  MBarrierError checkArrival(uint32_t count) const;
  uint64_t makeToken() const;
  /// `arrive()` with `count` arrivals fewer from the next phase on.
  template <typename Arrive>
  MBarrierArrival drop(uint32_t count, Arrive arrive);
  bool completeIfDone();

  bool alive = false;
  bool expectEnded = false;
  bool hasReports = false, reported = false, reportedBefore = false;
  uint32_t phaseNumber = 0, conditionalNumber = 0;
  uint32_t expectedCount = 0;
  uint32_t pendingArrivals = 0;
  int64_t txCount = 0;
};

} // namespace blockscale::emulator

#endif // BLOCKSCALE_LIB_EMULATOR_UNITS_MBARRIER_H
