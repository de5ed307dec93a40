//===- Matrix.cpp - ldmatrix, stmatrix, movmatrix -------------------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Access.h"
#include "Lanes.h"
#include "Warp.h"
#include "WarpMatrix.h"

namespace blockscale::emulator::machine {
namespace {

/// ldmatrix and stmatrix.
struct RowsRecord {
  MatrixForm form;
  AddressOperand address;
  Slots registers;
  Where where = Where::Generic;
  bool store = false;
};

/// The bits of registers that are undefined.
void gatherUndefined(Exec &x, Slots slots, uint32_t *out) {
  for (size_t i = 0; i != slots.size(); ++i) {
    UndefinedHalves halves = x.undefinedHalves(slots[i]);
    for (unsigned lane = 0; lane != 32; ++lane)
      out[32 * i + lane] = (halves.low >> lane & 1 ? 0xFFFF : 0) |
                           (halves.high >> lane & 1 ? 0xFFFF0000 : 0);
  }
}

/// The reverse: a half with any such bit is undefined.
void scatterUndefined(Exec &x, Slots slots, const uint32_t *in) {
  for (size_t i = 0; i != slots.size(); ++i) {
    UndefinedHalves halves;
    for (unsigned lane = 0; lane != 32; ++lane) {
      uint32_t bits = in[32 * i + lane];
      halves.low |= uint32_t((bits & 0xFFFF) != 0) << lane;
      halves.high |= uint32_t(bits >> 16 != 0) << lane;
    }
    x.setUndefined(slots[i], halves);
  }
}

/// Which bytes of a row that was loaded were never written; whether there are
/// such.
bool lookUndefined(const Access &access, unsigned bytes, uint8_t *row) {
  if (!access.valid || !std::memchr(access.valid, 0, bytes))
    return false;
  for (unsigned i = 0; i != bytes; ++i)
    row[i] = uint8_t(~access.valid[i]);
  return true;
}

/// The same of one that has been stored.
void markUndefined(const Access &access, const uint8_t *row) {
  for (unsigned i = 0; access.valid && i != 16; ++i)
    if (row[i])
      access.valid[i] = 0;
}

Step moveRows(Exec &x, const Record &r) {
  Step step;
  if (!wholeWarp(x, r, step))
    return step;
  const auto &m = r.as<RowsRecord>();
  const MatrixForm &form = m.form;
  bool store = m.store;
  // Bytes that were never written move as the others do.
  uint8_t rows[32][16] = {}, undefined[32][16] = {};
  uint32_t values[4 * 32], undefinedBits[4 * 32];
  if (store) {
    gatherWords(x, m.registers, values);
    storeMatrix(form, values, rows);
    if (x.warp->tainted) {
      gatherUndefined(x, m.registers, undefinedBits);
      storeMatrix(form, undefinedBits, undefined);
    }
  }
  bool isDefined = true;
  unsigned bytes = form.rowBytes();
  for (unsigned lane = 0; lane != form.rows(); ++lane) {
    uint64_t address = m.where == Where::Generic
                           ? laneAddress(x, m.address, lane)
                           : laneShared(x, m.address, lane);
    Access access;
    if (!resolve(x, r, m.where, address, lane, bytes,
                 store ? Use::Write : Use::Read, access))
      return Step::Fault;
    Touch touch;
    touch.write = store;
    touch.collective = true;
    touchLane(x, r, lane, access, address, bytes, touch);
    std::memcpy(store ? access.data : rows[lane],
                store ? rows[lane] : access.data, bytes);
    if (store) {
      markWritten(access, bytes, true);
      markUndefined(access, undefined[lane]);
    } else if (lookUndefined(access, form.dataBytes(), undefined[lane])) {
      isDefined = false;
    }
  }
  if (store)
    return Step::Next;
  loadMatrix(form, rows, values);
  for (size_t i = 0; i != m.registers.size(); ++i)
    std::memcpy(x.at(m.registers[i]), values + 32 * i, 128);
  if (!isDefined) {
    loadMatrix(form, undefined, undefinedBits);
    scatterUndefined(x, m.registers, undefinedBits);
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
             : in.types.has(Type::S4)     ? MatrixFormat::S4
             : in.type() == Type::B8      ? MatrixFormat::B8
                                          : MatrixFormat::B16;
  f.num = in.has(Modifier::X4) ? 4 : in.has(Modifier::X2) ? 2 : 1;
  f.trans = in.has(Modifier::Trans);
  if (!f.legal(store))
    return d.refuse("this matrix form does not exist");
  m.address = d.address(in.operands[store ? 0 : 1]);
  size_t addresses = d.flow().sources.size();
  m.registers = d.slots(in.operands[store ? 1 : 0], 32, !store, d.scratch());
  if (m.registers.size() != f.registers())
    return d.refuse("expected " + std::to_string(f.registers()) +
                    " registers, found " + std::to_string(m.registers.size()));
  if (store)
    d.storesData(addresses);
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
  case Opcode::WmmaMma:
    return decodeWarpMultiply(d, in, r);
  case Opcode::WmmaLoadA:
  case Opcode::WmmaLoadB:
  case Opcode::WmmaLoadC:
  case Opcode::WmmaStoreD:
    return decodeWarpTile(d, in, r);
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
