//===- TensorOrder.h - what happens before what in tensor memory -*- C++
//-*-===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Strict mode for tcgen05. A cell per column and 16 lanes remembers the last
// operation that wrote it and the last ones that read it; the next operation
// there must be ordered after them, as far as hardware does not keep their
// order by itself:
//  - mma, cp and shift of one thread and cta_group keep their order, but for an
//    mma that reads as an operand what another one wrote as its accumulator;
//  - tcgen05.ld and st of one warp keep their order, ld after ld is free;
//  - those of two threads need an edge between the threads, or completion;
//  - everything else needs completion: a commit whose mbarrier was waited for,
//    or tcgen05.wait and, for other warps, an edge after it.
//
//===----------------------------------------------------------------------===//

#ifndef BLOCKSCALE_LIB_EMULATOR_ORDER_TENSORORDER_H
#define BLOCKSCALE_LIB_EMULATOR_ORDER_TENSORORDER_H

#include "../Units/TensorAreas.h"
#include "Order.h"

namespace blockscale::emulator::machine {

enum class TensorUse : uint8_t {
  Multiply,
  Copy,
  Shift,
  Load,
  Store,
  Free,
  FreeOfPeer, ///< by the other CTA of a pair
};

/// An operation on tensor memory, as far as later ones have to know it.
struct TensorEvent {
  TensorUse use = TensorUse::Free;
  Stamp done;   ///< in the queue that tells of completion
  Stamp issued; ///< by the issuing warp
  Origin origin;
  TensorArea accumulator = {}; ///< of an mma
};

/// Strict state of the tensor memory of a cluster.
class TensorOrder {
public:
  TensorOrder(Cluster &cluster, Order &order);

  /// Checks an operation of `warp` on areas of one CTA and remembers it.
  void touch(Warp &warp, Cta &cta, const TensorEvent &event,
             const std::vector<TensorArea> &areas);
  /// The columns of `cta` are freed by `warp`, which may belong to the other
  /// CTA of its pair: nothing may be in flight on them.
  void free(Warp &warp, Cta &cta, const Origin &origin, unsigned column,
            unsigned count);
  /// The columns are new.
  void allocate(Cta &cta, unsigned column, unsigned count);
  /// A tcgen05.commit; reports one of another cta_group than the operations.
  /// One for reads of A says nothing of tensor memory.
  void commit(Warp &warp, const Origin &origin, unsigned group, bool readsA);
  /// tcgen05.fence::before_thread_sync; called for advice only.
  void fenceBefore(const Warp &warp);
  /// Bytes of a copy with .cta_group::2 count on the mbarrier at a shared
  /// address with rank.
  void countsForPair(uint32_t barrier) { pairBarriers.push_back(barrier); }
  /// Whether bytes of a pair that `barrier` of `cta` waits for were counted on
  /// that of the peer at the same offset.
  bool splitOverPair(const Cta &cta, uint32_t offset) const;
  /// Whether the warp knows that all warps of the other CTA of its pair run.
  bool knowsPeer(const Warp &warp) const;

private:
  static constexpr unsigned kGroups = 8; ///< of 16 lanes
  /// Numbers of events; 0 = none.
  struct Cell {
    uint32_t writer = 0;
    uint32_t core = 0;               ///< last mma that read it
    std::array<uint32_t, 4> loads{}; ///< by warp / 4
  };
  using Cells = std::vector<Cell>;

  Cell *cellsOf(Cta &cta, unsigned column);
  /// A meeting of two operations: `wrote` says what the earlier one did,
  /// `writes` what this one does.
  struct Meeting {
    uint32_t earlier;
    bool wrote, writes;
    unsigned column;
  };
  void check(Warp &warp, const TensorEvent &now, const Meeting &meeting);
  bool ordered(const Warp &warp, const TensorEvent &now,
               const Meeting &meeting) const;
  bool meetsResult(const TensorEvent &now, const Meeting &meeting) const;
  Hazard hazardOf(const Warp &warp, const TensorEvent &now,
                  uint32_t earlier) const;
  bool fencedBefore(const Warp &warp, uint32_t earlier) const;
  void advise(Warp &warp, const TensorEvent &now, const Meeting &meeting);
  void advisePipeline(Warp &warp, const TensorEvent &now,
                      const Meeting &meeting);

  Cluster &cluster;
  Order &order;
  std::vector<Cells> cells; ///< by rank
  std::vector<TensorEvent> events{1};
  uint32_t lastMultiply = 0; ///< number of the last mma
  /// Time of the last operation of a queue that a commit covers.
  std::map<Component, uint32_t> committed;
  /// Commits that covered nothing: number of events before.
  std::vector<uint32_t> stray;
  std::vector<uint32_t> pairBarriers;
  /// By warp: number of events before a tcgen05.fence::before_thread_sync, and
  /// the warp's time there.
  struct BeforeFence {
    uint32_t events, time;
  };
  std::map<Component, std::vector<BeforeFence>> beforeFences;
};

} // namespace blockscale::emulator::machine

#endif // BLOCKSCALE_LIB_EMULATOR_ORDER_TENSORORDER_H
