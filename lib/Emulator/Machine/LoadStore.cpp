//===- LoadStore.cpp - ld, st and their hints -----------------------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Access.h"

namespace blockscale::emulator::machine {
namespace {

/// Record::aux of loads and stores: element bytes | count << 8 | signed << 16 |
/// wide base << 17; aux2: Where | register bytes << 8.
struct Shape {
  unsigned element, count, registerBytes;
  bool sign, wide;
  Where where;
  unsigned bytes() const { return element * count; }
};
Shape shapeOf(const Record &r) {
  return {r.aux & 255,           r.aux >> 8 & 255,      r.aux2 >> 8 & 255,
          bool(r.aux >> 16 & 1), bool(r.aux >> 17 & 1), Where(r.aux2 & 255)};
}

uint64_t addressOf(Exec &x, const Record &r, const Shape &s, unsigned lane) {
  uint64_t address = laneAddress(x, r.op[0], s.wide, r.imm, lane);
  bool shared = s.where == Where::SharedCta || s.where == Where::SharedCluster;
  if (shared) {
    address = uint32_t(address);
    if (r.op[0] == kNoSlot)
      address |= x.cta->rank << kRankShift;
  }
  return address;
}

/// Sign- or zero-extends an element into a wider register.
void extendInto(uint8_t *to, unsigned width, const uint8_t *from,
                unsigned bytes, bool sign) {
  uint8_t fill = sign && from[bytes - 1] & 0x80 ? 0xFF : 0;
  unsigned copied = std::min(bytes, width);
  std::memcpy(to, from, copied);
  if (width > bytes)
    std::memset(to + bytes, fill, width - bytes);
}

Step load(Exec &x, const Record &r) {
  Shape s = shapeOf(r);
  uint32_t undefined = 0;
  for (uint32_t left = x.mask; left; left &= left - 1) {
    auto lane = unsigned(__builtin_ctz(left));
    Access access;
    if (!resolve(x, r, s.where, addressOf(x, r, s, lane), lane, s.bytes(),
                 Use::Read, access))
      return Step::Fault;
    if (access.valid && std::memchr(access.valid, 0, s.bytes()))
      undefined |= 1u << lane;
    for (unsigned i = 0; i != s.count; ++i) {
      Slot slot = r.detail->a[i];
      if (slot != kNoSlot)
        extendInto(x.at(slot) + lane * s.registerBytes, s.registerBytes,
                   access.data + i * s.element, s.element, s.sign);
    }
  }
  if (undefined || x.warp->tainted)
    for (Slot slot : r.detail->a)
      if (slot != kNoSlot)
        x.setUndefined(slot, undefined);
  return Step::Next;
}

Step store(Exec &x, const Record &r) {
  Shape s = shapeOf(r);
  for (uint32_t left = x.mask; left; left &= left - 1) {
    auto lane = unsigned(__builtin_ctz(left));
    Access access;
    if (!resolve(x, r, s.where, addressOf(x, r, s, lane), lane, s.bytes(),
                 Use::Write, access))
      return Step::Fault;
    bool defined = true;
    for (unsigned i = 0; i != s.count; ++i) {
      Slot slot = r.detail->a[i];
      if (x.warp->tainted && x.undefined(slot) >> lane & 1)
        defined = false;
      std::memcpy(access.data + i * s.element,
                  x.at(slot) + lane * s.registerBytes, s.element);
    }
    if (!defined && access.global)
      return x.fault(r, FindingKind::Uninitialised,
                     "a value read from shared or tensor memory that was never "
                     "written is stored to global memory",
                     int(lane), addressOf(x, r, s, lane));
    markWritten(access, s.bytes(), defined);
  }
  return Step::Next;
}

Step nothing(Exec &, const Record &) { return Step::Next; }

unsigned vectorCount(const Instruction &in) {
  return in.has(Modifier::V2)   ? 2
         : in.has(Modifier::V4) ? 4
         : in.has(Modifier::V8) ? 8
                                : 1;
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
  bool wide = true;
  r.op[0] = d.address(address, r.imm, wide);
  d.flow().sink = true;
  unsigned width = 0;
  Detail &detail = d.detail(r);
  auto add = [&](const Operand &one) {
    if (one.kind == OperandKind::Sink) {
      detail.a.push_back(kNoSlot);
      return;
    }
    unsigned bits = element * 8;
    if (one.kind == OperandKind::Register)
      bits = d.currentFunction().registers[one.reg].width();
    if (width && width != bits / 8)
      d.refuse("registers of different widths in one vector");
    width = bits / 8;
    if (isLoad) {
      detail.a.push_back(d.destination(one, bits));
    } else {
      // Data pass their definedness on to shared memory; only the address
      // must be defined.
      detail.a.push_back(d.source(one, bits));
      d.flow().sources.pop_back();
    }
  };
  auto addStoreSafe = [&](const Operand &one) {
    if (!isLoad && one.kind != OperandKind::Register) {
      if (width == 0)
        width = element;
      detail.a.push_back(d.source(one, width * 8));
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
  if (detail.a.size() != count)
    return d.refuse("vector length does not match");
  r.aux = element | count << 8 | uint32_t(isSigned(type)) << 16 |
          uint32_t(wide) << 17;
  r.aux2 = uint32_t(paramWhere(d, in, address)) | width << 8;
  r.fn = isLoad ? load : store;
  return true;
}

} // namespace

bool decodeMemory(Decoder &d, const Instruction &in, Record &r) {
  switch (in.opcode) {
  case Opcode::Ld:
  case Opcode::Ldu:
    return loadStore(d, in, r, true);
  case Opcode::St:
    return loadStore(d, in, r, false);
  case Opcode::Prefetch:
  case Opcode::Prefetchu:
  case Opcode::ApplyPriority:
  case Opcode::Fence:
  case Opcode::FenceProxy:
  case Opcode::FenceMbarrierInit:
  case Opcode::Membar:
  case Opcode::GridDepControl:
  case Opcode::CpAsyncBulkPrefetch:
  case Opcode::CpAsyncBulkPrefetchTensor:
    r.fn = nothing;
    return true;
  case Opcode::CreatePolicy:
    r.op[0] = d.destination(in.operands[0], 64);
    r.fn = [](Exec &x, const Record &r) {
      forLanes(x.mask,
               [&](unsigned lane) { x.reg<uint64_t>(r.op[0])[lane] = 0; });
      return Step::Next;
    };
    return true;
  default:
    return false;
  }
}

} // namespace blockscale::emulator::machine
