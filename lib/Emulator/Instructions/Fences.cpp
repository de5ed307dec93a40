//===- Fences.cpp - fences and griddepcontrol -----------------------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Memory is sequentially consistent here, so fences change no value: they only
// say to strict mode what the kernel has ordered.
//
//===----------------------------------------------------------------------===//

#include "../Order/Order.h"
#include "Access.h"

namespace blockscale::emulator::machine {
namespace {

Step nothing(Exec &, const Record &) { return Step::Next; }

/// aux: Scope.
Step fence(Exec &x, const Record &r) {
  if (x.cluster->order)
    x.cluster->order->fence(*x.warp, Scope(r.aux));
  return Step::Next;
}

Step fenceBarrierInit(Exec &x, const Record &) {
  if (x.cluster->order)
    x.cluster->order->fenceBarrierInit(*x.warp);
  return Step::Next;
}

/// aux: 1 = shared memory, 2 = global memory.
Step fenceAsync(Exec &x, const Record &r) {
  if (x.cluster->order)
    x.cluster->order->fenceProxyAsync(*x.warp, r.aux & 1, r.aux & 2);
  return Step::Next;
}

/// aux: 1 = acquire of the map at address 0, else release.
Step fenceTensorMap(Exec &x, const Record &r) {
  if (Order *order = x.cluster->order.get())
    order->fenceTensorMap(*x.warp, !r.aux, r.aux,
                          r.aux ? pushedAddress(x, *r.detail, 0, x.firstLane())
                                : 0);
  return Step::Next;
}

Step waitForGrids(Exec &x, const Record &) {
  if (x.cluster->order)
    x.cluster->order->observe(*x.warp, {kPreviousGrids, 1});
  return Step::Next;
}

bool decodeProxy(Decoder &d, const Instruction &in, Record &r) {
  if (in.has(Modifier::TensormapGeneric)) {
    r.aux = in.has(Modifier::Acquire);
    if (r.aux) {
      if (in.operands.empty())
        return d.refuse("acquire without the address of a tensor map");
      pushAddress(d, d.detail(r), in.operands[0]);
    }
    r.fn = fenceTensorMap;
    return true;
  }
  bool shared = in.has(Modifier::SharedCta) || in.has(Modifier::SharedCluster);
  r.aux = in.has(Modifier::Global) ? 2 : shared ? 1 : 3;
  r.fn = in.has(Modifier::Alias) ? nothing : fenceAsync;
  return true;
}

} // namespace

bool decodeFence(Decoder &d, const Instruction &in, Record &r) {
  switch (in.opcode) {
  case Opcode::Fence:
  case Opcode::Membar:
    r.aux = uint32_t(scopeOf(in));
    r.fn = fence;
    return true;
  case Opcode::FenceMbarrierInit:
    r.fn = fenceBarrierInit;
    return true;
  case Opcode::FenceProxy:
    return decodeProxy(d, in, r);
  case Opcode::GridDepControl:
    r.fn = in.has(Modifier::Wait) ? waitForGrids : nothing;
    return true;
  default:
    return false;
  }
}

} // namespace blockscale::emulator::machine
