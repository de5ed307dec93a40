//===- Matrix.cpp - mma.sync, ldmatrix, stmatrix, movmatrix ---------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "../Run/Observer.h"
#include "../Units/WarpMma.h"
#include "Access.h"
#include "Lanes.h"
#include "Warp.h"

namespace blockscale::emulator::machine {
namespace {

bool wholeWarp(Exec &x, const Record &r, Step &step) {
  step = !gathered(x, ~0u) ? Step::Block
         : x.mask != ~0u ? x.fault(r, FindingKind::Divergence,
                                   "matrix instruction by a part of a warp", -1,
                                   0, Hazard::DivergentAligned)
                         : Step::Next;
  return step == Step::Next;
}

/// Copies `slots` into a flat array: register r of lane l at [r * 32 + l].
void gather(Exec &x, Slots slots, uint32_t *out) {
  for (size_t i = 0; i != slots.size(); ++i)
    std::memcpy(out + 32 * i, x.at(slots[i]), 128);
}

/// mma.sync.
struct WarpMmaRecord {
  WarpMmaForm form;
  Slots a, b, c, d;
  Slot metadata = kNoSlot; ///< of sparse A
  struct Scale {
    Slot registers = kNoSlot, byteId = kNoSlot, threadId = kNoSlot;
  };
  Scale scales[2]; ///< of A and B, of block-scaled forms
};

MmaKind kindOf(const WarpMmaForm &form) {
  if (form.packedFp4)
    return form.scaleVec == 4 ? MmaKind::MXF4NVF4 : MmaKind::MXF4;
  if (form.scaleVec)
    return MmaKind::MXF8F6F4;
  if (form.accumulator == WarpAccumulator::S32)
    return MmaKind::I8;
  switch (bitWidth(form.a)) {
  case 32:
    return MmaKind::TF32;
  case 16:
    return MmaKind::F16;
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
  uint32_t a[8 * 32], b[8 * 32], c[8 * 32], d[8 * 32];
  gather(x, m.a, a);
  gather(x, m.b, b);
  gather(x, m.c, c);
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
  for (size_t i = 0; i != m.d.size(); ++i)
    std::memcpy(x.at(m.d[i]), d + 32 * i, 128);
  ++x.cluster->counters.warpMmas;
  tell(*x.cluster, WarpMmaDone{x, r, kindOf(form), form.sparse, form.k});
  return Step::Next;
}

unsigned depthOf(const Instruction &in) {
  for (Modifier modifier : in.modifiers)
    switch (modifier) {
    case Modifier::M16n8k4:
      return 4;
    case Modifier::M16n8k8:
      return 8;
    case Modifier::M16n8k16:
      return 16;
    case Modifier::M16n8k32:
      return 32;
    case Modifier::M16n8k64:
      return 64;
    case Modifier::M16n8k128:
      return 128;
    default:
      break;
    }
  return 0;
}

bool decodeMultiply(Decoder &d, const Instruction &in, Record &r) {
  // The forms have seen to it that these are types that mma multiplies.
  auto a = findElement(spelling(in.type(1))),
       b = findElement(spelling(in.type(2)));
  if (!a || !b || in.operands.size() < 4)
    return d.refuse("unsupported types of mma");
  auto &m = d.record<WarpMmaRecord>(r);
  WarpMmaForm &f = m.form;
  f.k = depthOf(in);
  f.a = *a;
  f.b = *b;
  f.accumulator = in.type(0) == Type::F16   ? WarpAccumulator::F16
                  : in.type(0) == Type::S32 ? WarpAccumulator::S32
                                            : WarpAccumulator::F32;
  f.sparse = in.has(Modifier::Sp) || in.has(Modifier::SpOrderedMetadata);
  f.packedFp4 = in.has(Modifier::KindMxf4) || in.has(Modifier::KindMxf4nvf4);
  f.satfinite = in.has(Modifier::Satfinite);
  if (in.has(Modifier::BlockScale)) {
    f.scaleVec = in.has(Modifier::ScaleVec4X)   ? 4
                 : in.has(Modifier::ScaleVec2X) ? 2
                 : in.has(Modifier::ScaleVec1X) ? 1
                 : in.has(Modifier::KindMxf4)   ? 2
                                                : 1;
    f.scale = in.type(4) == Type::Ue4m3 ? Element::UE4M3 : Element::UE8M0;
  }
  if (auto reason = whyNot(f))
    return d.refuse(*reason);
  m.d = d.slots(in.operands[0], 32, /*write=*/true, d.scratch());
  m.a = d.slots(in.operands[1], 32, /*write=*/false);
  m.b = d.slots(in.operands[2], 32, /*write=*/false);
  m.c = d.slots(in.operands[3], 32, /*write=*/false);
  if (m.a.size() != f.registersA() || m.b.size() != f.registersB() ||
      m.c.size() != f.registersC() || m.d.size() != f.registersC())
    return d.refuse("wrong number of registers in a fragment");
  size_t next = 4;
  if (f.sparse) {
    if (in.operands.size() < 6)
      return d.refuse("missing metadata");
    m.metadata = d.source(in.operands[next], 32);
    if (in.operands[next + 1].value != 0)
      return d.refuse("only sparsity selector 0 is supported");
    next += 2;
  }
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

/// ldmatrix and stmatrix.
struct RowsRecord {
  MatrixForm form;
  AddressOperand address;
  Slots registers;
  Where where = Where::Generic;
  bool store = false;
};

Step moveRows(Exec &x, const Record &r) {
  Step step;
  if (!wholeWarp(x, r, step))
    return step;
  const auto &m = r.as<RowsRecord>();
  const MatrixForm &form = m.form;
  bool store = m.store;
  uint8_t rows[32][16] = {};
  uint32_t values[4 * 32];
  if (store) {
    gather(x, m.registers, values);
    storeMatrix(form, values, rows);
  }
  bool defined = true;
  for (unsigned lane = 0; lane != form.rows(); ++lane) {
    uint64_t address = m.where == Where::Generic
                           ? laneAddress(x, m.address, lane)
                           : laneShared(x, m.address, lane);
    Access access;
    if (!resolve(x, r, m.where, address, lane, 16,
                 store ? Use::Write : Use::Read, access))
      return Step::Fault;
    Touch touch;
    touch.write = store;
    touch.collective = true;
    touchLane(x, r, lane, access, address, 16, touch);
    std::memcpy(store ? access.data : rows[lane],
                store ? rows[lane] : access.data, 16);
    if (store)
      markWritten(access, 16, true);
    else
      defined = defined && (!access.valid ||
                            !std::memchr(access.valid, 0, form.dataBytes()));
  }
  if (store)
    return Step::Next;
  loadMatrix(form, rows, values);
  for (size_t i = 0; i != m.registers.size(); ++i) {
    std::memcpy(x.at(m.registers[i]), values + 32 * i, 128);
    if (!defined)
      x.setUndefined(m.registers[i], ~0u);
  }
  if (form.openPoint())
    x.cluster->openPoints.add(OpenPoint::TransposedByteMatrix);
  return Step::Next;
}

bool decodeRows(Decoder &d, const Instruction &in, Record &r, bool store) {
  auto &m = d.record<RowsRecord>(r);
  MatrixForm &f = m.form;
  f.shape = in.has(Modifier::M8n16)    ? MatrixShape::M8N16
            : in.has(Modifier::M16n16) ? MatrixShape::M16N16
            : in.has(Modifier::M16n8)  ? MatrixShape::M16N8
                                       : MatrixShape::M8N8;
  f.format = in.has(Modifier::B4x16P64)   ? MatrixFormat::B4x16P64
             : in.has(Modifier::B6x16P32) ? MatrixFormat::B6x16P32
             : in.type() == Type::B8      ? MatrixFormat::B8
                                          : MatrixFormat::B16;
  f.num = in.has(Modifier::X4) ? 4 : in.has(Modifier::X2) ? 2 : 1;
  f.trans = in.has(Modifier::Trans);
  if (!f.legal(store))
    return d.refuse("this matrix form does not exist");
  m.address = d.address(in.operands[store ? 0 : 1]);
  m.registers = d.slots(in.operands[store ? 1 : 0], 32, !store, d.scratch());
  if (m.registers.size() != f.registers())
    return d.refuse("expected " + std::to_string(f.registers()) +
                    " registers, found " + std::to_string(m.registers.size()));
  m.store = store;
  m.where = whereOf(in);
  d.flow().sink = true;
  r.fn = moveRows;
  return true;
}

} // namespace

bool decodeMatrix(Decoder &d, const Instruction &in, Record &r) {
  switch (in.opcode) {
  case Opcode::Mma:
    return decodeMultiply(d, in, r);
  case Opcode::LdMatrix:
    return decodeRows(d, in, r, false);
  case Opcode::StMatrix:
    return decodeRows(d, in, r, true);
  case Opcode::MovMatrix:
    r.fn = [](Exec &x, const Record &r) {
      const auto &alu = r.as<AluRecord>();
      Step step;
      if (wholeWarp(x, r, step)) {
        uint32_t out[32];
        moveMatrix(x.reg<uint32_t>(alu.from[0]), out);
        std::memcpy(x.at(alu.to), out, sizeof out);
      }
      return step;
    };
    return plainOperands(d, in, r, 32, 1);
  default:
    return false;
  }
}

} // namespace blockscale::emulator::machine
