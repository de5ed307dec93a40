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

#include "../Run/Observer.h"
#include "Access.h"

namespace blockscale::emulator::machine {
namespace {

Step nothing(Exec &, const Record &) { return Step::Next; }

struct FenceRecord {
  Scope scope;
};
Step fence(Exec &x, const Record &r) {
  tell(*x.cluster, Fenced{x, Fenced::Memory, r.as<FenceRecord>().scope});
  return Step::Next;
}

Step fenceBarrierInit(Exec &x, const Record &) {
  tell(*x.cluster, Fenced{x, Fenced::BarrierInit});
  return Step::Next;
}

/// fence.proxy.async: the memories that it is for.
struct ProxyRecord {
  bool shared, global;
};
Step fenceAsync(Exec &x, const Record &r) {
  const auto &f = r.as<ProxyRecord>();
  tell(*x.cluster,
       Fenced{x, Fenced::ProxyAsync, Scope::Gpu, f.shared, f.global});
  return Step::Next;
}

/// fence.proxy.tensormap: acquire of a map, or release.
struct MapFenceRecord {
  bool acquires = false;
  AddressOperand map; ///< with acquires
};
Step fenceTensorMap(Exec &x, const Record &r) {
  const auto &f = r.as<MapFenceRecord>();
  Fenced fence{x, f.acquires ? Fenced::MapAcquire : Fenced::MapRelease};
  if (f.acquires)
    fence.address = laneAddress(x, f.map, x.firstLane());
  tell(*x.cluster, fence);
  return Step::Next;
}

Step waitForGrids(Exec &x, const Record &) {
  tell(*x.cluster, Fenced{x, Fenced::PreviousGrids});
  return Step::Next;
}

bool decodeProxy(Decoder &d, const Instruction &in, Record &r) {
  if (in.has(Modifier::TensormapGeneric)) {
    auto &f = d.record<MapFenceRecord>(r);
    f.acquires = in.has(Modifier::Acquire);
    if (f.acquires) {
      if (in.operands.empty())
        return d.refuse("acquire without the address of a tensor map");
      f.map = d.address(in.operands[0]);
    }
    r.fn = fenceTensorMap;
    return true;
  }
  bool shared = in.has(Modifier::SharedCta) || in.has(Modifier::SharedCluster);
  bool global = in.has(Modifier::Global);
  d.record<ProxyRecord>(r) = {!global, global || !shared};
  r.fn = in.has(Modifier::Alias) ? nothing : fenceAsync;
  return true;
}

} // namespace

bool decodeFence(Decoder &d, const Instruction &in, Record &r) {
  switch (in.opcode) {
  case Opcode::Fence:
  case Opcode::Membar:
    d.record<FenceRecord>(r).scope = scopeOf(in);
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
