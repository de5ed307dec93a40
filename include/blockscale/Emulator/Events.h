//===- Events.h - what a cluster did, for a timeline ------------*- C++ -*-===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The operations of one cluster whose time matters, in an order in which causes
// precede effects: a wait comes after everything that ended the phase it waited
// for. The emulator knows no time; whoever replays the events brings a model.
//
//===----------------------------------------------------------------------===//

#ifndef BLOCKSCALE_EMULATOR_EVENTS_H
#define BLOCKSCALE_EMULATOR_EVENTS_H

#include "blockscale/Emulator/MmaKind.h"

#include <cstdint>

namespace blockscale::emulator {

enum class EventKind : uint8_t {
  Load,          ///< TMA or bulk copy into the shared memory of CTA `target`
  Store,         ///< TMA or bulk copy out of shared memory
  RemoteStore,   ///< st.async of lanes into the shared memory of CTA `target`
  StoreWait,     ///< waited for groups of stores
  Mma,           ///< tcgen05.mma
  TensorCopy,    ///< tcgen05.cp
  Commit,        ///< tcgen05.commit
  TensorLoad,    ///< tcgen05.ld
  TensorStore,   ///< tcgen05.st
  TensorWait,    ///< tcgen05.wait
  TensorAlloc,   ///< tcgen05.alloc
  WarpMma,       ///< mma.sync
  Cancel,        ///< clusterlaunchcontrol.try_cancel
  Arrive,        ///< a thread arrived on an mbarrier
  AsyncArrive,   ///< the last asynchronous operation of this warp did
  Wait,          ///< a wait on an mbarrier was satisfied
  BarrierArrive, ///< arrived at a CTA or cluster barrier
  BarrierWait,   ///< and was released by it
  Exit           ///< the last thread of the warp exited
};

/// Number of the cluster barrier among the CTA barriers 0 to 15.
inline constexpr uint32_t kClusterBarrier = 16;

/// What lanes did without an event since their last one.
struct LaneWork {
  uint64_t instructions = 0;
  /// Conversions from f32 to 16 bits, and to 8 or fewer.
  uint64_t halfConversions = 0, narrowConversions = 0;
  /// Bytes of st to global memory, and of ld from and st to shared memory.
  uint64_t globalStoredBytes = 0, sharedLoadedBytes = 0, sharedStoredBytes = 0;
  /// Bytes of the sectors that ld reads from global memory: of those that no
  /// CTA of the cluster has asked for before, of those that one has loaded or
  /// prefetched, so that the L2 cache has them, and of those that the CTA has
  /// loaded lately, so that its L1 cache has them.
  uint64_t globalLoadedBytes = 0, knownToL2Bytes = 0, knownToL1Bytes = 0;
  /// The first and the last of these loads by their numbers, which count those
  /// of the warp from 1, and the last one whose result was used; 0 if there is
  /// none. A load that is used later than it is made may be under way
  /// meanwhile.
  uint32_t firstLoad = 0, lastLoad = 0, usedLoad = 0;
};

struct Event {
  EventKind kind = EventKind::Exit;
  uint32_t cta = 0;  ///< rank in the cluster
  uint32_t warp = 0; ///< in the CTA
  /// Lanes that run together: those of a warp that has diverged have each their
  /// own order of events.
  uint32_t lanes = ~0u;
  uint32_t line = 0; ///< of the PTX
  LaneWork before;
  /// Load, Store, RemoteStore, TensorLoad, TensorStore; TensorCopy: read from
  /// shared memory.
  uint64_t bytes = 0;
  /// Load, RemoteStore: rank of the CTA that receives the bytes.
  uint32_t target = 0;
  /// Arrive, AsyncArrive, Wait: address with the rank of its CTA in the upper
  /// byte, and the phase that was arrived in or waited for. A wait for the
  /// phase before the first has phase -1. BarrierArrive, BarrierWait: number of
  /// the barrier and its phase.
  uint32_t barrier = 0;
  int64_t phase = 0;
  /// Mma, WarpMma.
  MmaKind mma = MmaKind::F16;
  bool sparse = false, aInTensorMemory = false;
  unsigned ctaGroup = 1, m = 0, n = 0, k = 0;
  /// StoreWait: until shared memory was read, not until all is written.
  bool readOnly = false;
};

} // namespace blockscale::emulator

#endif // BLOCKSCALE_EMULATOR_EVENTS_H
