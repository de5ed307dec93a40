//===- LoadStore.cpp - ld, st and their hints -----------------------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "LoadStore.h"
#include "../Run/Observer.h"
#include "Elements.h"

namespace blockscale::emulator::machine {
namespace {

using Shape = LoadStoreRecord;

uint64_t addressOf(Exec &x, const Shape &s, unsigned lane) {
  bool shared = s.where == Where::SharedCta || s.where == Where::SharedCluster;
  return shared ? laneShared(x, s.address, lane)
                : laneAddress(x, s.address, lane);
}

/// Host memory of each active lane.
struct LanePointers {
  uint8_t *data[32];
  uint8_t *valid[32]; ///< null outside shared memory; unset without `shared`
  bool shared = false, global = false; ///< what some lane accesses
  Cta *cta[32];                        ///< with `shared`; null elsewhere
  uint32_t offset[32];                 ///< with `shared`, in that CTA
  uint32_t globalLanes = 0;
  const Region *region = nullptr; ///< that all lanes access, if it is known
};

/// The common case: all lanes in the CTA's own shared memory, aligned, none
/// over an mbarrier. False if a lane needs a closer look.
bool sharedPointers(Exec &x, const Shape &s, Use use, LanePointers &out) {
  Cta &cta = *x.cta;
  uint32_t offsets[32], bytes = s.bytes();
  auto size = uint32_t(cta.shared.size());
  if (s.address.base == kNoSlot || s.address.wide || bytes > size)
    return false;
  const uint32_t *base = x.reg<uint32_t>(s.address.base);
  uint32_t shift =
      (cta.rank << kRankShift) + kSharedBase - uint32_t(s.address.imm);
  uint32_t bad = 0;
  for (unsigned lane = 0; lane != 32; ++lane) {
    uint32_t offset = base[lane] - shift;
    bool wrong = offset > size - bytes || offset & (bytes - 1);
    bad |= uint32_t(wrong) << lane;
    offsets[lane] = offset;
  }
  if (bad & x.mask)
    return false;
  if (use == Use::Write && !cta.barriers.empty()) {
    bool over = false;
    forLanes(x.mask, [&](unsigned lane) {
      for (uint32_t at = offsets[lane] / 8;
           at <= (offsets[lane] + bytes - 1) / 8; ++at)
        over |= cta.barrierAt[at] >= 0;
    });
    if (over)
      return false;
  }
  forLanes(x.mask, [&](unsigned lane) {
    out.data[lane] = cta.shared.data() + offsets[lane];
    out.valid[lane] = cta.valid.data() + offsets[lane];
    out.cta[lane] = &cta;
    out.offset[lane] = offsets[lane] + kSharedBase;
  });
  out.shared = true;
  return true;
}

/// The common case: all lanes in one buffer.
bool globalPointers(Exec &x, const Shape &s, Use use, LanePointers &out) {
  if (s.address.base == kNoSlot || !s.address.wide)
    return false;
  uint64_t bytes = s.bytes(), imm = uint64_t(s.address.imm);
  const uint64_t *base = x.reg<uint64_t>(s.address.base);
  const Region *region =
      x.cluster->grid.memory.find(base[x.firstLane()] + imm, bytes);
  if (!region || (use == Use::Write && !region->writable))
    return false;
  uint32_t bad = 0;
  uint64_t shift = region->base - imm, room = region->size - bytes;
  for (unsigned lane = 0; lane != 32; ++lane) {
    uint64_t offset = base[lane] - shift;
    bool wrong = offset > room || (offset + region->base) & (bytes - 1);
    bad |= uint32_t(wrong) << lane;
    out.data[lane] = region->data + (wrong ? 0 : offset);
  }
  out.global = !(bad & x.mask);
  out.globalLanes = x.mask;
  out.region = region;
  return out.global;
}

/// Resolves all active lanes; false after a report.
bool lanePointers(Exec &x, const Record &r, const Shape &s, Use use,
                  LanePointers &out) {
  bool shared = s.where == Where::SharedCta || s.where == Where::SharedCluster;
  if (shared && sharedPointers(x, s, use, out))
    return true;
  if ((s.where == Where::Global || s.where == Where::Generic) &&
      globalPointers(x, s, use, out))
    return true;
  out.globalLanes = 0;
  out.region = nullptr;
  for (uint32_t left = x.mask; left; left &= left - 1) {
    auto lane = unsigned(__builtin_ctz(left));
    Access access;
    if (!resolve(x, r, s.where, addressOf(x, s, lane), lane, s.bytes(), use,
                 access))
      return false;
    out.cta[lane] = access.cta;
    out.offset[lane] = access.offset;
    out.globalLanes |= uint32_t(access.global) << lane;
    out.data[lane] = access.data;
    out.valid[lane] = access.valid;
    out.shared |= access.valid != nullptr;
    out.global |= access.global;
  }
  return true;
}

/// Adds what a lane accesses, to the last range where they meet. `shift`: log2
/// of the bytes.
void addRange(Range *ranges, size_t &count, uint64_t address, unsigned lane,
              unsigned shift, bool write) {
  uint32_t bytes = 1u << shift;
  if (count) {
    Range &last = ranges[count - 1];
    bool isNext = last.lane < kSeveralLanes && last.laneShift == shift &&
                  last.lane + (last.bytes >> shift) == lane;
    if (last.address + last.bytes == address && isNext) {
      last.bytes += bytes;
      return;
    }
    // Lanes that store to one place mostly store one value, which is theirs.
    if (last.address == address && last.bytes == bytes) {
      last.lane = write ? kNoLane : kSeveralLanes;
      last.laneShift = kOneLane;
      return;
    }
  }
  ranges[count++] = {address, bytes, lane, shift};
}

void orderShared(Exec &x, const Shape &s, const LanePointers &at,
                 const Touch &touch) {
  unsigned shift = unsigned(__builtin_ctz(s.bytes()));
  uint32_t left = x.mask;
  while (left) {
    Cta *cta = at.cta[__builtin_ctz(left)];
    Range ranges[32];
    size_t count = 0;
    for (uint32_t rest = left; rest; rest &= rest - 1) {
      auto lane = unsigned(__builtin_ctz(rest));
      if (at.cta[lane] != cta)
        continue;
      left &= ~(1u << lane);
      if (cta)
        addRange(ranges, count,
                 uint64_t(cta->rank) << kRankShift | at.offset[lane], lane,
                 shift, touch.write);
    }
    if (count)
      tell(*x.cluster, SharedTouched{*x.warp, *cta, ranges, count, touch});
  }
}

void orderGlobal(Exec &x, const Shape &s, const LanePointers &at,
                 const Touch &touch) {
  unsigned shift = unsigned(__builtin_ctz(s.bytes()));
  Range ranges[32];
  size_t count = 0;
  forLanes(at.globalLanes, [&](unsigned lane) {
    addRange(ranges, count, addressOf(x, s, lane), lane, shift, touch.write);
  });
  size_t kept = 0;
  for (size_t i = 0; i != count; ++i)
    if (isTracked(*x.cluster, ranges[i].address, ranges[i].bytes))
      ranges[kept++] = ranges[i];
  if (kept)
    tell(*x.cluster, GlobalTouched{*x.warp, ranges, kept, touch});
}

/// Whether a store leaves memory, all of it written, as it is.
bool storesSame(Exec &x, const Shape &s, const LanePointers &at) {
  bool same = true;
  forLanes(x.mask, [&](unsigned lane) {
    const uint8_t *valid = at.shared ? at.valid[lane] : nullptr;
    same = same && !(valid && std::memchr(valid, 0, s.bytes()));
    for (unsigned i = 0; same && i != s.count; ++i)
      same =
          std::memcmp(at.data[lane] + i * s.element,
                      x.at(s.data[i]) + lane * s.registerBytes, s.element) == 0;
  });
  return same;
}

/// The common case of loads: data that the grid does not write, and that many
/// have read.
bool readsAsMany(const Exec &x, const Shape &s, const LanePointers &at) {
  if (!at.region || s.strong)
    return false;
  if (!at.region->isTracked())
    return true;
  const GridOrder &grid = *x.cluster->grid.memoryOrder;
  if (grid.met())
    return false;
  bool all = true;
  for (uint32_t left = x.mask; left && all; left &= left - 1) {
    const uint8_t *data = at.data[__builtin_ctz(left)];
    all = grid.isRead(*at.region, uint64_t(data - at.region->data), s.bytes());
  }
  return all;
}

/// Strict mode: checks the accesses of all lanes.
void orderLanes(Exec &x, const Record &r, const Shape &s,
                const LanePointers &at, Use use) {
  if (use == Use::Read && readsAsMany(x, s, at))
    return;
  Touch touch;
  touch.origin = x.origin(r, int(x.firstLane()));
  touch.write = use == Use::Write;
  touch.strong = s.strong;
  touch.scope = s.scope;
  touch.bytes = uint16_t(s.bytes());
  touch.nonCoherent = s.nonCoherent;
  if (touch.write && storesSame(x, s, at))
    touch.flags = PastAccess::Same;
  Sync sync;
  sync.reads = !touch.write;
  sync.writes = touch.write;
  sync.acquires = s.acquires;
  sync.releases = s.releases;
  sync.scope = touch.scope;
  auto synchronise = [&] {
    forLanes(x.mask, [&](unsigned lane) {
      Cta *cta = at.shared ? at.cta[lane] : nullptr;
      if (!cta && !(at.globalLanes >> lane & 1))
        return;
      uint64_t address =
          cta ? uint64_t(cta->rank) << kRankShift | at.offset[lane]
              : addressOf(x, s, lane);
      tell(*x.cluster, Synchronised{*x.warp, cta, address, sync});
    });
  };
  if (touch.strong && !touch.write)
    synchronise();
  if (at.shared)
    orderShared(x, s, at, touch);
  if (at.globalLanes)
    orderGlobal(x, s, at, touch);
  if (touch.strong && touch.write)
    synchronise();
}

/// Advice if two lanes store different values to one place.
void adviseLanes(Exec &x, const Record &r, const Shape &s,
                 const LanePointers &at) {
  auto differ = [&](unsigned a, unsigned b) {
    return std::any_of(s.data.begin(), s.data.end(), [&](Slot slot) {
      const uint8_t *lanes = x.at(slot);
      return std::memcmp(lanes + a * s.registerBytes,
                         lanes + b * s.registerBytes, s.element) != 0;
    });
  };
  for (uint32_t left = x.mask; left; left &= left - 1)
    for (uint32_t rest = left & (left - 1); rest; rest &= rest - 1) {
      auto a = unsigned(__builtin_ctz(left)), b = unsigned(__builtin_ctz(rest));
      if (at.data[a] == at.data[b] && differ(a, b))
        return reportHazard(*x.cluster, x.origin(r, int(b)),
                            Hazard::LanesDisagree, FindingKind::Race,
                            "lanes " + std::to_string(a) + " and " +
                                std::to_string(b) +
                                " store different values to the same place",
                            addressOf(x, s, b));
    }
}

/// Strict mode: the value of a strong access and what it means for order go
/// together, as for atomics.
AccessLocks::Set locksOf(Exec &x, const Shape &s, const LanePointers &at) {
  AccessLocks::Set set = 0;
  if (x.cluster->order && s.strong)
    forLanes(at.globalLanes, [&](unsigned lane) {
      set |= AccessLocks::of(addressOf(x, s, lane), s.bytes());
    });
  return set;
}

/// Whether one of `bytes` (a power of two) marks is zero.
bool anyUnwritten(const uint8_t *marks, unsigned bytes) {
  uint64_t all = ~uint64_t(0);
  if (bytes < 8) {
    for (unsigned i = 0; i != bytes; ++i)
      all &= marks[i] | ~uint64_t(0xFF);
    return ~all;
  }
  for (unsigned i = 0; i != bytes; i += 8) {
    uint64_t eight;
    std::memcpy(&eight, marks + i, 8);
    all &= eight;
  }
  return ~all;
}

Step load(Exec &x, const Record &r) {
  const auto &s = r.as<LoadStoreRecord>();
  if (loadPiece(x, r, s))
    return Step::Next;
  LanePointers from;
  if (!lanePointers(x, r, s, Use::Read, from))
    return Step::Fault;
  x.cluster->looks += s.strong && from.globalLanes;
  AccessLocks::Guard guard(x.cluster->grid.accesses, locksOf(x, s, from));
  if (x.cluster->order && (from.shared || from.globalLanes))
    orderLanes(x, r, s, from, Use::Read);
  uint32_t undefined = 0;
  if (from.shared)
    forLanes(x.mask, [&](unsigned lane) {
      if (from.valid[lane] && anyUnwritten(from.valid[lane], s.bytes()))
        undefined |= 1u << lane;
    });
  for (unsigned i = 0; i != s.count; ++i) {
    Slot slot = s.data[i];
    if (slot == kNoSlot)
      continue;
    unsigned offset = i * s.element;
    if (s.registerBytes == s.element &&
        moveElement(s.element, x.mask, from.data, offset, x.at(slot), true))
      continue;
    forLanes(x.mask, [&](unsigned lane) {
      extendInto(x.at(slot) + lane * s.registerBytes, s.registerBytes,
                 from.data[lane] + offset, s.element, s.sign);
    });
  }
  if (undefined || x.warp->tainted)
    for (Slot slot : s.data)
      if (slot != kNoSlot)
        x.setUndefined(slot, undefined);
  return Step::Next;
}

/// Lanes that store a value which was never written.
uint32_t undefinedData(Exec &x, const Shape &s) {
  uint32_t undefined = 0;
  if (x.warp->tainted)
    for (Slot slot : s.data)
      undefined |= x.undefined(slot);
  return undefined & x.mask;
}

Step store(Exec &x, const Record &r) {
  const auto &s = r.as<LoadStoreRecord>();
  if (storePiece(x, r, s))
    return Step::Next;
  LanePointers to;
  if (!lanePointers(x, r, s, Use::Write, to))
    return Step::Fault;
  AccessLocks::Guard guard(x.cluster->grid.accesses, locksOf(x, s, to));
  if (x.cluster->order && (to.shared || to.globalLanes))
    orderLanes(x, r, s, to, Use::Write);
  if (x.cluster->order && x.cluster->grid.options.advice)
    adviseLanes(x, r, s, to);
  ++x.cluster->writes;
  uint32_t undefined = undefinedData(x, s);
  if (undefined && to.global && !to.shared) {
    auto lane = unsigned(__builtin_ctz(undefined));
    return x.fault(r, FindingKind::Uninitialised,
                   "a value that depends on a register or memory that was "
                   "never written is stored to global memory",
                   int(lane), addressOf(x, s, lane));
  }
  for (unsigned i = 0; i != s.count; ++i) {
    Slot slot = s.data[i];
    unsigned offset = i * s.element;
    if (s.registerBytes == s.element &&
        moveElement(s.element, x.mask, to.data, offset, x.at(slot), false))
      continue;
    forLanes(x.mask, [&](unsigned lane) {
      storePart(to.data[lane] + offset, x.at(slot) + lane * s.registerBytes,
                s.element);
    });
  }
  if (to.shared)
    forLanes(x.mask, [&](unsigned lane) {
      if (to.valid[lane])
        std::memset(to.valid[lane], undefined >> lane & 1 ? 0 : 0xFF,
                    s.bytes());
    });
  return Step::Next;
}

Step nothing(Exec &, const Record &) { return Step::Next; }

/// createpolicy: hints change nothing here.
struct PolicyRecord {
  Slot to;
};
Step createPolicy(Exec &x, const Record &r) {
  uint64_t *to = x.reg<uint64_t>(r.as<PolicyRecord>().to);
  forLanes(x.mask, [&](unsigned lane) { to[lane] = 0; });
  return Step::Next;
}

unsigned vectorCount(const Instruction &in) {
  return in.has(Modifier::V2)   ? 2
         : in.has(Modifier::V4) ? 4
         : in.has(Modifier::V8) ? 8
                                : 1;
}

void decodeSemantics(const Instruction &in, Shape &s) {
  s.acquires = in.has(Modifier::Acquire);
  s.releases = in.has(Modifier::Release);
  s.strong = s.acquires || s.releases || in.has(Modifier::Relaxed) ||
             in.has(Modifier::Volatile) || in.has(Modifier::Mmio);
  s.nonCoherent = in.has(Modifier::Nc) || in.has(Modifier::ProxyReadonly);
  s.scope = scopeOf(in);
}

/// ld.param and st.param of a call's own parameters are lane-local memory.
Where paramWhere(Decoder &d, const Instruction &in, const Operand &address) {
  Where where = whereOf(in);
  if (where != Where::Param)
    return where;
  bool ofKernel =
      d.currentFunction().isEntry &&
      (!address.symbol || address.symbol.scope == SymbolScope::Parameter);
  return ofKernel ? Where::Param : Where::Local;
}

bool loadStore(Decoder &d, const Instruction &in, Record &r, bool isLoad) {
  if (in.has(Modifier::Unified))
    return d.refuse("'.unified' is not supported");
  const Operand &address = in.operands[isLoad ? 1 : 0];
  const Operand &data = in.operands[isLoad ? 0 : 1];
  Type type = in.type();
  unsigned element = bitWidth(type) / 8, count = vectorCount(in);
  if (element == 0)
    return d.refuse("unsupported type");
  auto &s = d.record<LoadStoreRecord>(r);
  s.address = d.address(address);
  d.flow().sink = true;
  unsigned width = 0;
  std::vector<Slot> slots;
  auto add = [&](const Operand &one) {
    if (one.kind == OperandKind::Sink) {
      slots.push_back(kNoSlot);
      return;
    }
    unsigned bits = element * 8;
    if (one.kind == OperandKind::Register)
      bits = d.currentFunction().registers[one.reg].width();
    if (width && width != bits / 8)
      d.refuse("registers of different widths in one vector");
    width = bits / 8;
    if (isLoad) {
      slots.push_back(d.destination(one, bits));
    } else {
      // Data pass their definedness on to shared memory; only the address
      // must be defined.
      size_t before = d.flow().sources.size();
      slots.push_back(d.source(one, bits));
      d.storesData(before);
    }
  };
  auto addStoreSafe = [&](const Operand &one) {
    if (!isLoad && one.kind != OperandKind::Register) {
      if (width == 0)
        width = element;
      slots.push_back(d.source(one, width * 8));
      return;
    }
    add(one);
  };
  if (data.kind == OperandKind::Vector) {
    // Immediates take the width of the registers beside them.
    for (const Operand &one : data.elements)
      if (one.kind == OperandKind::Register && !width)
        width = d.currentFunction().registers[one.reg].width() / 8;
    for (const Operand &one : data.elements)
      addStoreSafe(one);
  } else {
    addStoreSafe(data);
  }
  if (slots.size() != count)
    return d.refuse("vector length does not match");
  s.data = d.list(slots);
  s.element = uint8_t(element);
  s.count = uint8_t(count);
  s.registerBytes = uint8_t(width);
  s.sign = isSigned(type);
  s.where = paramWhere(d, in, address);
  decodeSemantics(in, s);
  r.fn = isLoad ? load : store;
  return true;
}

} // namespace

bool decodeMemory(Decoder &d, const Instruction &in, Record &r) {
  switch (in.opcode) {
  // Over one device a multimem address is that of its memory, and a reduction
  // is of one value.
  case Opcode::Ld:
  case Opcode::Ldu:
  case Opcode::MultimemLdReduce:
    return loadStore(d, in, r, true);
  case Opcode::St:
  case Opcode::MultimemSt:
    return loadStore(d, in, r, false);
  case Opcode::Prefetch:
    if (in.has(Modifier::L1) && whereOf(in) == Where::Global) {
      d.record<PrefetchRecord>(r).address = d.address(in.operands.front());
      d.flow().sink = true;
    }
    r.fn = nothing;
    return true;
  case Opcode::Prefetchu:
  case Opcode::ApplyPriority:
  case Opcode::CpAsyncBulkPrefetch:
  case Opcode::CpAsyncBulkPrefetchTensor:
    r.fn = nothing;
    return true;
  case Opcode::CreatePolicy:
    d.record<PolicyRecord>(r).to = d.destination(in.operands[0], 64);
    r.fn = createPolicy;
    return true;
  default:
    return false;
  }
}

} // namespace blockscale::emulator::machine
