//===- WarpTiles.cpp - wmma.load and wmma.store ---------------------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A matrix in memory is a row of lines: rows, or columns, each of which begins
// `stride` elements after the one before. A line is accessed as a whole.
//
//===----------------------------------------------------------------------===//

#include "Access.h"
#include "Warp.h"
#include "WarpMatrix.h"

namespace blockscale::emulator::machine {
namespace {

struct TileRecord {
  WarpMmaForm form; ///< what places the elements
  WarpOperand operand = WarpOperand::A;
  AddressOperand address;
  Slot stride = kNoSlot;
  Slots registers;
  Where where = Where::Generic;
  unsigned bits = 32;             ///< of an element
  uint32_t lines = 0, length = 0; ///< of elements each
  bool store = false;
  /// Lines are rows of A, C and D or columns of B.
  bool along = true;
};

/// The bytes of all lines, and whether each was written.
struct Lines {
  uint32_t bytes = 0; ///< of a line
  std::vector<uint8_t> data, undefined;
};

/// Where lane 0 says that line `i` begins.
uint64_t lineAddress(Exec &x, const TileRecord &t, unsigned i) {
  uint64_t base = t.where == Where::Generic || t.where == Where::Global
                      ? laneAddress(x, t.address, 0)
                      : laneShared(x, t.address, 0);
  int64_t stride = int64_t(x.reg<int32_t>(t.stride)[0]);
  return base + uint64_t(int64_t(i) * stride * t.bits / 8);
}

/// The lanes must agree on address and stride.
bool lanesAgree(Exec &x, const Record &r, const TileRecord &t) {
  for (unsigned lane = 1; lane != 32; ++lane)
    if (laneAddress(x, t.address, lane) != laneAddress(x, t.address, 0) ||
        x.reg<uint32_t>(t.stride)[lane] != x.reg<uint32_t>(t.stride)[0]) {
      x.fault(r, FindingKind::Divergence,
              "lanes of a warp give different addresses or strides", int(lane),
              laneAddress(x, t.address, lane), Hazard::DivergentAligned);
      return false;
    }
  auto stride = int32_t(x.reg<uint32_t>(t.stride)[0]);
  if (stride >= int32_t(t.length) && uint64_t(stride) * t.bits % 8 == 0)
    return true;
  x.fault(r, FindingKind::BadAddress,
          "stride " + std::to_string(stride) + " of a matrix with lines of " +
              std::to_string(t.length) + " elements of " +
              std::to_string(t.bits) + " bits");
  return false;
}

/// Loads or stores the lines.
bool moveLines(Exec &x, const Record &r, const TileRecord &t, Lines &lines) {
  unsigned align = std::min(lines.bytes, 16u);
  for (unsigned i = 0; i != t.lines; ++i) {
    uint64_t address = lineAddress(x, t, i);
    Access access;
    if (!resolve(x, r, t.where, address, 0, lines.bytes,
                 t.store ? Use::Write : Use::Read, access, align))
      return false;
    if (!access.cta && !access.global) {
      x.fault(r, FindingKind::BadAddress,
              "matrices of wmma are in global or shared memory", 0, address);
      return false;
    }
    Touch touch;
    touch.write = t.store;
    touch.collective = true;
    touchLane(x, r, 0, access, address, lines.bytes, touch);
    uint8_t *line = &lines.data[size_t(i) * lines.bytes];
    if (t.store) {
      std::memcpy(access.data, line, lines.bytes);
      markWritten(access, lines.bytes, true);
      continue;
    }
    std::memcpy(line, access.data, lines.bytes);
    for (unsigned b = 0; access.valid && b != lines.bytes; ++b)
      lines.undefined[size_t(i) * lines.bytes + b] = access.valid[b] == 0;
  }
  return true;
}

/// The bit at which an element of a fragment lies in the lines.
uint64_t bitOf(const TileRecord &t, const Lines &lines, unsigned lane,
               unsigned i) {
  FragmentPlace p = placeOf(t.form, t.operand, lane, i);
  uint64_t line = t.along ? p.row : p.column;
  uint64_t within = t.along ? p.column : p.row;
  return line * lines.bytes * 8 + within * t.bits;
}

/// Calls `visit` with word, shift and bit of each element of the fragments;
/// elements that are there more than once too.
template <typename F>
void forElements(const TileRecord &t, const Lines &lines, F &&visit) {
  unsigned perWord = 32 / std::min(t.bits, 32u);
  unsigned words = t.registers.size() * (t.bits == 64 ? 2 : 1);
  unsigned held = words * 32 / t.bits;
  unsigned distinct = t.lines * t.length / 32;
  for (unsigned lane = 0; lane != 32; ++lane)
    for (unsigned i = 0; i != held; ++i) {
      uint64_t bit = bitOf(t, lines, lane, i % distinct);
      if (t.bits == 64)
        for (unsigned half = 0; half != 2; ++half)
          visit(lane, 2 * i + half, 0u, bit + 32 * half);
      else
        visit(lane, i / perWord, i % perWord * t.bits, bit);
    }
}

Step moveTile(Exec &x, const Record &r) {
  Step step;
  if (!wholeWarp(x, r, step))
    return step;
  const auto &t = r.as<TileRecord>();
  if (!lanesAgree(x, r, t))
    return Step::Fault;
  Lines lines;
  lines.bytes = t.length * t.bits / 8;
  lines.data.resize(size_t(t.lines) * lines.bytes + 4);
  lines.undefined.resize(lines.data.size());
  unsigned bits = t.bits == 64 ? 64 : 32, held = std::min(t.bits, 32u);
  uint64_t mask = (uint64_t(1) << held) - 1;
  uint32_t words[kFragmentWords * 32] = {};
  if (t.store) {
    gatherWords(x, t.registers, words, bits);
    forElements(
        t, lines,
        [&](unsigned lane, unsigned word, unsigned shift, uint64_t bit) {
          uint32_t value = uint32_t(words[word * 32 + lane] >> shift & mask);
          std::memcpy(&lines.data[bit / 8], &value, held / 8);
        });
    return moveLines(x, r, t, lines) ? Step::Next : Step::Fault;
  }
  if (!moveLines(x, r, t, lines))
    return Step::Fault;
  uint32_t undefined[kFragmentWords] = {};
  forElements(t, lines,
              [&](unsigned lane, unsigned word, unsigned shift, uint64_t bit) {
                uint32_t value;
                std::memcpy(&value, &lines.data[bit / 8], 4);
                words[word * 32 + lane] |= uint32_t(value >> bit % 8 & mask)
                                           << shift;
                for (unsigned b = 0; b <= (held - 1) / 8; ++b)
                  undefined[word] |= uint32_t(lines.undefined[bit / 8 + b])
                                     << lane;
              });
  scatterWords(x, t.registers, words, bits);
  for (unsigned i = 0; i != t.registers.size(); ++i)
    x.setUndefined(t.registers[i], bits == 64
                                       ? undefined[2 * i] | undefined[2 * i + 1]
                                       : undefined[i]);
  return Step::Next;
}

/// The type of A or B of a shape whose C has type `type`; any will do that has
/// the shape.
Element partnerOf(Type type, unsigned k) {
  if (type == Type::F64)
    return Element::F64;
  if (type == Type::S32)
    return k == 128 ? Element::B1 : k == 32 ? Element::S4 : Element::S8;
  return k == 8 ? Element::TF32 : Element::F16;
}

/// The accumulator of which a multiplication of this type always has a form.
WarpAccumulator anyAccumulator(Element type) {
  return type == Element::F64 ? WarpAccumulator::F64
         : type == Element::F16 || type == Element::BF16 ||
                 type == Element::TF32
             ? WarpAccumulator::F32
             : WarpAccumulator::S32;
}

/// Which matrix it is, and how its elements lie.
std::optional<std::string> readTile(const Instruction &in, TileRecord &t) {
  WarpMmaForm &f = t.form;
  f.wmma = true;
  for (Modifier modifier : in.modifiers)
    shapeOf(modifier, f.m, f.n, f.k);
  t.store = in.opcode == Opcode::WmmaStoreD;
  t.operand = in.opcode == Opcode::WmmaLoadA   ? WarpOperand::A
              : in.opcode == Opcode::WmmaLoadB ? WarpOperand::B
                                               : WarpOperand::C;
  bool isC = t.operand == WarpOperand::C;
  auto element = findElement(spelling(in.type()));
  if (!isC && !element)
    return std::string("this type has no fragments of A and B");
  f.a = f.b = isC ? partnerOf(in.type(), f.k) : *element;
  f.accumulator = isC ? accumulatorOf(in.type()) : anyAccumulator(f.a);
  if (auto reason = whyNot(f))
    return reason;
  t.bits = isC ? bitWidth(in.type()) : bitWidth(*element);
  bool row = in.has(Modifier::Row);
  bool isB = t.operand == WarpOperand::B;
  if (!isC && bitWidth(f.a) < 8 && row == isB)
    return "the layout of " + std::string(isB ? "B" : "A") + " must be '." +
           (isB ? "col" : "row") + "' for '" + name(f.a) + "'";
  t.along = row != isB;
  uint32_t rows = isB ? f.n : f.m, columns = isC ? f.n : f.k;
  t.lines = t.along ? rows : columns;
  t.length = t.along ? columns : rows;
  return std::nullopt;
}

} // namespace

bool decodeWarpTile(Decoder &d, const Instruction &in, Record &r) {
  auto &t = d.record<TileRecord>(r);
  if (auto reason = readTile(in, t))
    return d.refuse(*reason);
  size_t fragment = t.store ? 1 : 0, address = t.store ? 0 : 1;
  t.address = d.address(in.operands[address]);
  t.where = whereOf(in);
  t.registers = d.slots(in.operands[fragment], t.bits == 64 ? 64 : 32, !t.store,
                        d.scratch());
  t.stride = in.operands.size() > 2 ? d.source(in.operands[2], 32)
                                    : d.constant(t.length, 32);
  unsigned expected = t.operand == WarpOperand::A   ? t.form.registersA()
                      : t.operand == WarpOperand::B ? t.form.registersB()
                                                    : t.form.registersD();
  if (t.registers.size() != expected)
    return d.refuse("expected " + std::to_string(expected) +
                    " registers, found " + std::to_string(t.registers.size()));
  d.flow().sink = true;
  r.fn = moveTile;
  return true;
}

} // namespace blockscale::emulator::machine
