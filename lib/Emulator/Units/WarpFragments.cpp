//===- WarpFragments.cpp - which element a register of a lane holds -------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The fragments of mma.sync (PTX ISA 9.1, "Matrix fragments for mma"), of
// sparse A and its metadata, and those of wmma, whose layout the ISA leaves
// open: here they are tiled with fragments of mma.sync.
//
//===----------------------------------------------------------------------===//

#include "WarpMma.h"

#include <algorithm>
#include <array>
#include <map>

namespace blockscale::emulator {

unsigned containerBits(const WarpMmaForm &form, Element type) {
  bool narrow = type <= Element::E2M1;
  return narrow && !form.packedFp4 ? 8 : bitWidth(type);
}

bool WarpMmaForm::isQuadPairs() const {
  return !wmma && a == Element::F16 && m == 8 && k == 4;
}

/// Registers of 32 or, for f64, 64 bits that hold `rows` of `columns`.
static unsigned registersFor(const WarpMmaForm &form, Element type,
                             unsigned rows, unsigned columns) {
  // Each element of f16 fragments of wmma is there as often as it takes to fill
  // eight registers.
  if (form.wmma && type == Element::F16)
    return 8;
  unsigned bits = containerBits(form, type);
  return rows * columns * bits / 32 / std::max(bits, 32u);
}

unsigned WarpMmaForm::registersA() const {
  return isQuadPairs() ? 2 : registersFor(*this, a, m, sparse ? k / 2 : k);
}

unsigned WarpMmaForm::registersB() const {
  return isQuadPairs() ? 2 : registersFor(*this, b, n, k);
}

static unsigned accumulators(const WarpMmaForm &form, WarpAccumulator type) {
  unsigned count = form.isQuadPairs() ? 8 : form.m * form.n / 32;
  return type == WarpAccumulator::F16 ? count / 2 : count;
}

unsigned WarpMmaForm::registersC() const {
  return accumulators(*this, addend.value_or(accumulator));
}

unsigned WarpMmaForm::registersD() const {
  return accumulators(*this, accumulator);
}

/// A register has elements in a row of K, and four lanes a row; registers go
/// through blocks of eight rows first, then on along K.
static FragmentPlace placeAlongK(unsigned rows, unsigned perRegister,
                                 unsigned lane, unsigned i) {
  unsigned q = i / perRegister, blocks = rows / 8;
  return {lane / 4 + 8 * (q % blocks), perRegister * (lane % 4) +
                                           i % perRegister +
                                           4 * perRegister * (q / blocks)};
}

FragmentPlace placeOf(const WarpMmaForm &form, WarpOperand operand,
                      unsigned lane, unsigned i) {
  auto per = [&](Element type) {
    return std::max(32 / containerBits(form, type), 1u);
  };
  switch (operand) {
  case WarpOperand::A:
    return placeAlongK(form.m, per(form.a), lane, i);
  case WarpOperand::B: {
    // All of K of eight columns, then the next eight.
    unsigned count = 8 * form.k / 32;
    FragmentPlace p = placeAlongK(8, per(form.b), lane, i % count);
    return {p.row + 8 * (i / count), p.column};
  }
  case WarpOperand::C:
    break;
  }
  unsigned pair = i / 2, blocks = form.m / 8;
  return {lane / 4 + 8 * (pair % blocks),
          2 * (lane % 4) + i % 2 + 8 * (pair / blocks)};
}

const std::vector<uint16_t> &placesOf(const WarpMmaForm &form,
                                      WarpOperand operand, unsigned length) {
  // All that placeOf reads of a form, and `length`.
  Element type = operand == WarpOperand::B ? form.b : form.a;
  bool isC = operand == WarpOperand::C;
  using Key = std::array<unsigned, 6>;
  Key key{unsigned(operand),
          form.m,
          form.n,
          isC ? form.n : form.k,
          isC ? 0 : containerBits(form, type),
          length};
  thread_local std::map<Key, std::vector<uint16_t>> known;
  std::vector<uint16_t> &places = known[key];
  if (!places.empty())
    return places;
  unsigned rows = operand == WarpOperand::B ? form.n : form.m;
  unsigned count = rows * length / 32;
  for (unsigned lane = 0; lane < 32; ++lane)
    for (unsigned i = 0; i < count; ++i) {
      FragmentPlace p = placeOf(form, operand, lane, i);
      places.push_back(uint16_t(p.row * length + p.column));
    }
  return places;
}

FragmentPlace quadPlaceOf(const WarpMmaForm &form, WarpOperand operand,
                          bool wide, unsigned lane, unsigned i) {
  unsigned high = lane < 16 ? 0 : 4, own = lane % 4 + high;
  switch (operand) {
  case WarpOperand::A:
    return form.columnA ? FragmentPlace{i + high, lane % 4}
                        : FragmentPlace{own, i};
  case WarpOperand::B:
    return form.rowB ? FragmentPlace{i + high, lane % 4}
                     : FragmentPlace{own, i};
  case WarpOperand::C:
    break;
  }
  if (!wide)
    return {own, i};
  return {(lane & 1) + (i & 2) + high, (i & 4) + (lane & 2) + (i & 1)};
}

unsigned chunkOf(const WarpMmaForm &form) {
  switch (containerBits(form, form.a)) {
  case 32:
    return 2;
  case 4:
    return 8;
  default:
    return 4;
  }
}

unsigned metadataOf(const WarpMmaForm &form, const uint32_t *metadata,
                    unsigned m, unsigned x) {
  unsigned first = m % 8 * 4, below = m / 8;
  unsigned bits = form.k / chunkOf(form) * 4, bit = 4 * x;
  // The ISA has the places in figures ("Sparse MMA ... metadata layout"). Those
  // of 16-bit k32 and of all 64-bit rows are held to CUTLASS's
  // (docs/sources.md, [metadata]); the others follow them by analogy.
  // Rows of 16 bits, one thread: the rows g and g + 8.
  if (bits == 16)
    return metadata[first + form.selector] >> (16 * below + bit) & 0xf;
  // Rows of 32 bits, two threads. Of 16- and 32-bit elements each has half of
  // both rows; of smaller ones, a row.
  unsigned pair = first + 2 * form.selector;
  if (bits == 32 && containerBits(form, form.a) >= 16)
    return metadata[pair + bit / 16] >> (16 * below + bit % 16) & 0xf;
  if (bits == 32)
    return metadata[pair + below] >> bit & 0xf;
  // Rows of 64 bits, all four.
  return metadata[first + below + bit / 32 * 2] >> bit % 32 & 0xf;
}

} // namespace blockscale::emulator
