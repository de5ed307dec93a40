//===- Lanes.h - handlers that work lane by lane ----------------*- C++ -*-===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef BLOCKSCALE_LIB_EMULATOR_INSTRUCTIONS_LANES_H
#define BLOCKSCALE_LIB_EMULATOR_INSTRUCTIONS_LANES_H

#include "../Program/Decoder.h"

#include <utility>

namespace blockscale::emulator::machine {

template <typename F, typename D, typename... S, size_t... I>
inline Step mapLanes(Exec &x, const Record &r, std::index_sequence<I...>) {
  D *d = x.reg<D>(r.op[0]);
  auto body = [&](const S *...s) {
    forLanes(x.mask, [&](unsigned lane) { d[lane] = D(F()(s[lane]...)); });
  };
  body(x.reg<S>(r.op[1 + I])...);
  return Step::Next;
}

/// `op[0][lane] = F()(op[1][lane], ...)` with the given lane types.
template <typename F, typename D, typename... S>
Step map(Exec &x, const Record &r) {
  return mapLanes<F, D, S...>(x, r, std::index_sequence_for<S...>());
}

template <typename F, typename D, typename... S, size_t... I>
inline Step mapModeLanes(Exec &x, const Record &r, std::index_sequence<I...>) {
  D *d = x.reg<D>(r.op[0]);
  auto body = [&](const S *...s) {
    forLanes(x.mask,
             [&](unsigned lane) { d[lane] = D(F()(r.aux, s[lane]...)); });
  };
  body(x.reg<S>(r.op[1 + I])...);
  return Step::Next;
}

/// As `map`, with Record::aux as the first argument of F.
template <typename F, typename D, typename... S>
Step mapMode(Exec &x, const Record &r) {
  return mapModeLanes<F, D, S...>(x, r, std::index_sequence_for<S...>());
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
                          Record &record, unsigned bits, unsigned sources) {
  if (instruction.operands.size() < 1 + sources)
    return decoder.refuse("missing operands");
  record.op[0] = decoder.destination(instruction.operands[0], bits);
  for (unsigned i = 0; i != sources; ++i)
    record.op[1 + i] = decoder.source(instruction.operands[1 + i], bits);
  return true;
}

} // namespace blockscale::emulator::machine

#endif // BLOCKSCALE_LIB_EMULATOR_INSTRUCTIONS_LANES_H
