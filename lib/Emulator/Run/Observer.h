//===- Observer.h - those who look on while a cluster runs ------*- C++ -*-===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Handlers tell what happens, each thing once and by name; observers know what
// it means: strict mode (Order/StrictObserver.h), the timeline
// (Report/Events.h), the trace (Report/Trace.h). None of them changes values or
// scheduling. A cluster that nobody looks at has no observers, and telling
// costs a comparison.
//
// What an observer has to recognise later travels with the operation: a Ticket,
// which only strict mode fills in.
//
//===----------------------------------------------------------------------===//

#ifndef BLOCKSCALE_LIB_EMULATOR_RUN_OBSERVER_H
#define BLOCKSCALE_LIB_EMULATOR_RUN_OBSERVER_H

#include "../Order/TensorOrder.h"

namespace blockscale::emulator::machine {

//===----------------------------------------------------------------------===//
// Threads
//===----------------------------------------------------------------------===//

/// An instruction was executed, if somebody wants to know
/// (Cluster::tellsSteps); `step` is what its handler returned.
struct Executed {
  Exec &x;
  const Record &r;
  Step step;
};
/// An instruction with these operands is about to run.
struct RegistersUsed {
  Exec &x;
  const Flow &flow;
};
/// The last thread of a CTA has exited.
struct CtaExited {
  const Cta &cta;
};

/// Arrival at, and release by, a barrier of the CTA or of the cluster
/// (kClusterBarrier).
struct BarrierArrived {
  const Exec &x;
  const Record &r;
  uint32_t number;
  uint64_t phase;
  bool relaxed = false;
};
struct BarrierPassed {
  const Exec &x;
  const Record &r;
  uint32_t number;
  uint64_t phase;
};
/// bar.warp.sync.
struct LanesMet {
  const Exec &x;
  uint32_t lanes;
};

struct Fenced {
  enum Kind : uint8_t {
    Memory,        ///< of `scope`
    BarrierInit,   ///< fence.mbarrier_init
    ProxyAsync,    ///< for shared or global memory or both
    MapRelease,    ///< fence.proxy.tensormap
    MapAcquire,    ///< same, of the map at `address`
    PreviousGrids, ///< griddepcontrol.wait
    TensorBefore,  ///< tcgen05.fence
    TensorAfter,
  };
  const Exec &x;
  Kind kind;
  Scope scope = Scope::Gpu;
  bool shared = false, global = false;
  uint64_t address = 0;
};

//===----------------------------------------------------------------------===//
// Memory
//===----------------------------------------------------------------------===//

/// Accesses of a warp to the shared memory of a CTA, by address with rank, and
/// to global memory.
struct SharedTouched {
  Warp &warp;
  Cta &cta;
  const Range *ranges;
  size_t count;
  const Touch &touch;
};
struct GlobalTouched {
  Warp &warp;
  const Range *ranges;
  size_t count;
  const Touch &touch;
};
/// A strong access, of shared memory if there is a CTA.
struct Synchronised {
  Warp &warp;
  Cta *cta;
  uint64_t address;
  const Sync &sync;
};
/// A tensor map in global memory is used.
struct MapUsed {
  const Exec &x;
  const Record &r;
  unsigned lane;
  uint64_t address;
};

//===----------------------------------------------------------------------===//
// mbarriers
//===----------------------------------------------------------------------===//

enum class MbarrierVerb : uint8_t {
  Init,
  Inval,
  Expect,
  Complete,
  Arrive,
  Drop
};

/// A lane has changed an mbarrier. `isFirst` of the lanes of an instruction.
struct MbarrierUpdated {
  const Exec &x;
  const Record &r;
  unsigned lane;
  bool isFirst;
  MbarrierVerb verb;
  Scope scope;
  bool relaxed;
  Cta &cta;
  uint32_t address; ///< with rank
  uint32_t count, bytes;
  uint32_t phase; ///< before
  const MBarrier &barrier;
  const MBarrierArrival &result;

  bool arrives() const {
    return verb == MbarrierVerb::Arrive || verb == MbarrierVerb::Drop;
  }
};
/// A lane has tested an mbarrier of its CTA.
struct MbarrierTested {
  const Exec &x;
  const Record &r;
  unsigned lane;
  uint32_t offset;
  Order::Test test;
  bool &beginsPoll; ///< set if it is the first that failed in a row
};
/// An asynchronous operation has arrived on an mbarrier, or completed bytes on
/// it as `operation` says. `result` is null where the count stays as it was.
struct AsyncArrived {
  Cluster &cluster;
  const Origin &origin;
  uint32_t address; ///< with rank
  uint32_t phase;   ///< before
  const MBarrierArrival *result;
  const Ticket &ticket;
};
struct AsyncCompleted {
  Cluster &cluster;
  const Origin &origin;
  uint32_t address; ///< with rank
  uint32_t phase;   ///< before
  const MBarrierArrival &result;
  uint32_t bytes;
  BarrierVisit::Kind kind;
  const Ticket &ticket;
};

//===----------------------------------------------------------------------===//
// Asynchronous operations
//===----------------------------------------------------------------------===//

/// An operation that will complete on the mbarrier at `address`.
struct TransactionBegun {
  const Exec &x;
  const Origin &origin;
  uint32_t address; ///< with rank
  BarrierVisit::Kind kind;
  Ticket &ticket;
};
/// An operation of a queue of the thread.
struct QueueIssued {
  const Exec &x;
  const Record &r;
  unsigned lane;
  Queue queue;
  Ticket &ticket;
};
/// What an arrival will say that ends with the operations of a queue so far.
struct QueueCovered {
  const Exec &x;
  unsigned lane;
  Queue queue;
  Ticket &ticket;
};
/// Groups of bulk copies, or of cp.async.
struct GroupCommitted {
  const Exec &x;
  unsigned lane;
  bool copies;
};
struct GroupAwaited {
  const Exec &x;
  unsigned lane;
  bool copies;
  size_t keep;
  bool readOnly, all;
};
/// A bulk or tensor copy with these operands begins; `text` is made for the
/// trace alone.
struct CopyBegun {
  const Exec &x;
  const Record &r;
  unsigned lane;
  const std::function<std::string()> &text;
};
/// A tensor copy of a pair of CTAs counts its bytes on `barrier`.
struct PairCounted {
  Cluster &cluster;
  uint32_t barrier; ///< with rank
};
struct CopyDone {
  Cluster &cluster;
  const Origin &origin;
  EventKind kind; ///< Load, Store or RemoteStore
  uint64_t bytes;
  uint32_t target; ///< rank of the CTA that receives them
};
/// clusterlaunchcontrol.try_cancel.
struct CancelAsked {
  Cluster &cluster;
  const Origin &origin;
};

//===----------------------------------------------------------------------===//
// Tensor cores
//===----------------------------------------------------------------------===//

/// mma.sync.
struct WarpMmaDone {
  const Exec &x;
  const Record &r;
  MmaKind kind;
  bool sparse;
  unsigned k;
};
/// tcgen05.mma, cp or shift is issued. `operands` visits the pieces of shared
/// memory that it reads.
struct TensorIssued {
  Exec &x;
  const Record &r;
  unsigned lane, group;
  TensorUse use;
  const std::function<void(const OperandVisit &)> &operands;
  const std::vector<TensorArea> &areas;
};
struct MmaDone {
  Cluster &cluster;
  const Origin &origin;
  const MmaRequest &request;
  const TensorReport &result;
};
struct TensorCopyDone {
  Cluster &cluster;
  const Origin &origin;
  const Instruction &instruction;
  unsigned group;
  uint64_t bytes;
  uint32_t address;
  uint64_t descriptor;
};
struct CommitIssued {
  const Exec &x;
  const Origin &origin;
  unsigned lane, group;
  bool readsA; ///< tells only that A was read from shared memory
  Ticket &ticket;
};
/// Before and after the arrivals of a commit.
struct CommitBegun {
  Cluster &cluster;
  const Origin &origin;
  unsigned group;
};
struct CommitDone {
  Cluster &cluster;
  const Origin &origin;
  uint32_t address, ranks;
};
/// tcgen05.ld and st, and the wait for them.
struct FragmentMoved {
  Exec &x;
  const Record &r;
  const Fragment &fragment;
  uint32_t address;
  Slots registers;
  bool store;
};
struct FragmentsAwaited {
  Exec &x;
  bool stores;
};
struct TensorAllocated {
  Cta &cta;
  uint32_t column, columns;
};
struct TensorFreed {
  const Exec &x;
  const Record &r;
  uint32_t column, columns;
  bool pair;
};
/// An instruction of a pair of CTAs; `hazard` if the peer may not run.
struct PeerNeeded {
  const Exec &x;
  const Record &r;
  unsigned lane;
  Hazard hazard;
};

/// wgmma.fence.
struct WarpgroupFenced {
  const Exec &x;
};
/// wgmma.wait_group: the first `count` products of the warpgroup are complete.
struct WarpgroupAwaited {
  const Exec &x;
  uint64_t count;
};
/// A warp issues its part of a wgmma.mma_async, with accumulators `d` and A in
/// `a`, if it is in registers. `operands` visits the pieces of shared memory
/// that it reads.
struct WarpgroupIssued {
  const Exec &x;
  const Record &r;
  Slots d, a;
  const std::function<void(
      const std::function<void(uint32_t address, uint32_t bytes)> &)> &operands;
};

class Observer {
public:
  virtual ~Observer() = default;

#define BLOCKSCALE_OBSERVED(Type)                                              \
  virtual void on(const Type &) {}
  BLOCKSCALE_OBSERVED(Executed)
  BLOCKSCALE_OBSERVED(RegistersUsed)
  BLOCKSCALE_OBSERVED(CtaExited)
  BLOCKSCALE_OBSERVED(BarrierArrived)
  BLOCKSCALE_OBSERVED(BarrierPassed)
  BLOCKSCALE_OBSERVED(LanesMet)
  BLOCKSCALE_OBSERVED(Fenced)
  BLOCKSCALE_OBSERVED(SharedTouched)
  BLOCKSCALE_OBSERVED(GlobalTouched)
  BLOCKSCALE_OBSERVED(Synchronised)
  BLOCKSCALE_OBSERVED(MapUsed)
  BLOCKSCALE_OBSERVED(MbarrierUpdated)
  BLOCKSCALE_OBSERVED(MbarrierTested)
  BLOCKSCALE_OBSERVED(AsyncArrived)
  BLOCKSCALE_OBSERVED(AsyncCompleted)
  BLOCKSCALE_OBSERVED(TransactionBegun)
  BLOCKSCALE_OBSERVED(QueueIssued)
  BLOCKSCALE_OBSERVED(QueueCovered)
  BLOCKSCALE_OBSERVED(GroupCommitted)
  BLOCKSCALE_OBSERVED(GroupAwaited)
  BLOCKSCALE_OBSERVED(CopyBegun)
  BLOCKSCALE_OBSERVED(PairCounted)
  BLOCKSCALE_OBSERVED(CopyDone)
  BLOCKSCALE_OBSERVED(CancelAsked)
  BLOCKSCALE_OBSERVED(WarpMmaDone)
  BLOCKSCALE_OBSERVED(TensorIssued)
  BLOCKSCALE_OBSERVED(MmaDone)
  BLOCKSCALE_OBSERVED(TensorCopyDone)
  BLOCKSCALE_OBSERVED(CommitIssued)
  BLOCKSCALE_OBSERVED(CommitBegun)
  BLOCKSCALE_OBSERVED(CommitDone)
  BLOCKSCALE_OBSERVED(FragmentMoved)
  BLOCKSCALE_OBSERVED(FragmentsAwaited)
  BLOCKSCALE_OBSERVED(TensorAllocated)
  BLOCKSCALE_OBSERVED(TensorFreed)
  BLOCKSCALE_OBSERVED(PeerNeeded)
  BLOCKSCALE_OBSERVED(WarpgroupFenced)
  BLOCKSCALE_OBSERVED(WarpgroupAwaited)
  BLOCKSCALE_OBSERVED(WarpgroupIssued)
#undef BLOCKSCALE_OBSERVED
};

/// Whether anybody looks on.
inline bool isWatched(const Cluster &cluster) {
  return !cluster.observers.empty();
}

/// Tells all observers of a cluster.
template <typename T> void tell(const Cluster &cluster, const T &happening) {
  for (const auto &observer : cluster.observers)
    observer->on(happening);
}

/// The thread issues an operation of a queue.
inline Ticket issue(const Exec &x, const Record &r, unsigned lane,
                    Queue queue) {
  Ticket ticket;
  tell(*x.cluster, QueueIssued{x, r, lane, queue, ticket});
  return ticket;
}

} // namespace blockscale::emulator::machine

#endif // BLOCKSCALE_LIB_EMULATOR_RUN_OBSERVER_H
