//===- Stuck.cpp - which rule broke where a warp waits for ever -----------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "../Run/Control.h"

namespace blockscale::emulator::machine {
namespace {

/// Instructions that wait for the lanes of their member mask.
bool takesMembers(Opcode opcode) {
  switch (opcode) {
  case Opcode::Shfl:
  case Opcode::Vote:
  case Opcode::Match:
  case Opcode::ReduxSync:
  case Opcode::ElectSync:
  case Opcode::BarWarpSync:
    return true;
  default:
    return false;
  }
}

/// A barrier of the CTA: 79 with a count of its own, 80 for all threads.
Hazard barrierRule(const Instruction &in) {
  bool reduces = in.opcode == Opcode::BarRed || in.opcode == Opcode::BarrierRed;
  // A reduction has a result, a number and a predicate besides.
  return in.operands.size() > (reduces ? 3u : 1u) ? Hazard::NamedBarrierCount
                                                  : Hazard::BarrierNotReached;
}

/// Whether the guard of the instruction lets only some lanes of the group in.
bool guardSplits(const Cluster &cluster, const Warp &warp, const Group &group) {
  const Record &r = cluster.program().code[group.pc];
  if (r.guard == kNoSlot)
    return false;
  Exec x;
  x.bank[0] = warp.registers;
  x.bank[1] = const_cast<uint8_t *>(cluster.program().constants.data());
  uint32_t inside = group.mask & x.predicate(r.guard);
  return inside && inside != group.mask;
}

/// Whether a tcgen05.alloc of a pair has not met the call of the peer yet.
bool waitsForPeer(const Cluster &cluster, const Warp &warp,
                  const Group &group) {
  size_t peer = warp.cta->rank ^ 1;
  return group.arrived && peer < cluster.ctas.size() &&
         cluster.ctas[peer]->pairCalls.size() <= group.token;
}

} // namespace

Hazard stuckRule(const Cluster &cluster, const Warp &warp, const Group &group,
                 bool polling) {
  const Instruction *in = cluster.program().code[group.pc].instruction;
  if (!in)
    return Hazard::None;
  bool partial = !group.arrived &&
                 (group.mask != warp.live || guardSplits(cluster, warp, group));
  switch (in->opcode) {
  case Opcode::Tcgen05Ld:
  case Opcode::Tcgen05St:
  case Opcode::Tcgen05WaitLd:
  case Opcode::Tcgen05WaitSt:
    return Hazard::PartialTensorLoad;
  case Opcode::Tcgen05Alloc:
    if (!partial)
      return waitsForPeer(cluster, warp, group) ? Hazard::PairNotMet
                                                : Hazard::AllocationBlocks;
    break;
  case Opcode::Tcgen05Dealloc:
  case Opcode::Tcgen05Relinquish:
    if (!partial)
      return Hazard::PairNotMet;
    break;
  case Opcode::BarSync:
  case Opcode::BarrierSync:
  case Opcode::BarRed:
  case Opcode::BarrierRed:
    if (!partial)
      return barrierRule(*in);
    break;
  case Opcode::BarrierClusterWait:
    if (!partial)
      return Hazard::BarrierNotReached;
    break;
  case Opcode::SetMaxNReg:
    if (!partial)
      return Hazard::RegistersMissing;
    break;
  default:
    break;
  }
  if (takesMembers(in->opcode))
    return Hazard::MissingMembers;
  if (partial && in->has(Modifier::Aligned))
    return Hazard::DivergentAligned;
  if (partial &&
      (in->opcode == Opcode::BarSync || in->opcode == Opcode::BarRed))
    return Hazard::DivergentAligned;
  if (!polling)
    return Hazard::None;
  return cluster.grid.order.size() > 1 ? Hazard::OtherClusterAwaited
                                       : Hazard::EndlessLoop;
}

} // namespace blockscale::emulator::machine
