//===- WarpOps.cpp - shfl, vote, match, redux, elect ----------------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A `.sync` instruction waits until all living lanes of its mask have come to
// it; they meet in one group because lanes with equal program counters join.
//
//===----------------------------------------------------------------------===//

#include "../Run/Observer.h"
#include "Float.h"
#include "Warp.h"

namespace blockscale::emulator::machine {

bool gathered(const Exec &x, uint32_t wanted) {
  return (wanted & x.warp->live & ~x.mask) == 0;
}

bool wholeWarp(Exec &x, const Record &r, Step &step) {
  step = !gathered(x, ~0u) ? Step::Block
         : x.mask != ~0u ? x.fault(r, FindingKind::Divergence,
                                   "matrix instruction by a part of a warp", -1,
                                   0, Hazard::DivergentAligned)
                         : Step::Next;
  return step == Step::Next;
}

void gatherWords(Exec &x, Slots slots, uint32_t *out, unsigned bits) {
  for (size_t i = 0; i != slots.size(); ++i) {
    if (bits == 32) {
      std::memcpy(out + 32 * i, x.at(slots[i]), 128);
      continue;
    }
    const auto *values = x.reg<uint64_t>(slots[i]);
    for (unsigned lane = 0; lane != 32; ++lane) {
      out[64 * i + lane] = uint32_t(values[lane]);
      out[64 * i + 32 + lane] = uint32_t(values[lane] >> 32);
    }
  }
}

void scatterWords(Exec &x, Slots slots, const uint32_t *in, unsigned bits) {
  for (size_t i = 0; i != slots.size(); ++i) {
    if (bits == 32) {
      std::memcpy(x.at(slots[i]), in + 32 * i, 128);
      continue;
    }
    auto *values = x.reg<uint64_t>(slots[i]);
    for (unsigned lane = 0; lane != 32; ++lane)
      values[lane] = uint64_t(in[64 * i + 32 + lane]) << 32 | in[64 * i + lane];
  }
}

namespace {

/// The member mask, which must be the same in all lanes that share it.
uint32_t memberMask(const Exec &x, Slot slot) {
  return x.reg<uint32_t>(slot)[x.firstLane()];
}

/// Blocks until the mask is complete; a lane outside its own mask is an error.
/// Lanes may arrive with different masks (one per subset): each lane's subset
/// is then handled on its own.
Step enter(Exec &x, const Record &r, Slot slot, uint32_t &members) {
  members = memberMask(x, slot);
  if (!(members >> x.firstLane() & 1))
    return x.fault(r, FindingKind::Divergence,
                   "lane is not in its own member mask " + hex(members),
                   int(x.firstLane()), 0, Hazard::MissingMembers);
  return gathered(x, members) ? Step::Next : Step::Block;
}

/// Runs `body(members)` once per distinct member mask.
template <typename F>
Step perMask(Exec &x, const Record &r, Slot slot, F &&body) {
  uint32_t all = x.mask;
  const uint32_t *masks = x.reg<uint32_t>(slot);
  uint32_t masksOf[32];
  std::memcpy(masksOf, masks, sizeof masksOf);
  for (uint32_t left = all; left;) {
    uint32_t members = masksOf[__builtin_ctz(left)], lanes = 0;
    for (uint32_t rest = left; rest; rest &= rest - 1)
      if (masksOf[__builtin_ctz(rest)] == members)
        lanes |= rest & -rest;
    if (lanes & ~members)
      return x.fault(r, FindingKind::Divergence,
                     "lane is not in its own member mask " + hex(members),
                     __builtin_ctz(lanes & ~members), 0,
                     Hazard::MissingMembers);
    if (members & x.warp->live & ~all)
      return Step::Block;
    left &= ~lanes;
  }
  for (uint32_t left = all; left;) {
    uint32_t members = masksOf[__builtin_ctz(left)], lanes = 0;
    for (uint32_t rest = left; rest; rest &= rest - 1)
      if (masksOf[__builtin_ctz(rest)] == members)
        lanes |= rest & -rest;
    left &= ~lanes;
    x.mask = lanes;
    body(lanes);
  }
  x.mask = all;
  return Step::Next;
}

/// shfl.
struct ShuffleRecord {
  Slot to, value;
  Slot by;      ///< distance, mask or lane
  Slot clamp;   ///< with the mask of segments
  Slot members; ///< lanes that take part
  Slot inRange; ///< predicate, or kNoSlot
  Modifier mode;
};
Step shuffle(Exec &x, const Record &r) {
  const auto &s = r.as<ShuffleRecord>();
  uint32_t bad = 0;
  int badSource = 0;
  Step step = perMask(x, r, s.members, [&](uint32_t lanes) {
    uint32_t value[32], valid = 0, result[32];
    std::memcpy(value, x.reg<uint32_t>(s.value), sizeof value);
    const uint32_t *b = x.reg<uint32_t>(s.by), *c = x.reg<uint32_t>(s.clamp);
    forLanes(lanes, [&](unsigned lane) {
      unsigned segment = c[lane] >> 8 & 31, clamp = c[lane] & 31,
               by = b[lane] & 31;
      unsigned low = lane & segment, top = low | (clamp & ~segment);
      int j = 0;
      bool in = false;
      switch (s.mode) {
      case Modifier::Up:
        j = int(lane) - int(by);
        in = j >= int(top);
        break;
      case Modifier::Down:
        j = int(lane + by);
        in = j <= int(top);
        break;
      case Modifier::Bfly:
        j = int(lane ^ by);
        in = j <= int(top);
        break;
      default:
        j = int(low | (by & ~segment));
        in = j <= int(top);
      }
      if (!in)
        j = int(lane);
      if (!(lanes >> j & 1)) {
        bad |= 1u << lane;
        badSource = j;
      }
      result[lane] = value[j];
      valid |= uint32_t(in) << lane;
    });
    uint32_t *d = x.reg<uint32_t>(s.to);
    forLanes(lanes, [&](unsigned lane) { d[lane] = result[lane]; });
    if (s.inRange != kNoSlot)
      x.setPredicate(s.inRange, valid);
  });
  if (step == Step::Next && bad)
    return x.fault(r, FindingKind::Divergence,
                   "shfl reads lane " + std::to_string(badSource) +
                       ", which does not take part",
                   __builtin_ctz(bad), 0, Hazard::MissingMembers);
  return step;
}

/// vote, match, redux.sync, elect.sync: a value of each member makes one for
/// all.
struct MembersRecord {
  Slot to = kNoSlot, from = kNoSlot;
  Slot members = kNoSlot;
  Slot predicate = kNoSlot; ///< second result, if there is one
  Modifier operation = Modifier::Unknown;
  Type type = Type::B32;
  bool magnitudes = false; ///< of redux: .abs
  bool nanWins = false;    ///< of redux: .NaN
};

Step vote(Exec &x, const Record &r) {
  const auto &m = r.as<MembersRecord>();
  return perMask(x, r, m.members, [&](uint32_t lanes) {
    uint32_t p = x.predicate(m.from) & lanes;
    switch (m.operation) {
    case Modifier::Ballot:
      forLanes(lanes, [&](unsigned lane) { x.reg<uint32_t>(m.to)[lane] = p; });
      break;
    case Modifier::All:
      x.setPredicate(m.to, p == lanes ? ~0u : 0);
      break;
    case Modifier::Any:
      x.setPredicate(m.to, p ? ~0u : 0);
      break;
    default:
      x.setPredicate(m.to, p == lanes || !p ? ~0u : 0);
    }
  });
}

Step match(Exec &x, const Record &r) {
  const auto &m = r.as<MembersRecord>();
  return perMask(x, r, m.members, [&](uint32_t lanes) {
    auto value = [&](unsigned lane) -> uint64_t {
      return bitWidth(m.type) == 64 ? x.reg<uint64_t>(m.from)[lane]
                                    : x.reg<uint32_t>(m.from)[lane];
    };
    bool needsAll = m.operation == Modifier::All;
    uint32_t result[32];
    forLanes(lanes, [&](unsigned lane) {
      uint32_t same = 0;
      forLanes(lanes, [&](unsigned other) {
        same |= uint32_t(value(other) == value(lane)) << other;
      });
      result[lane] = needsAll ? (same == lanes ? lanes : 0) : same;
    });
    uint32_t all = result[__builtin_ctz(lanes)];
    forLanes(lanes, [&](unsigned lane) {
      x.reg<uint32_t>(m.to)[lane] = result[lane];
    });
    if (m.predicate != kNoSlot)
      x.setPredicate(m.predicate, all == lanes ? ~0u : 0);
  });
}

Step redux(Exec &x, const Record &r) {
  const auto &m = r.as<MembersRecord>();
  return perMask(x, r, m.members, [&](uint32_t lanes) {
    const uint32_t *a = x.reg<uint32_t>(m.from);
    uint32_t sum = a[__builtin_ctz(lanes)];
    bool sign = m.type == Type::S32, real = m.type == Type::F32;
    if (real && m.magnitudes)
      sum &= 0x7FFFFFFF;
    for (uint32_t rest = lanes & (lanes - 1); rest; rest &= rest - 1) {
      uint32_t v = a[__builtin_ctz(rest)];
      if (real && m.magnitudes)
        v &= 0x7FFFFFFF;
      bool less = real   ? bitsAs<float>(v) < bitsAs<float>(sum)
                  : sign ? int32_t(v) < int32_t(sum)
                         : v < sum;
      switch (m.operation) {
      case Modifier::Add:
        sum += v;
        break;
      case Modifier::And:
        sum &= v;
        break;
      case Modifier::Or:
        sum |= v;
        break;
      case Modifier::Xor:
        sum ^= v;
        break;
      default: {
        bool wantLess = m.operation == Modifier::Min;
        if (real) {
          float p = bitsAs<float>(sum), q = bitsAs<float>(v);
          if (std::isnan(p) || std::isnan(q)) {
            sum = m.nanWins || (std::isnan(p) && std::isnan(q)) ? 0x7FFFFFFFu
                  : std::isnan(p)                               ? v
                                                                : sum;
            break;
          }
        }
        if (less == wantLess && v != sum)
          sum = v;
      }
      }
    }
    forLanes(lanes, [&](unsigned lane) { x.reg<uint32_t>(m.to)[lane] = sum; });
  });
}

Step elect(Exec &x, const Record &r) {
  const auto &m = r.as<MembersRecord>();
  uint32_t members;
  if (Step step = enter(x, r, m.members, members); step != Step::Next)
    return step;
  uint32_t lanes = members & x.mask;
  uint32_t leader = uint32_t(__builtin_ctz(lanes));
  forLanes(x.mask,
           [&](unsigned lane) { x.reg<uint32_t>(m.to)[lane] = leader; });
  x.setPredicate(m.predicate, 1u << leader);
  return Step::Next;
}

Step activeMask(Exec &x, const Record &r) {
  const auto &m = r.as<MembersRecord>();
  forLanes(x.mask,
           [&](unsigned lane) { x.reg<uint32_t>(m.to)[lane] = x.mask; });
  return Step::Next;
}

Step warpSync(Exec &x, const Record &r) {
  return perMask(x, r, r.as<MembersRecord>().members,
                 [&](uint32_t lanes) { tell(*x.cluster, LanesMet{x, lanes}); });
}

struct RegistersRecord {
  uint32_t perThread;
};

/// All lanes of the warp must be here; an increase waits until decreases of
/// other warps have left enough registers.
Step setMaxRegisters(Exec &x, const Record &r) {
  if (!gathered(x, ~0u))
    return Step::Block;
  uint32_t wanted = r.as<RegistersRecord>().perThread;
  uint32_t now = x.warp->registersPerThread;
  if (wanted > now && 32 * (wanted - now) > x.cta->freeRegisters)
    return Step::Block;
  x.cta->freeRegisters += 32 * now;
  x.cta->freeRegisters -= 32 * wanted;
  x.warp->registersPerThread = wanted;
  ++x.warp->registerChanges;
  x.warp->registerLine = r.line;
  ++x.cluster->epoch;
  return Step::Next;
}

Modifier operation(const Instruction &in) {
  for (Modifier modifier : in.modifiers)
    switch (modifier) {
    case Modifier::Sync:
    case Modifier::Abs:
    case Modifier::PropagateNan:
      break;
    default:
      return modifier;
    }
  return Modifier::Unknown;
}

bool decodeShuffle(Decoder &d, const Instruction &in, Record &r) {
  if (in.operands.size() != 5)
    return d.refuse("shfl without a member mask is not supported");
  const Operand &to = in.operands[0];
  bool pair = to.kind == OperandKind::Pair;
  auto &s = d.record<ShuffleRecord>(r);
  s.to = d.destination(pair ? to.elements[0] : to, 32);
  s.value = d.source(in.operands[1], 32);
  s.by = d.source(in.operands[2], 32);
  s.clamp = d.source(in.operands[3], 32);
  s.members = d.source(in.operands[4], 32);
  s.inRange = pair ? d.predicateOut(to.elements[1]) : kNoSlot;
  s.mode = operation(in);
  r.fn = shuffle;
  return true;
}

bool decodeMembers(Decoder &d, const Instruction &in, Record &r) {
  auto &m = d.record<MembersRecord>(r);
  const Operand &to = in.operands[0];
  bool pair = to.kind == OperandKind::Pair;
  m.operation = operation(in);
  switch (in.opcode) {
  case Opcode::Vote:
    if (in.operands.size() != 3)
      return d.refuse("vote without a member mask is not supported");
    m.to =
        in.has(Modifier::Ballot) ? d.destination(to, 32) : d.predicateOut(to);
    m.from = d.predicate(in.operands[1]);
    m.members = d.source(in.operands[2], 32);
    r.fn = vote;
    return true;
  case Opcode::Match:
  case Opcode::ReduxSync:
    m.to = d.destination(pair ? to.elements[0] : to, 32);
    if (pair)
      m.predicate = d.predicateOut(to.elements[1]);
    m.type = in.type();
    m.from = d.source(in.operands[1], bitWidth(m.type));
    m.members = d.source(in.operands[2], 32);
    m.magnitudes = in.has(Modifier::Abs);
    m.nanWins = in.has(Modifier::PropagateNan);
    r.fn = in.opcode == Opcode::Match ? match : redux;
    return true;
  case Opcode::ElectSync:
    if (!pair)
      return d.refuse("elect.sync needs 'd|p'");
    m.to = d.destination(to.elements[0], 32);
    m.predicate = d.predicateOut(to.elements[1]);
    m.members = d.source(in.operands[1], 32);
    r.fn = elect;
    return true;
  case Opcode::ActiveMask:
    m.to = d.destination(to, 32);
    r.fn = activeMask;
    return true;
  default:
    m.members = d.source(to, 32);
    r.fn = warpSync;
    return true;
  }
}

} // namespace

bool decodeWarp(Decoder &d, const Instruction &in, Record &r) {
  switch (in.opcode) {
  case Opcode::Shfl:
    return decodeShuffle(d, in, r);
  case Opcode::Vote:
  case Opcode::Match:
  case Opcode::ReduxSync:
  case Opcode::ElectSync:
  case Opcode::ActiveMask:
  case Opcode::BarWarpSync:
    return decodeMembers(d, in, r);
  case Opcode::SetMaxNReg: {
    int64_t count = in.operands[0].value;
    if (count < 24 || count > 256 || count % 8)
      return d.refuse("setmaxnreg takes a multiple of 8 in 24..256, found " +
                          std::to_string(count),
                      Hazard::RegistersMissing);
    d.record<RegistersRecord>(r).perThread = uint32_t(count);
    r.fn = setMaxRegisters;
    return true;
  }
  default:
    return false;
  }
}

} // namespace blockscale::emulator::machine
