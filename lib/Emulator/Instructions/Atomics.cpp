//===- Atomics.cpp - atom and red -----------------------------------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "../Run/Observer.h"
#include "Access.h"
#include "Float.h"

#include <algorithm>

namespace blockscale::emulator::machine {
namespace {

template <typename T> T integerOp(Modifier op, T old, T b, T c) {
  using U = std::make_unsigned_t<T>;
  switch (op) {
  case Modifier::Add:
    return T(U(old) + U(b));
  case Modifier::Min:
    return std::min(old, b);
  case Modifier::Max:
    return std::max(old, b);
  case Modifier::And:
    return old & b;
  case Modifier::Or:
    return old | b;
  case Modifier::Xor:
    return old ^ b;
  case Modifier::Exch:
    return b;
  case Modifier::Cas:
    return old == b ? c : old;
  case Modifier::Inc:
    return U(old) >= U(b) ? T(0) : T(old + 1);
  default:
    return old == 0 || U(old) > U(b) ? b : T(old - 1);
  }
}

uint16_t halfOp(Modifier op, uint16_t old, uint16_t b, bool bf16) {
  double x = fromHalf(old, bf16), y = fromHalf(b, bf16);
  if (op == Modifier::Add)
    return toHalf(addOdd(x, y), bf16, Round::Nearest);
  if (std::isnan(x) || std::isnan(y))
    return std::isnan(x) && std::isnan(y) ? 0x7FFF : std::isnan(x) ? b : old;
  // -0 is less than +0.
  if (x == y)
    return std::signbit(x) == (op == Modifier::Min) ? old : b;
  return (x < y) == (op == Modifier::Min) ? old : b;
}

/// Global memory flushes subnormal numbers, shared memory does not.
float addF32(float old, float b, bool shared) {
  return canonical(shared ? old + b : flush(flush(old) + flush(b)));
}

/// In shared memory the NaN that was there stays, quiet; in global memory the
/// operand's stays, bit for bit.
uint64_t addF64(uint64_t old, uint64_t b, bool shared) {
  auto x = bitsAs<double>(old), y = bitsAs<double>(b);
  if (!std::isnan(x) && !std::isnan(y))
    return bitsAs<uint64_t>(x + y);
  if (shared)
    return (std::isnan(x) ? old : b) | uint64_t(1) << 51;
  return std::isnan(y) ? b : old;
}

/// New value of the location; `type` decides how the bits are read.
uint64_t apply(Modifier op, Type type, bool shared, uint64_t old, uint64_t b,
               uint64_t c) {
  switch (type) {
  case Type::S32:
    return uint32_t(
        integerOp<int32_t>(op, int32_t(old), int32_t(b), int32_t(c)));
  case Type::S64:
    return uint64_t(
        integerOp<int64_t>(op, int64_t(old), int64_t(b), int64_t(c)));
  case Type::U64:
  case Type::B64:
    return integerOp<uint64_t>(op, old, b, c);
  case Type::B16:
  case Type::U16:
    return integerOp<uint16_t>(op, uint16_t(old), uint16_t(b), uint16_t(c));
  case Type::F32:
    return bitsAs<uint32_t>(addF32(bitsAs<float>(uint32_t(old)),
                                   bitsAs<float>(uint32_t(b)), shared));
  case Type::F64:
    return addF64(old, b, shared);
  case Type::F16:
  case Type::Bf16:
    return halfOp(op, uint16_t(old), uint16_t(b), type == Type::Bf16);
  case Type::F16x2:
  case Type::Bf16x2: {
    bool bf16 = type == Type::Bf16x2;
    return uint32_t(halfOp(op, uint16_t(old), uint16_t(b), bf16)) |
           uint32_t(halfOp(op, uint16_t(old >> 16), uint16_t(b >> 16), bf16))
               << 16;
  }
  default:
    return integerOp<uint32_t>(op, uint32_t(old), uint32_t(b), uint32_t(c));
  }
}

/// Replaces a T by what `update` makes of it, atomically for stores of other
/// host threads too; one that stays as it is is not written. True if it
/// changed.
template <typename T, typename F>
bool replaceAs(uint8_t *at, uint64_t &old, F &&update) {
  auto *place = reinterpret_cast<T *>(at);
  T before = __atomic_load_n(place, __ATOMIC_SEQ_CST);
  for (;;) {
    T after = T(update(before));
    if (after == before ||
        __atomic_compare_exchange_n(place, &before, after, false,
                                    __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST)) {
      old = before;
      return after != before;
    }
  }
}

template <typename F>
bool replace(uint8_t *at, unsigned bytes, uint64_t &old, F &&update) {
  if (reinterpret_cast<uintptr_t>(at) % bytes == 0) {
    if (bytes == 8)
      return replaceAs<uint64_t>(at, old, update);
    if (bytes == 4)
      return replaceAs<uint32_t>(at, old, update);
    if (bytes == 2)
      return replaceAs<uint16_t>(at, old, update);
  }
  // The host's buffer is not aligned as the device sees it.
  std::memcpy(&old, at, bytes);
  uint64_t next = update(old);
  if (std::memcmp(at, &next, bytes) == 0)
    return false;
  std::memcpy(at, &next, bytes);
  return true;
}

/// exch or cas of 16 bytes. Stores of other host threads come in two halves, as
/// the caller holds the lock of the place. True if the location changed.
bool replaceWide(uint8_t *at, const uint8_t *b, const uint8_t *c,
                 uint8_t *old) {
  std::memcpy(old, at, 16);
  const uint8_t *next = !c ? b : std::memcmp(old, b, 16) == 0 ? c : old;
  bool changed = std::memcmp(old, next, 16) != 0;
  if (changed)
    std::memcpy(at, next, 16);
  return changed;
}

/// atom and red.
struct AtomicRecord {
  AddressOperand address;
  Slots to; ///< old values; empty for red
  Slots values;
  Slot swap = kNoSlot; ///< of cas: what replaces an equal value
  Modifier operation = Modifier::Unknown;
  Type type = Type::B32;
  Where where = Where::Generic;
  Scope scope = Scope::Gpu;
  bool acquires = false, releases = false;
};

void orderAtomic(Exec &x, const Record &r, unsigned lane, const Access &access,
                 uint64_t address, unsigned bytes) {
  const auto &a = r.as<AtomicRecord>();
  Touch touch;
  touch.write = touch.strong = true;
  touch.bytes = uint16_t(bytes);
  touch.scope = a.scope;
  Sync sync;
  sync.reads = !a.to.empty();
  sync.writes = sync.atomic = true;
  sync.acquires = a.acquires;
  sync.releases = a.releases;
  sync.scope = touch.scope;
  if (access.cta)
    address = uint64_t(access.cta->rank) << kRankShift | access.offset;
  touchLane(x, r, lane, access, address, bytes, touch);
  if (access.cta || access.global)
    tell(*x.cluster, Synchronised{*x.warp, access.cta, address, sync});
}

Step atomic(Exec &x, const Record &r) {
  const auto &a = r.as<AtomicRecord>();
  Where where = a.where;
  unsigned bytes = bitWidth(a.type) / 8;
  unsigned count = a.values.size();
  bool shared = where == Where::SharedCta || where == Where::SharedCluster;
  AccessLocks::Set locks = 0;
  forLanes(shared ? 0 : x.mask, [&](unsigned lane) {
    locks |= AccessLocks::of(laneAddress(x, a.address, lane), bytes * count);
  });
  AccessLocks::Guard guard(x.cluster->grid.accesses, locks);
  // One that leaves memory as it was is a read: others spin with it.
  uint64_t writes = x.cluster->writes;
  bool changed = false;
  for (uint32_t left = x.mask; left; left &= left - 1) {
    auto lane = unsigned(__builtin_ctz(left));
    uint64_t address = shared ? laneShared(x, a.address, lane)
                              : laneAddress(x, a.address, lane);
    Access access;
    if (!resolve(x, r, where, address, lane, bytes * count, Use::Write, access))
      return Step::Fault;
    if (x.cluster->order)
      orderAtomic(x, r, lane, access, address, bytes * count);
    bool defined =
        !access.valid || !std::memchr(access.valid, 0, bytes * count);
    if (!defined && a.operation != Modifier::Exch)
      return x.fault(r, FindingKind::Uninitialised,
                     "atomic on shared memory that was never written",
                     int(lane), address);
    if (bytes == 16) {
      uint8_t old[16];
      const uint8_t *c = a.swap == kNoSlot ? nullptr : x.at(a.swap) + lane * 16;
      changed |=
          replaceWide(access.data, x.at(a.values[0]) + lane * 16, c, old);
      std::memcpy(x.at(a.to[0]) + lane * 16, old, 16);
    }
    for (unsigned i = 0; bytes != 16 && i != count; ++i) {
      uint64_t old = 0, b = 0, c = 0;
      std::memcpy(&b, x.at(a.values[i]) + lane * bytes, bytes);
      if (a.swap != kNoSlot)
        std::memcpy(&c, x.at(a.swap) + lane * bytes, bytes);
      auto update = [&](uint64_t value) {
        return apply(a.operation, a.type, access.cta, value, b, c);
      };
      changed |= replace(access.data + i * bytes, bytes, old, update);
      if (i < a.to.size())
        std::memcpy(x.at(a.to[i]) + lane * bytes, &old, bytes);
    }
    markWritten(access, bytes * count, true);
  }
  ++x.cluster->looks;
  x.cluster->writes = writes + changed;
  x.cluster->epoch += changed;
  return Step::Next;
}

Modifier operation(const Instruction &in) {
  for (Modifier modifier : in.modifiers)
    switch (modifier) {
    case Modifier::Add:
    case Modifier::Min:
    case Modifier::Max:
    case Modifier::And:
    case Modifier::Or:
    case Modifier::Xor:
    case Modifier::Exch:
    case Modifier::Cas:
    case Modifier::Inc:
    case Modifier::Dec:
      return modifier;
    default:
      break;
    }
  return Modifier::Unknown;
}

} // namespace

bool decodeAtomic(Decoder &d, const Instruction &in, Record &r) {
  if (in.opcode != Opcode::Atom && in.opcode != Opcode::Red &&
      in.opcode != Opcode::MultimemRed)
    return false;
  Modifier op = operation(in);
  Type type = in.type();
  unsigned bits = bitWidth(type);
  if (op == Modifier::Unknown || bits < 16)
    return d.refuse("unsupported atomic");
  if ((type == Type::F32 || type == Type::F64) && op != Modifier::Add)
    return d.refuse("only additions of f32 and f64 are atomic");
  size_t next = 0;
  auto &a = d.record<AtomicRecord>(r);
  a.operation = op;
  a.type = type;
  a.where = whereOf(in);
  if (in.opcode == Opcode::Atom)
    a.to = d.slots(in.operands[next++], bits, /*write=*/true, d.scratch());
  a.address = d.address(in.operands[next++]);
  a.values = d.slots(in.operands[next++], bits, /*write=*/false);
  if (op == Modifier::Cas)
    a.swap = d.source(in.operands[next], bits);
  bool both = in.has(Modifier::AcqRel);
  a.acquires = both || in.has(Modifier::Acquire);
  a.releases = both || in.has(Modifier::Release);
  a.scope = scopeOf(in);
  d.flow().sink = true;
  r.fn = atomic;
  return true;
}

} // namespace blockscale::emulator::machine
