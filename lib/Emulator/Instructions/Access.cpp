//===- Access.cpp - bounds, alignment and state spaces --------------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Access.h"
#include "../Run/Observer.h"

#include <algorithm>

namespace blockscale::emulator::machine {

const Region *Memory::find(uint64_t address, uint64_t bytes) const {
  auto it = std::upper_bound(
      regions.begin(), regions.end(), address,
      [](uint64_t value, const Region &region) { return value < region.base; });
  if (it == regions.begin())
    return nullptr;
  const Region &region = *std::prev(it);
  uint64_t offset = address - region.base;
  return offset <= region.size && bytes <= region.size - offset ? &region
                                                                : nullptr;
}

Where whereOf(const Instruction &in) {
  for (Modifier modifier : in.modifiers)
    switch (modifier) {
    case Modifier::Global:
      return Where::Global;
    case Modifier::Const:
      return Where::Const;
    case Modifier::Shared:
    case Modifier::SharedCta:
      return Where::SharedCta;
    case Modifier::SharedCluster:
      return Where::SharedCluster;
    case Modifier::Local:
      return Where::Local;
    case Modifier::Param:
    case Modifier::ParamEntry:
    case Modifier::ParamFunc:
      return Where::Param;
    default:
      break;
    }
  return Where::Generic;
}

Scope scopeOf(const Instruction &in) {
  return in.has(Modifier::Cta)       ? Scope::Cta
         : in.has(Modifier::Cluster) ? Scope::Cluster
                                     : Scope::Gpu;
}

Cta *sharedCta(Exec &x, const Record &r, Where where, uint32_t address,
               unsigned lane) {
  uint32_t rank = address >> kRankShift;
  if (rank >= x.cluster->ctas.size()) {
    x.fault(r, FindingKind::BadAddress,
            "shared address of rank " + std::to_string(rank) +
                " in a cluster of " + std::to_string(x.cluster->ctas.size()),
            int(lane), address, Hazard::ExitedCta);
    return nullptr;
  }
  if (where == Where::SharedCta && rank != x.cta->rank) {
    x.fault(r, FindingKind::BadAddress,
            "shared::cta access to the shared memory of rank " +
                std::to_string(rank),
            int(lane), address);
    return nullptr;
  }
  Cta *cta = x.cluster->ctas[rank].get();
  if (cta != x.cta && cta->done()) {
    x.fault(r, FindingKind::BadAddress,
            "shared memory of rank " + std::to_string(rank) +
                ", whose CTA has exited",
            int(lane), address, Hazard::ExitedCta);
    return nullptr;
  }
  return cta;
}

namespace {

bool misaligned(Exec &x, const Record &r, uint64_t address, unsigned lane,
                unsigned align) {
  if (address % align == 0)
    return false;
  x.fault(r, FindingKind::Misaligned,
          "address is not a multiple of " + std::to_string(align), int(lane),
          address);
  return true;
}

bool outside(Exec &x, const Record &r, const char *what, uint64_t address,
             unsigned lane, unsigned bytes) {
  x.fault(r, FindingKind::OutOfBounds,
          std::to_string(bytes) + " bytes outside " + what, int(lane), address);
  return false;
}

bool resolveShared(Exec &x, const Record &r, Where where, uint64_t address,
                   unsigned lane, unsigned bytes, Use use, Access &out) {
  auto low = uint32_t(address);
  Cta *cta = sharedCta(x, r, where, low, lane);
  if (!cta)
    return false;
  uint32_t offset = low & 0xFFFFFF;
  if (offset < kSharedBase || offset - kSharedBase + bytes > cta->shared.size())
    return outside(x, r, "the shared memory of the CTA", address, lane, bytes);
  out.cta = cta;
  out.offset = offset;
  out.data = cta->shared.data() + (offset - kSharedBase);
  out.valid = cta->valid.data() + (offset - kSharedBase);
  if (use == Use::Write && !cta->barriers.empty())
    for (uint32_t at = offset / 8; at <= (offset + bytes - 1) / 8; ++at)
      if (MBarrier *barrier = barrierAt(*cta, at * 8, false))
        if (barrier->live()) {
          x.fault(r, FindingKind::MBarrier,
                  "store over the bytes of a live mbarrier", int(lane), address,
                  Hazard::StoreOverBarrier);
          return false;
        }
  return true;
}

bool resolveGlobal(Exec &x, const Record &r, uint64_t address, unsigned lane,
                   unsigned bytes, Use use, Access &out) {
  Grid &grid = x.cluster->grid;
  if (address >= kParamWindow && address - kParamWindow < kWindowSize) {
    uint64_t offset = address - kParamWindow;
    if (use == Use::Write) {
      x.fault(r, FindingKind::ReadOnly, "store to a kernel parameter",
              int(lane), address);
      return false;
    }
    if (offset + bytes > grid.memory.params.size())
      return outside(x, r, "the kernel parameters", address, lane, bytes);
    out.data = grid.memory.params.data() + offset;
    return true;
  }
  const Region *region = grid.memory.find(address, bytes);
  if (!region)
    return outside(x, r, "every global buffer", address, lane, bytes);
  if (use == Use::Write && !region->writable) {
    x.fault(r, FindingKind::ReadOnly, "store to a read-only buffer", int(lane),
            address);
    return false;
  }
  out.data = region->data + (address - region->base);
  out.global = true;
  return true;
}

bool resolveConst(Exec &x, const Record &r, uint64_t offset, unsigned lane,
                  unsigned bytes, Use use, Access &out) {
  uint64_t size = x.cluster->program().constBytes.size();
  if (use == Use::Write) {
    x.fault(r, FindingKind::ReadOnly, "store to constant memory", int(lane),
            offset);
    return false;
  }
  if (offset > size || bytes > size - offset)
    return outside(x, r, "constant memory", offset, lane, bytes);
  out.data = x.cluster->grid.memory.constants + offset;
  return true;
}

bool resolveLocal(Exec &x, const Record &r, uint64_t offset, unsigned lane,
                  unsigned bytes, Access &out) {
  uint32_t size = x.cluster->program().localBytes;
  if (offset > size || bytes > size - offset)
    return outside(x, r, "local memory", offset, lane, bytes);
  out.data = x.warp->local.data() + size_t(lane) * size + offset;
  return true;
}

} // namespace

bool resolve(Exec &x, const Record &r, Where where, uint64_t address,
             unsigned lane, unsigned bytes, Use use, Access &out,
             unsigned align) {
  if (misaligned(x, r, address, lane, align ? align : bytes))
    return false;
  x.cluster->writes += use == Use::Write;
  if (where == Where::Generic) {
    auto inside = [&](uint64_t window) {
      return address >= window && address - window < kWindowSize;
    };
    if (inside(kSharedWindow))
      return resolveShared(x, r, Where::SharedCluster, address - kSharedWindow,
                           lane, bytes, use, out);
    if (inside(kLocalWindow))
      return resolveLocal(x, r, address - kLocalWindow, lane, bytes, out);
    if (inside(kConstWindow))
      return resolveConst(x, r, address - kConstWindow, lane, bytes, use, out);
    return resolveGlobal(x, r, address, lane, bytes, use, out);
  }
  switch (where) {
  case Where::SharedCta:
  case Where::SharedCluster:
    return resolveShared(x, r, where, address, lane, bytes, use, out);
  case Where::Local:
    return resolveLocal(x, r, address, lane, bytes, out);
  case Where::Const:
    return resolveConst(x, r, address, lane, bytes, use, out);
  case Where::Param:
    return resolveGlobal(x, r, kParamWindow + address, lane, bytes, use, out);
  default:
    return resolveGlobal(x, r, address, lane, bytes, use, out);
  }
}

void touchLane(Exec &x, const Record &r, unsigned lane, const Access &access,
               uint64_t address, unsigned bytes, Touch touch) {
  if (!x.cluster->order)
    return;
  touch.origin = x.origin(r, int(lane));
  Range range{address, bytes, touch.collective ? kNoLane : lane};
  if (access.cta) {
    range.address = uint64_t(access.cta->rank) << kRankShift | access.offset;
    tell(*x.cluster, SharedTouched{*x.warp, *access.cta, &range, 1, touch});
  } else if (access.global && isTracked(*x.cluster, address, bytes)) {
    tell(*x.cluster, GlobalTouched{*x.warp, &range, 1, touch});
  }
}

void touchRanges(Exec &x, const Record &r, unsigned lane, Cta &cta,
                 std::vector<Range> &ranges, Touch touch) {
  touch.origin = x.origin(r, int(lane));
  for (Range &range : ranges) {
    range.address |= uint64_t(cta.rank) << kRankShift;
    range.lane = lane;
  }
  tell(*x.cluster,
       SharedTouched{*x.warp, cta, ranges.data(), ranges.size(), touch});
}

bool isTracked(const Cluster &cluster, uint64_t address, uint64_t bytes) {
  const Region *region = cluster.grid.memory.find(address, bytes);
  return region && region->isTracked();
}

void markWritten(const Access &access, unsigned bytes, bool defined) {
  if (access.valid)
    std::memset(access.valid, defined ? 0xFF : 0, bytes);
}

MBarrier *barrierAt(Cta &cta, uint32_t offset, bool create) {
  size_t index = (offset - kSharedBase) / 8;
  if (offset < kSharedBase || index >= cta.barrierAt.size())
    return nullptr;
  int16_t &entry = cta.barrierAt[index];
  if (entry < 0 && create) {
    entry = int16_t(cta.barriers.size());
    cta.barriers.emplace_back();
  }
  return entry < 0 ? nullptr : &cta.barriers[size_t(entry)];
}

} // namespace blockscale::emulator::machine
