//===- WarpMultiply.cpp - mma.sync, mma.sp, wmma.mma ----------------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "../Run/Observer.h"
#include "Warp.h"
#include "WarpMatrix.h"

#include <cctype>

namespace blockscale::emulator::machine {

bool shapeOf(Modifier modifier, unsigned &m, unsigned &n, unsigned &k) {
  std::string_view word = spelling(modifier);
  unsigned *const sizes[] = {&m, &n, &k};
  const char letters[] = {'m', 'n', 'k'};
  unsigned found[3];
  for (unsigned i = 0; i != 3; ++i) {
    if (word.size() < 2 || word[0] != letters[i] || !std::isdigit(word[1]))
      return false;
    word.remove_prefix(1);
    found[i] = 0;
    while (!word.empty() && std::isdigit(word[0])) {
      found[i] = found[i] * 10 + unsigned(word[0] - '0');
      word.remove_prefix(1);
    }
  }
  for (unsigned i = 0; i != 3; ++i)
    *sizes[i] = found[i];
  return word.empty();
}

WarpAccumulator accumulatorOf(Type type) {
  return type == Type::F16   ? WarpAccumulator::F16
         : type == Type::S32 ? WarpAccumulator::S32
         : type == Type::F64 ? WarpAccumulator::F64
                             : WarpAccumulator::F32;
}

namespace {

struct WarpMmaRecord {
  WarpMmaForm form;
  Slots a, b, c, d;
  Slot metadata = kNoSlot; ///< of sparse A
  struct Scale {
    Slot registers = kNoSlot, byteId = kNoSlot, threadId = kNoSlot;
  };
  Scale scales[2]; ///< of A and B, of block-scaled forms
};

/// The kind that tcgen05.mma would have; there is none for other operands.
std::optional<MmaKind> kindOf(const WarpMmaForm &form) {
  if (form.packedFp4)
    return form.scaleVec == 4 ? MmaKind::MXF4NVF4 : MmaKind::MXF4;
  if (form.scaleVec)
    return MmaKind::MXF8F6F4;
  switch (form.a) {
  case Element::TF32:
    return MmaKind::TF32;
  case Element::F16:
  case Element::BF16:
    return MmaKind::F16;
  case Element::S8:
  case Element::U8:
    return MmaKind::I8;
  case Element::S4:
  case Element::U4:
  case Element::B1:
  case Element::F64:
    return std::nullopt;
  default:
    return MmaKind::F8F6F4;
  }
}

Step warpMultiply(Exec &x, const Record &r) {
  Step step;
  if (!wholeWarp(x, r, step))
    return step;
  const auto &m = r.as<WarpMmaRecord>();
  const WarpMmaForm &form = m.form;
  unsigned bits = form.a == Element::F64 ? 64 : 32;
  uint32_t a[kFragmentWords * 32], b[kFragmentWords * 32],
      c[kFragmentWords * 32], d[kFragmentWords * 32];
  gatherWords(x, m.a, a, bits);
  gatherWords(x, m.b, b, bits);
  gatherWords(x, m.c, c, bits);
  const uint32_t *metadata =
      form.sparse ? x.reg<uint32_t>(m.metadata) : nullptr;
  WarpScale scale[2];
  for (unsigned side = 0; form.scaleVec && side != 2; ++side) {
    scale[side].registers = x.reg<uint32_t>(m.scales[side].registers);
    scale[side].byteId = x.reg<uint16_t>(m.scales[side].byteId)[0];
    scale[side].threadId = x.reg<uint16_t>(m.scales[side].threadId)[0];
  }
  if (auto reason = warpMma(form, a, b, c, metadata, scale[0], scale[1], d,
                            x.cluster->openPoints))
    return x.fault(r, FindingKind::Descriptor, *reason);
  scatterWords(x, m.d, d, bits);
  ++x.cluster->counters.warpMmas;
  if (auto kind = kindOf(form))
    tell(*x.cluster, WarpMmaDone{x, r, *kind, form.sparse, form.k});
  return Step::Next;
}

Rounding roundingOf64(const Instruction &in) {
  return in.has(Modifier::Rz)   ? Rounding::RZ
         : in.has(Modifier::Rm) ? Rounding::RM
         : in.has(Modifier::Rp) ? Rounding::RP
                                : Rounding::RN;
}

/// Shape, types and modifiers; false if the types are not known.
bool readForm(const Instruction &in, WarpMmaForm &f) {
  f.wmma = in.opcode == Opcode::WmmaMma;
  for (Modifier modifier : in.modifiers)
    shapeOf(modifier, f.m, f.n, f.k);
  // wmma of f16 names the types of D and C alone.
  bool half = f.wmma && in.types.size() == 2;
  Type typeC = in.type(half ? 1 : 3);
  auto a = findElement(spelling(half ? Type::F16 : in.type(1)));
  auto b = findElement(spelling(half ? Type::F16 : in.type(2)));
  if (!a || !b)
    return false;
  f.a = *a;
  f.b = *b;
  f.accumulator = accumulatorOf(in.type(0));
  f.addend = accumulatorOf(typeC);
  f.sparse = in.has(Modifier::Sp) || in.has(Modifier::SpOrderedMetadata);
  f.ordered = !in.has(Modifier::Sp);
  f.packedFp4 = in.has(Modifier::KindMxf4) || in.has(Modifier::KindMxf4nvf4);
  f.satfinite = in.has(Modifier::Satfinite);
  f.bits = in.has(Modifier::And) ? BitOperation::And : BitOperation::Xor;
  f.rounding = roundingOf64(in);
  if (in.has(Modifier::BlockScale)) {
    f.scaleVec = in.has(Modifier::ScaleVec4X)   ? 4
                 : in.has(Modifier::ScaleVec2X) ? 2
                 : in.has(Modifier::ScaleVec1X) ? 1
                 : in.has(Modifier::KindMxf4)   ? 2
                                                : 1;
    f.scale = in.type(4) == Type::Ue4m3 ? Element::UE4M3 : Element::UE8M0;
  }
  return true;
}

/// The layouts of A and B, in this order; rows by columns if there are none.
std::optional<std::string> readLayouts(const Instruction &in, WarpMmaForm &f) {
  unsigned count = 0;
  bool column[2] = {false, true};
  for (Modifier modifier : in.modifiers)
    if ((modifier == Modifier::Row || modifier == Modifier::Col) && count != 2)
      column[count++] = modifier == Modifier::Col;
  f.columnA = column[0];
  f.rowB = !column[1];
  bool small = bitWidth(f.a) < 8;
  bool free = f.isQuadPairs() || (f.wmma && !small);
  if (free || (!f.columnA && !f.rowB))
    return std::nullopt;
  return std::string("the layouts of A and B must be '.row' and '.col'");
}

} // namespace

bool decodeWarpMultiply(Decoder &d, const Instruction &in, Record &r) {
  auto &m = d.record<WarpMmaRecord>(r);
  WarpMmaForm &f = m.form;
  if (in.operands.size() < 4 || !readForm(in, f))
    return d.refuse("unsupported types of mma");
  size_t next = 4;
  if (f.sparse) {
    if (in.operands.size() < 6)
      return d.refuse("missing metadata");
    m.metadata = d.source(in.operands[next], 32);
    f.selector = unsigned(std::min<uint64_t>(in.operands[next + 1].bits(), 4));
    next += 2;
  }
  if (auto reason = whyNot(f))
    return d.refuse(*reason);
  if (auto reason = readLayouts(in, f))
    return d.refuse(*reason);
  unsigned bits = f.a == Element::F64 ? 64 : 32;
  m.d = d.slots(in.operands[0], bits, /*write=*/true, d.scratch());
  m.a = d.slots(in.operands[1], bits, /*write=*/false);
  m.b = d.slots(in.operands[2], bits, /*write=*/false);
  m.c = d.slots(in.operands[3], bits, /*write=*/false);
  if (m.a.size() != f.registersA() || m.b.size() != f.registersB() ||
      m.c.size() != f.registersC() || m.d.size() != f.registersD())
    return d.refuse("wrong number of registers in a fragment");
  if (f.scaleVec)
    for (WarpMmaRecord::Scale &scale : m.scales) {
      if (next + 1 >= in.operands.size() ||
          in.operands[next + 1].elements.size() != 2)
        return d.refuse("missing scales");
      scale.registers = d.source(in.operands[next], 32);
      scale.byteId = d.source(in.operands[next + 1].elements[0], 16);
      scale.threadId = d.source(in.operands[next + 1].elements[1], 16);
      next += 2;
    }
  d.flow().sink = true;
  r.fn = warpMultiply;
  return true;
}

} // namespace blockscale::emulator::machine
