//===- Lanes.h - handlers that work lane by lane ----------------*- C++ -*-===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef BLOCKSCALE_LIB_EMULATOR_INSTRUCTIONS_LANES_H
#define BLOCKSCALE_LIB_EMULATOR_INSTRUCTIONS_LANES_H

#include "../Program/Decoder.h"
#include "../Run/State.h"

#include <initializer_list>
#include <utility>

namespace blockscale::emulator::machine {

/// Arithmetic: a result and up to three operands.
struct AluRecord {
  Slot to = kNoSlot;
  Slot from[3] = {kNoSlot, kNoSlot, kNoSlot};
  /// What the modifiers say, in bits of the family's own.
  uint32_t mode = 0;
};

template <typename F, typename D, typename... S, size_t... I>
inline Step mapLanes(Exec &x, const Record &r, std::index_sequence<I...>) {
  const auto &alu = r.as<AluRecord>();
  D *d = x.reg<D>(alu.to);
  auto body = [&](const S *...s) {
    forLanes(x.mask, [&](unsigned lane) { d[lane] = D(F()(s[lane]...)); });
  };
  body(x.reg<S>(alu.from[I])...);
  return Step::Next;
}

/// `to[lane] = F()(from[0][lane], ...)` with the given lane types.
template <typename F, typename D, typename... S>
Step map(Exec &x, const Record &r) {
  return mapLanes<F, D, S...>(x, r, std::index_sequence_for<S...>());
}

template <typename F, typename D, typename... S, size_t... I>
inline Step mapModeLanes(Exec &x, const Record &r, std::index_sequence<I...>) {
  const auto &alu = r.as<AluRecord>();
  D *d = x.reg<D>(alu.to);
  uint32_t mode = alu.mode;
  auto body = [&](const S *...s) {
    forLanes(x.mask,
             [&](unsigned lane) { d[lane] = D(F()(mode, s[lane]...)); });
  };
  body(x.reg<S>(alu.from[I])...);
  return Step::Next;
}

/// As `map`, with the mode as the first argument of F.
template <typename F, typename D, typename... S>
Step mapMode(Exec &x, const Record &r) {
  return mapModeLanes<F, D, S...>(x, r, std::index_sequence_for<S...>());
}

/// Reads and writes registers of 32 or 64 bits.
inline uint64_t wordOf(const Exec &x, Slot slot, unsigned bits, unsigned lane) {
  return bits == 64 ? x.reg<uint64_t>(slot)[lane] : x.reg<uint32_t>(slot)[lane];
}
inline void setWord(const Exec &x, Slot slot, unsigned bits, unsigned lane,
                    uint64_t value) {
  if (bits == 64)
    x.reg<uint64_t>(slot)[lane] = value;
  else
    x.reg<uint32_t>(slot)[lane] = uint32_t(value);
}

/// Same operation on the unsigned type of the given width.
template <typename F> Handler binaryBits(unsigned bits) {
  switch (bits) {
  case 16:
    return map<F, uint16_t, uint16_t, uint16_t>;
  case 32:
    return map<F, uint32_t, uint32_t, uint32_t>;
  case 64:
    return map<F, uint64_t, uint64_t, uint64_t>;
  }
  return nullptr;
}

template <typename F> Handler unaryBits(unsigned bits) {
  switch (bits) {
  case 16:
    return map<F, uint16_t, uint16_t>;
  case 32:
    return map<F, uint32_t, uint32_t>;
  case 64:
    return map<F, uint64_t, uint64_t>;
  }
  return nullptr;
}

/// Same operation on the signed or unsigned type.
template <typename F> Handler binaryTyped(unsigned bits, bool isSignedType) {
  if (!isSignedType)
    return binaryBits<F>(bits);
  switch (bits) {
  case 16:
    return map<F, int16_t, int16_t, int16_t>;
  case 32:
    return map<F, int32_t, int32_t, int32_t>;
  case 64:
    return map<F, int64_t, int64_t, int64_t>;
  }
  return nullptr;
}

/// Decodes `d, s...` with all operands of `bits` bits.
inline bool plainOperands(Decoder &decoder, const Instruction &instruction,
                          Record &record, unsigned bits, unsigned sources,
                          uint32_t mode = 0) {
  if (instruction.operands.size() < 1 + sources)
    return decoder.refuse("missing operands");
  auto &alu = decoder.record<AluRecord>(record);
  alu.to = decoder.destination(instruction.operands[0], bits);
  for (unsigned i = 0; i != sources; ++i)
    alu.from[i] = decoder.source(instruction.operands[1 + i], bits);
  alu.mode = mode;
  return true;
}

/// The same for a result and operands of these widths.
inline bool mixedOperands(Decoder &decoder, const Instruction &instruction,
                          Record &record, unsigned result,
                          std::initializer_list<unsigned> sources,
                          uint32_t mode = 0) {
  if (instruction.operands.size() < 1 + sources.size())
    return decoder.refuse("missing operands");
  auto &alu = decoder.record<AluRecord>(record);
  alu.to = decoder.destination(instruction.operands[0], result);
  unsigned i = 0;
  for (unsigned bits : sources) {
    alu.from[i] = decoder.source(instruction.operands[1 + i], bits);
    ++i;
  }
  alu.mode = mode;
  return true;
}

} // namespace blockscale::emulator::machine

#endif // BLOCKSCALE_LIB_EMULATOR_INSTRUCTIONS_LANES_H
