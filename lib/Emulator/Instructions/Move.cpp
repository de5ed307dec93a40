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

/// mov with a vector on one side.
struct PartsRecord {
  Slot whole = kNoSlot;
  Slots parts;
  unsigned partBytes = 0, wholeBytes = 0;
};
Step movePack(Exec &x, const Record &r) {
  const auto &m = r.as<PartsRecord>();
  // A destination that is also a source must not be read half written.
  alignas(16) uint8_t whole[32 * 16];
  unsigned part = m.partBytes, bytes = m.wholeBytes;
  for (size_t i = 0; i != m.parts.size(); ++i) {
    const uint8_t *element = x.at(m.parts[i]);
    for (unsigned lane = 0; lane != 32; ++lane)
      std::memcpy(whole + lane * bytes + i * part, element + lane * part, part);
  }
  uint8_t *d = x.at(m.whole);
  forLanes(x.mask, [&](unsigned lane) {
    std::memcpy(d + lane * bytes, whole + lane * bytes, bytes);
  });
  return Step::Next;
}
Step moveUnpack(Exec &x, const Record &r) {
  const auto &m = r.as<PartsRecord>();
  unsigned part = m.partBytes, bytes = m.wholeBytes;
  const uint8_t *whole = x.at(m.whole);
  for (size_t i = 0; i != m.parts.size(); ++i) {
    if (m.parts[i] == kNoSlot)
      continue;
    uint8_t *element = x.at(m.parts[i]);
    forLanes(x.mask, [&](unsigned lane) {
      std::memcpy(element + lane * part, whole + lane * bytes + i * part, part);
    });
  }
  return Step::Next;
}
Step movePredicate(Exec &x, const Record &r) {
  const auto &alu = r.as<AluRecord>();
  x.setPredicate(alu.to, x.predicate(alu.from[0]));
  return Step::Next;
}
/// The special register that is a predicate, a number for each lane.
Step movePredicateOfNumber(Exec &x, const Record &r) {
  const auto &alu = r.as<AluRecord>();
  uint32_t set = 0;
  forLanes(x.mask, [&](unsigned lane) {
    set |= uint32_t(wordOf(x, alu.from[0], 32, lane) != 0) << lane;
  });
  x.setPredicate(alu.to, set);
  return Step::Next;
}
/// Special registers of several components, to as many registers.
struct VectorRecord {
  Slots to, from;
};
Step moveSlots(Exec &x, const Record &r) {
  const auto &m = r.as<VectorRecord>();
  for (size_t i = 0; i != m.to.size(); ++i)
    std::memcpy(x.at(m.to[i]), x.at(m.from[i]), 128);
  return Step::Next;
}

struct ClockRecord {
  Slot to;
  unsigned bits;
  bool high; ///< the upper half of the time
};
/// Clocks advance with the warp's own instructions and the scheduler's turns.
Step moveClock(Exec &x, const Record &r) {
  const auto &m = r.as<ClockRecord>();
  uint64_t now = x.cluster->turn * 64 + x.warp->steps;
  if (m.high)
    now >>= 32;
  forLanes(x.mask, [&](unsigned lane) { setWord(x, m.to, m.bits, lane, now); });
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
  auto &m = d.record<PartsRecord>(r);
  m.partBytes = bits / count / 8;
  m.wholeBytes = bits / 8;
  m.whole = pack ? d.destination(to, bits) : d.source(from, bits);
  m.parts = d.slots(vector, bits / count, !pack);
  r.fn = pack ? movePack : moveUnpack;
  if (count == 2 && pack)
    d.packs(m.parts[0], m.parts[1]);
  else if (count == 2)
    d.unpacks(m.parts[0], m.parts[1]);
  return true;
}

bool move(Decoder &d, const Instruction &in, Record &r) {
  if (in.operands.size() != 2)
    return d.refuse("mov takes two operands");
  const Operand &from = in.operands[1];
  if (in.has(Modifier::V4) || in.has(Modifier::V2)) {
    std::vector<Slot> sources;
    for (size_t i = 0; i != in.operands[0].elements.size(); ++i) {
      Operand one = from;
      if (from.kind == OperandKind::Special)
        one.component = uint8_t(i);
      else if (from.kind == OperandKind::Vector && i < from.elements.size())
        one = from.elements[i];
      sources.push_back(d.source(one, 32));
    }
    auto &m = d.record<VectorRecord>(r);
    m.from = d.list(sources);
    m.to = d.slots(in.operands[0], 32, true);
    r.fn = moveSlots;
    return true;
  }
  if (in.type() == Type::Pred) {
    auto &alu = d.record<AluRecord>(r);
    alu.to = d.predicateOut(in.operands[0]);
    bool special = from.kind == OperandKind::Special;
    alu.from[0] = special ? d.source(from, 32) : d.predicate(from);
    r.fn = special ? movePredicateOfNumber : movePredicate;
    return true;
  }
  if (from.kind == OperandKind::Vector ||
      in.operands[0].kind == OperandKind::Vector)
    return moveVector(d, in, r);
  unsigned bits = bitWidth(in.type());
  if (from.kind == OperandKind::Special && isClock(from.special)) {
    auto &m = d.record<ClockRecord>(r);
    m.to = d.destination(in.operands[0], bits);
    m.bits = bits;
    m.high = from.special == SpecialRegister::ClockHi ||
             from.special == SpecialRegister::GlobaltimerHi;
    r.fn = moveClock;
    return true;
  }
  r.fn = bits == 128 ? map<CopyOp, Bits128, Bits128> : unaryBits<CopyOp>(bits);
  d.flow().path = Flow::Path::EachToItsOwn;
  return r.fn && plainOperands(d, in, r, bits, 1);
}

/// Addresses between the generic space and a window of it.
struct WindowRecord {
  Slot to, from;
  unsigned bits;
  bool addsRank; ///< of the own CTA
  uint64_t window;
};
Step addBase(Exec &x, const Record &r) {
  const auto &m = r.as<WindowRecord>();
  uint64_t base =
      m.window + (m.addsRank ? uint64_t(x.cta->rank) << kRankShift : 0);
  forLanes(x.mask, [&](unsigned lane) {
    setWord(x, m.to, m.bits, lane, wordOf(x, m.from, m.bits, lane) + base);
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
  const auto &m = r.as<WindowRecord>();
  const uint64_t *from = x.reg<uint64_t>(m.from);
  uint64_t *to = x.reg<uint64_t>(m.to);
  uint64_t window = m.window;
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
  auto &m = d.record<WindowRecord>(r);
  m.to = d.destination(in.operands[0], 64);
  m.from = d.source(in.operands[1], 64);
  m.bits = 64;
  m.window = windowOf(in);
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
  bool isGeneric = in.opcode == Opcode::Cvta;
  auto &m = d.record<WindowRecord>(r);
  m.bits = isGeneric ? 64 : bitWidth(in.type());
  m.addsRank = true;
  m.window = isGeneric ? kSharedWindow : 0;
  m.to = d.destination(in.operands[0], m.bits);
  m.from = d.source(from, m.bits);
  r.fn = addBase;
  return true;
}

/// mapa and getctarank.
struct RankRecord {
  Slot to, from;
  Slot rank; ///< of mapa
  unsigned bits;
};

/// A rank that the cluster does not have makes an address that nobody can use:
/// kernels map all lanes and guard the access.
Step mapa(Exec &x, const Record &r) {
  constexpr uint32_t kNoRank = 0xFF;
  const auto &m = r.as<RankRecord>();
  const uint32_t *ranks = x.reg<uint32_t>(m.rank);
  forLanes(x.mask, [&](unsigned lane) {
    uint32_t rank = std::min(ranks[lane], kNoRank);
    uint64_t value = wordOf(x, m.from, m.bits, lane);
    uint64_t window = m.bits == 64 ? value & ~uint64_t(0xFFFFFFFF) : 0;
    uint64_t base = value & 0xFFFFFF;
    setWord(x, m.to, m.bits, lane,
            window | base | uint64_t(rank) << kRankShift);
  });
  return Step::Next;
}
Step getRank(Exec &x, const Record &r) {
  const auto &m = r.as<RankRecord>();
  forLanes(x.mask, [&](unsigned lane) {
    x.reg<uint32_t>(m.to)[lane] =
        uint32_t(wordOf(x, m.from, m.bits, lane)) >> kRankShift;
  });
  return Step::Next;
}

struct SpaceRecord {
  Slot to, from;
  bool ownCta;     ///< only shared memory of the own CTA counts
  uint64_t window; ///< 0 for global
};
Step isSpace(Exec &x, const Record &r) {
  const auto &m = r.as<SpaceRecord>();
  const uint64_t *a = x.reg<uint64_t>(m.from);
  uint32_t bits = 0;
  auto inside = [](uint64_t address, uint64_t window) {
    return address >= window && address - window < kWindowSize;
  };
  forLanes(x.mask, [&](unsigned lane) {
    uint64_t address = a[lane];
    bool result;
    if (m.window ==
        0) // global: all that is no other window, parameters included
      result = !inside(address, kSharedWindow) &&
               !inside(address, kLocalWindow) && !inside(address, kConstWindow);
    else
      result = inside(address, m.window);
    if (m.ownCta && result)
      result = ((address >> kRankShift) & 0xFF) == x.cta->rank;
    bits |= uint32_t(result) << lane;
  });
  x.setPredicate(m.to, bits);
  return Step::Next;
}

/// selp, whose last source is a predicate.
template <typename T> Step select(Exec &x, const Record &r) {
  const auto &alu = r.as<AluRecord>();
  T *d = x.reg<T>(alu.to);
  const T *a = x.reg<T>(alu.from[0]), *b = x.reg<T>(alu.from[1]);
  uint32_t p = x.predicate(alu.from[2]);
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
/// With `.ftz` a negative subnormal number counts as zero.
template <typename T> struct SlctFtz {
  T operator()(T a, T b, float c) const { return flush(c) >= 0 ? a : b; }
};
template <typename T> Handler slctFor(const Instruction &in) {
  if (in.type(1) != Type::F32)
    return map<SlctS<T>, T, T, T, int32_t>;
  return in.has(Modifier::Ftz) ? map<SlctFtz<T>, T, T, T, float>
                               : map<SlctF<T>, T, T, T, float>;
}

bool selection(Decoder &d, const Instruction &in, Record &r) {
  unsigned bits = bitWidth(in.type());
  if (in.opcode == Opcode::Selp) {
    r.fn = bits == 16   ? select<uint16_t>
           : bits == 32 ? select<uint32_t>
           : bits == 64 ? select<uint64_t>
                        : nullptr;
    if (!r.fn)
      return false;
    auto &alu = d.record<AluRecord>(r);
    alu.to = d.destination(in.operands[0], bits);
    alu.from[0] = d.source(in.operands[1], bits);
    alu.from[1] = d.source(in.operands[2], bits);
    alu.from[2] = d.predicate(in.operands[3]);
    d.chooses(alu.from[2], alu.from[0], alu.from[1]);
    return true;
  }
  r.fn = bits == 64   ? slctFor<uint64_t>(in)
         : bits == 32 ? slctFor<uint32_t>(in)
                      : slctFor<uint16_t>(in);
  if (!mixedOperands(d, in, r, bits, {bits, bits, 32}))
    return false;
  const auto &alu = r.as<AluRecord>();
  d.chooses(alu.from[2], alu.from[0], alu.from[1]);
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
  case Opcode::GetCtaRank: {
    bool maps = in.opcode == Opcode::Mapa;
    auto &m = d.record<RankRecord>(r);
    m.bits = bitWidth(in.type());
    m.to = d.destination(in.operands[0], maps ? m.bits : 32);
    m.from = d.source(in.operands[1], m.bits);
    if (maps)
      m.rank = d.source(in.operands[2], 32);
    r.fn = maps ? mapa : getRank;
    return true;
  }
  case Opcode::IsSpacep: {
    auto &m = d.record<SpaceRecord>(r);
    m.to = d.predicateOut(in.operands[0]);
    m.from = d.source(in.operands[1], 64);
    m.window = windowOf(in);
    m.ownCta = in.has(Modifier::Shared) || in.has(Modifier::SharedCta);
    r.fn = isSpace;
    return true;
  }
  default:
    return false;
  }
}

} // namespace blockscale::emulator::machine
