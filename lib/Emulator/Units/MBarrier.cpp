//===- MBarrier.cpp - the mbarrier state machine --------------------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "MBarrier.h"

#include <utility>

namespace blockscale::emulator {

// Token: pending count in bits 0..19, phase in bits 20..51, bit 63 set so that
// a token is never 0.
static constexpr unsigned kPhaseShift = 20;
static constexpr uint64_t kTokenMark = uint64_t(1) << 63;

const char *describe(MBarrierError error) {
  switch (error) {
  case MBarrierError::None:
    return "";
  case MBarrierError::NotInitialised:
    return "mbarrier is not initialised or was invalidated";
  case MBarrierError::InitOverLive:
    return "mbarrier.init on a live mbarrier";
  case MBarrierError::CountOutOfRange:
    return "mbarrier count is not in 1..1048575";
  case MBarrierError::OverArrival:
    return "more arrivals than the phase of the mbarrier expects";
  case MBarrierError::TxOutOfRange:
    return "tx-count of the mbarrier leaves -1048575..1048575";
  case MBarrierError::NoCompleteCompletes:
    return "arrive.noComplete completes the phase of the mbarrier";
  case MBarrierError::TokenNotCurrent:
    return "token is of neither the current nor the preceding phase";
  case MBarrierError::BadParity:
    return "phase parity is neither 0 nor 1";
  case MBarrierError::NoReports:
    return "a copy with a report needs an mbarrier of layout v1, found v0";
  }
  return "";
}

MBarrierError MBarrier::init(uint32_t count, bool withReports) {
  if (alive)
    return MBarrierError::InitOverLive;
  if (count == 0 || count > (withReports ? kMostWithReports : kLimit))
    return MBarrierError::CountOutOfRange;
  alive = true;
  hasReports = withReports;
  expectEnded = reported = reportedBefore = false;
  phaseNumber = conditionalNumber = 0;
  expectedCount = pendingArrivals = count;
  txCount = 0;
  return MBarrierError::None;
}

MBarrierError MBarrier::inval() {
  if (!alive)
    return MBarrierError::NotInitialised;
  alive = false;
  return MBarrierError::None;
}

uint64_t MBarrier::makeToken() const {
  return kTokenMark | uint64_t(phaseNumber) << kPhaseShift | pendingArrivals;
}

uint32_t MBarrier::pendingCount(uint64_t token) { return token & kLimit; }

bool MBarrier::completeIfDone() {
  if (pendingArrivals != 0 || txCount != 0)
    return false;
  ++phaseNumber;
  conditionalNumber += !reported;
  reportedBefore = std::exchange(reported, false);
  pendingArrivals = expectedCount;
  return true;
}

MBarrierError MBarrier::checkArrival(uint32_t count) const {
  if (!alive)
    return MBarrierError::NotInitialised;
  if (count == 0 || count > kLimit)
    return MBarrierError::CountOutOfRange;
  if (count > pendingArrivals)
    return MBarrierError::OverArrival;
  return MBarrierError::None;
}

MBarrierArrival MBarrier::expectTx(uint64_t bytes) {
  MBarrierArrival result;
  if (!alive)
    result.error = MBarrierError::NotInitialised;
  else if (bytes > uint64_t(kLimit) || txCount + int64_t(bytes) > kLimit)
    result.error = MBarrierError::TxOutOfRange;
  if (result.error != MBarrierError::None)
    return result;
  result.token = makeToken();
  txCount += int64_t(bytes);
  result.completed = completeIfDone();
  expectEnded |= result.completed;
  return result;
}

MBarrierArrival MBarrier::completeTx(uint64_t bytes) {
  MBarrierArrival result;
  if (!alive)
    result.error = MBarrierError::NotInitialised;
  else if (bytes > uint64_t(2 * kLimit) || txCount - int64_t(bytes) < -kLimit)
    result.error = MBarrierError::TxOutOfRange;
  if (result.error != MBarrierError::None)
    return result;
  result.token = makeToken();
  txCount -= int64_t(bytes);
  result.completed = completeIfDone();
  return result;
}

MBarrierArrival MBarrier::arrive(uint32_t count) {
  MBarrierArrival result;
  result.error = checkArrival(count);
  if (result.error != MBarrierError::None)
    return result;
  result.token = makeToken();
  pendingArrivals -= count;
  result.completed = completeIfDone();
  return result;
}

MBarrierArrival MBarrier::arriveExpectTx(uint64_t bytes, uint32_t count) {
  MBarrierArrival result;
  result.error = checkArrival(count);
  if (result.error == MBarrierError::None &&
      (bytes > uint64_t(kLimit) || txCount + int64_t(bytes) > kLimit))
    result.error = MBarrierError::TxOutOfRange;
  if (result.error != MBarrierError::None)
    return result;
  result.token = makeToken();
  txCount += int64_t(bytes);
  pendingArrivals -= count;
  result.completed = completeIfDone();
  return result;
}

MBarrierArrival MBarrier::arriveNoComplete(uint32_t count) {
  MBarrierArrival result;
  result.error = checkArrival(count);
  if (result.error == MBarrierError::None && count == pendingArrivals &&
      txCount == 0)
    result.error = MBarrierError::NoCompleteCompletes;
  if (result.error != MBarrierError::None)
    return result;
  result.token = makeToken();
  pendingArrivals -= count;
  return result;
}

template <typename Arrive>
MBarrierArrival MBarrier::drop(uint32_t count, Arrive arrive) {
  MBarrierArrival result;
  result.error = checkArrival(count);
  if (result.error == MBarrierError::None && count > expectedCount)
    result.error = MBarrierError::OverArrival;
  if (result.error != MBarrierError::None)
    return result;
  expectedCount -= count;
  result = arrive();
  if (result.error != MBarrierError::None)
    expectedCount += count;
  return result;
}

MBarrierArrival MBarrier::arriveDrop(uint32_t count, bool noComplete) {
  return drop(count, [&] {
    return noComplete ? arriveNoComplete(count) : arrive(count);
  });
}

MBarrierArrival MBarrier::arriveDropExpectTx(uint64_t bytes, uint32_t count) {
  return drop(count, [&] { return arriveExpectTx(bytes, count); });
}

MBarrierTest MBarrier::testToken(uint64_t token) const {
  if (!alive)
    return {false, MBarrierError::NotInitialised};
  uint32_t tokenPhase = uint32_t(token >> kPhaseShift);
  if (!(token & kTokenMark) ||
      (tokenPhase != phaseNumber && tokenPhase + 1 != phaseNumber))
    return {false, MBarrierError::TokenNotCurrent};
  return {tokenPhase != phaseNumber, MBarrierError::None};
}

MBarrierTest MBarrier::testParity(uint32_t parity) const {
  if (!alive)
    return {false, MBarrierError::NotInitialised};
  if (parity > 1)
    return {false, MBarrierError::BadParity};
  return {(phaseNumber & 1) != parity, MBarrierError::None};
}

MBarrierTest MBarrier::testConditional(uint32_t parity) const {
  MBarrierTest test = testParity(parity);
  if (test.error == MBarrierError::None)
    test.done = (conditionalNumber & 1) != parity;
  return test;
}

MBarrierError MBarrier::report() {
  if (!alive)
    return MBarrierError::NotInitialised;
  if (!hasReports)
    return MBarrierError::NoReports;
  reported = true;
  return MBarrierError::None;
}

} // namespace blockscale::emulator
