//===- Move.cpp - mov, cvta, mapa, selections -----------------------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Float.h"
#include "Lanes.h"

#include <algorithm>

namespace blockscale::emulator::machine {
namespace {

struct Bits128 {
  uint64_t low, high;
};
struct CopyOp {
  template <typename T> T operator()(T a) const { return a; }
};

/// mov with a vector on one side. op[0] = whole, detail a = parts, aux = bits
/// of a part, aux2 = bits of the whole.
void copyPart(Exec &x, const Record &r, size_t i, bool pack) {
  unsigned part = r.aux / 8, whole = r.aux2 / 8;
  uint8_t *elements = x.at(r.detail->a[i]);
  uint8_t *full = x.at(r.op[0]);
  forLanes(x.mask, [&](unsigned lane) {
    uint8_t *inside = full + lane * whole + i * part;
    uint8_t *alone = elements + lane * part;
    std::memcpy(pack ? inside : alone, pack ? alone : inside, part);
  });
}
Step movePack(Exec &x, const Record &r) {
  // A destination that is also a source must not be read half written.
  alignas(16) uint8_t whole[32 * 16];
  unsigned part = r.aux / 8, bytes = r.aux2 / 8;
  for (size_t i = 0; i != r.detail->a.size(); ++i) {
    const uint8_t *element = x.at(r.detail->a[i]);
    for (unsigned lane = 0; lane != 32; ++lane)
      std::memcpy(whole + lane * bytes + i * part, element + lane * part, part);
  }
  uint8_t *d = x.at(r.op[0]);
  forLanes(x.mask, [&](unsigned lane) {
    std::memcpy(d + lane * bytes, whole + lane * bytes, bytes);
  });
  return Step::Next;
}
Step moveUnpack(Exec &x, const Record &r) {
  for (size_t i = 0; i != r.detail->a.size(); ++i)
    if (r.detail->a[i] != kNoSlot)
      copyPart(x, r, i, false);
  return Step::Next;
}
Step movePredicate(Exec &x, const Record &r) {
  x.setPredicate(r.op[0], x.predicate(r.op[1]));
  return Step::Next;
}
Step moveSlots(Exec &x, const Record &r) {
  for (size_t i = 0; i != r.detail->a.size(); ++i)
    std::memcpy(x.at(r.detail->a[i]), x.at(r.detail->b[i]), 128);
  return Step::Next;
}
/// Clocks advance with the warp's own instructions and the scheduler's turns.
Step moveClock(Exec &x, const Record &r) {
  uint64_t now = x.cluster->turn * 64 + x.warp->steps;
  if (r.aux2)
    now >>= 32;
  forLanes(x.mask, [&](unsigned lane) {
    if (r.aux == 64)
      x.reg<uint64_t>(r.op[0])[lane] = now;
    else
      x.reg<uint32_t>(r.op[0])[lane] = uint32_t(now);
  });
  return Step::Next;
}

bool isClock(SpecialRegister special) {
  switch (special) {
  case SpecialRegister::Clock:
  case SpecialRegister::ClockHi:
  case SpecialRegister::Clock64:
  case SpecialRegister::Globaltimer:
  case SpecialRegister::GlobaltimerLo:
  case SpecialRegister::GlobaltimerHi:
    return true;
  default:
    return false;
  }
}

bool moveVector(Decoder &d, const Instruction &in, Record &r) {
  const Operand &to = in.operands[0], &from = in.operands[1];
  bool pack = from.kind == OperandKind::Vector;
  const Operand &vector = pack ? from : to;
  unsigned bits = bitWidth(in.type());
  auto count = unsigned(vector.elements.size());
  if (count == 0 || bits % count || bits / count < 8)
    return d.refuse("vector does not divide the moved type");
  r.aux = bits / count;
  r.aux2 = bits;
  r.op[0] = pack ? d.destination(to, bits) : d.source(from, bits);
  Detail &detail = d.detail(r);
  for (const Operand &element : vector.elements)
    detail.a.push_back(pack ? d.source(element, r.aux)
                       : element.kind == OperandKind::Sink
                           ? kNoSlot
                           : d.destination(element, r.aux));
  r.fn = pack ? movePack : moveUnpack;
  if (count == 2 && pack)
    d.packs(detail.a[0], detail.a[1]);
  else if (count == 2)
    d.flow().path = Flow::Path::Unpack;
  return true;
}

bool move(Decoder &d, const Instruction &in, Record &r) {
  if (in.operands.size() != 2)
    return d.refuse("mov takes two operands");
  const Operand &from = in.operands[1];
  if (in.has(Modifier::V4) || in.has(Modifier::V2)) {
    Detail &detail = d.detail(r);
    for (size_t i = 0; i != in.operands[0].elements.size(); ++i) {
      Operand one = from;
      if (from.kind == OperandKind::Special)
        one.component = uint8_t(i);
      else if (from.kind == OperandKind::Vector && i < from.elements.size())
        one = from.elements[i];
      detail.a.push_back(d.destination(in.operands[0].elements[i], 32));
      detail.b.push_back(d.source(one, 32));
    }
    r.fn = moveSlots;
    return true;
  }
  if (in.type() == Type::Pred) {
    r.op[0] = d.predicateOut(in.operands[0]);
    r.op[1] = d.predicate(from);
    r.fn = movePredicate;
    return true;
  }
  if (from.kind == OperandKind::Vector ||
      in.operands[0].kind == OperandKind::Vector)
    return moveVector(d, in, r);
  unsigned bits = bitWidth(in.type());
  if (from.kind == OperandKind::Special && isClock(from.special)) {
    r.op[0] = d.destination(in.operands[0], bits);
    r.aux = bits;
    r.aux2 = from.special == SpecialRegister::ClockHi ||
             from.special == SpecialRegister::GlobaltimerHi;
    r.fn = moveClock;
    return true;
  }
  r.fn = bits == 128 ? map<CopyOp, Bits128, Bits128> : unaryBits<CopyOp>(bits);
  d.flow().path = Flow::Path::EachToItsOwn;
  return r.fn && plainOperands(d, in, r, bits, 1);
}

/// Adds (or subtracts) a window base. aux: 32 or 64 bits.
Step addBase(Exec &x, const Record &r) {
  uint64_t rank = r.aux2 ? uint64_t(x.cta->rank) << kRankShift : 0;
  forLanes(x.mask, [&](unsigned lane) {
    uint64_t value = r.aux == 64 ? x.reg<uint64_t>(r.op[1])[lane]
                                 : x.reg<uint32_t>(r.op[1])[lane];
    value += uint64_t(r.imm) + rank;
    if (r.aux == 64)
      x.reg<uint64_t>(r.op[0])[lane] = value;
    else
      x.reg<uint32_t>(r.op[0])[lane] = uint32_t(value);
  });
  return Step::Next;
}

uint64_t windowOf(const Instruction &in) {
  if (in.has(Modifier::Shared) || in.has(Modifier::SharedCta) ||
      in.has(Modifier::SharedCluster))
    return kSharedWindow;
  if (in.has(Modifier::Local))
    return kLocalWindow;
  if (in.has(Modifier::Param) || in.has(Modifier::ParamEntry))
    return kParamWindow;
  return in.has(Modifier::Const) ? kConstWindow : 0;
}

Step cvtaTo(Exec &x, const Record &r) {
  const uint64_t *from = x.reg<uint64_t>(r.op[1]);
  uint64_t *to = x.reg<uint64_t>(r.op[0]);
  auto window = uint64_t(r.imm);
  Step step = Step::Next;
  forLanes(x.mask, [&](unsigned lane) {
    if (step == Step::Fault)
      return;
    // LLVM converts a null pointer too; it stays null until it is used.
    if (window && (from[lane] < window || from[lane] - window >= kWindowSize) &&
        from[lane] != 0)
      step = x.fault(r, FindingKind::BadAddress,
                     "generic address is not in the state space of cvta.to",
                     int(lane), from[lane], Hazard::UndefinedArithmetic);
    else
      to[lane] = from[lane] - window;
  });
  return step;
}

bool cvta(Decoder &d, const Instruction &in, Record &r) {
  unsigned bits = bitWidth(in.type());
  if (bits != 64)
    return d.refuse("only 64-bit cvta is supported");
  r.op[0] = d.destination(in.operands[0], 64);
  r.op[1] = d.source(in.operands[1], 64);
  uint64_t window = windowOf(in);
  r.aux = 64;
  r.imm = int64_t(window);
  r.fn = in.has(Modifier::To) ? cvtaTo : addBase;
  return true;
}

/// A shared symbol's address carries the CTA's rank: done once per use.
bool sharedSymbol(Decoder &d, const Instruction &in, Record &r) {
  const Operand &from = in.operands[1];
  const Variable *variable = nullptr;
  if (from.symbol.scope == SymbolScope::Module)
    variable = &d.module().variables[from.symbol.index];
  else if (from.symbol.scope == SymbolScope::Function)
    variable = &d.currentFunction().variables[from.symbol.index];
  if (!variable || variable->space != Space::Shared)
    return false;
  r.aux = in.opcode == Opcode::Cvta ? 64 : bitWidth(in.type());
  r.aux2 = 1;
  r.imm = in.opcode == Opcode::Cvta ? int64_t(kSharedWindow) : 0;
  r.op[0] = d.destination(in.operands[0], r.aux);
  r.op[1] = d.source(from, r.aux);
  r.fn = addBase;
  return true;
}

/// A rank that the cluster does not have makes an address that nobody can use:
/// kernels map all lanes and guard the access.
Step mapa(Exec &x, const Record &r) {
  constexpr uint32_t kNoRank = 0xFF;
  const uint32_t *ranks = x.reg<uint32_t>(r.op[2]);
  forLanes(x.mask, [&](unsigned lane) {
    uint32_t rank = std::min(ranks[lane], kNoRank);
    uint64_t value = r.aux == 64 ? x.reg<uint64_t>(r.op[1])[lane]
                                 : x.reg<uint32_t>(r.op[1])[lane];
    uint64_t window = r.aux == 64 ? value & ~uint64_t(0xFFFFFFFF) : 0;
    uint64_t base = value & 0xFFFFFF;
    uint64_t result = window | base | uint64_t(rank) << kRankShift;
    if (r.aux == 64)
      x.reg<uint64_t>(r.op[0])[lane] = result;
    else
      x.reg<uint32_t>(r.op[0])[lane] = uint32_t(result);
  });
  return Step::Next;
}
Step getRank(Exec &x, const Record &r) {
  forLanes(x.mask, [&](unsigned lane) {
    uint64_t value = r.aux == 64 ? x.reg<uint64_t>(r.op[1])[lane]
                                 : x.reg<uint32_t>(r.op[1])[lane];
    x.reg<uint32_t>(r.op[0])[lane] = uint32_t(value) >> kRankShift;
  });
  return Step::Next;
}
Step isSpace(Exec &x, const Record &r) {
  const uint64_t *a = x.reg<uint64_t>(r.op[1]);
  uint32_t bits = 0;
  auto inside = [](uint64_t address, uint64_t window) {
    return address >= window && address - window < kWindowSize;
  };
  forLanes(x.mask, [&](unsigned lane) {
    uint64_t address = a[lane];
    bool result;
    if (r.imm == 0) // global: all that is no other window, parameters included
      result = !inside(address, kSharedWindow) &&
               !inside(address, kLocalWindow) && !inside(address, kConstWindow);
    else
      result = inside(address, uint64_t(r.imm));
    if (r.aux && result)
      result = ((address >> kRankShift) & 0xFF) == x.cta->rank;
    bits |= uint32_t(result) << lane;
  });
  x.setPredicate(r.op[0], bits);
  return Step::Next;
}

template <typename T> Step select(Exec &x, const Record &r) {
  T *d = x.reg<T>(r.op[0]);
  const T *a = x.reg<T>(r.op[1]), *b = x.reg<T>(r.op[2]);
  uint32_t p = x.predicate(r.op[3]);
  forLanes(x.mask,
           [&](unsigned lane) { d[lane] = p >> lane & 1 ? a[lane] : b[lane]; });
  return Step::Next;
}
template <typename T> struct SlctS {
  T operator()(T a, T b, int32_t c) const { return c >= 0 ? a : b; }
};
template <typename T> struct SlctF {
  T operator()(T a, T b, float c) const { return c >= 0 ? a : b; }
};

bool selection(Decoder &d, const Instruction &in, Record &r) {
  unsigned bits = bitWidth(in.type());
  if (in.opcode == Opcode::Selp) {
    r.fn = bits == 16   ? select<uint16_t>
           : bits == 32 ? select<uint32_t>
           : bits == 64 ? select<uint64_t>
                        : nullptr;
    if (!r.fn || !plainOperands(d, in, r, bits, 2))
      return false;
    r.op[3] = d.predicate(in.operands[3]);
    d.flow().path = Flow::Path::Choose;
    d.flow().parts = {r.op[1], r.op[2]};
    return true;
  }
  bool real = in.type(1) == Type::F32;
  if (bits == 64)
    r.fn = real ? map<SlctF<uint64_t>, uint64_t, uint64_t, uint64_t, float>
                : map<SlctS<uint64_t>, uint64_t, uint64_t, uint64_t, int32_t>;
  else if (bits == 32)
    r.fn = real ? map<SlctF<uint32_t>, uint32_t, uint32_t, uint32_t, float>
                : map<SlctS<uint32_t>, uint32_t, uint32_t, uint32_t, int32_t>;
  else
    r.fn = real ? map<SlctF<uint16_t>, uint16_t, uint16_t, uint16_t, float>
                : map<SlctS<uint16_t>, uint16_t, uint16_t, uint16_t, int32_t>;
  plainOperands(d, in, r, bits, 2);
  r.op[3] = d.source(in.operands[3], 32);
  d.flow().path = Flow::Path::Choose;
  d.flow().parts = {r.op[1], r.op[2]};
  return true;
}

} // namespace

bool decodeMove(Decoder &d, const Instruction &in, Record &r) {
  switch (in.opcode) {
  case Opcode::Mov:
    if (in.operands.size() == 2 && in.operands[1].kind == OperandKind::Symbol &&
        in.type() != Type::Pred && sharedSymbol(d, in, r))
      return true;
    return move(d, in, r);
  case Opcode::Cvta:
    if (in.operands[1].kind == OperandKind::Symbol && !in.has(Modifier::To) &&
        sharedSymbol(d, in, r))
      return true;
    return cvta(d, in, r);
  case Opcode::Selp:
  case Opcode::Slct:
    return selection(d, in, r);
  case Opcode::Mapa:
    r.aux = bitWidth(in.type());
    r.op[0] = d.destination(in.operands[0], r.aux);
    r.op[1] = d.source(in.operands[1], r.aux);
    r.op[2] = d.source(in.operands[2], 32);
    r.fn = mapa;
    return true;
  case Opcode::GetCtaRank:
    r.aux = bitWidth(in.type());
    r.op[0] = d.destination(in.operands[0], 32);
    r.op[1] = d.source(in.operands[1], r.aux);
    r.fn = getRank;
    return true;
  case Opcode::IsSpacep:
    r.op[0] = d.predicateOut(in.operands[0]);
    r.op[1] = d.source(in.operands[1], 64);
    r.imm = int64_t(windowOf(in));
    r.aux = in.has(Modifier::Shared) || in.has(Modifier::SharedCta);
    r.fn = isSpace;
    return true;
  default:
    return false;
  }
}

} // namespace blockscale::emulator::machine
