//===- TensorCoreScales.cpp - reading scales of tcgen05.mma ---------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "TensorCoreImpl.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace blockscale::emulator::detail {

bool OperandReader::scaleColumns(unsigned cta, uint32_t address, unsigned id,
                                 const char *operand, bool anyColumn) {
  // Some producers repeat the id in bits 31..30 of the address.
  unsigned repeated = address >> 30;
  if (repeated && repeated != id)
    return fail(TensorIssueKind::Inconsistent,
                Hazard::IllegalInstructionDescriptor, cta, address,
                std::string("address of '") + operand + "' carries id " +
                    std::to_string(repeated) +
                    ", the instruction descriptor has " + std::to_string(id));
  if (address >> 16 & 0x3fff)
    return fail(TensorIssueKind::IllegalInstruction,
                Hazard::IllegalInstructionDescriptor, cta, address,
                std::string("address of '") + operand + "' must name lane 0");
  if (address & 1 && !anyColumn)
    return fail(TensorIssueKind::IllegalInstruction,
                Hazard::IllegalInstructionDescriptor, cta, address,
                std::string("column of '") + operand + "' is odd");
  if (address & 3)
    report.openPoints.add(OpenPoint::ScaleColumnAlignment);
  return true;
}

bool OperandReader::scaleWord(const ScaleSource &source, unsigned firstLane,
                              unsigned replicas, unsigned column, uint32_t mask,
                              uint32_t &word) {
  auto [cta, operand] = source;
  const TensorMemory &tensor = *context.cta[cta].tensor;
  if (column >= TensorMemory::kColumns || !tensor.allocated(column, 1))
    return fail(TensorIssueKind::Unallocated, Hazard::ColumnsUnallocated, cta,
                firstLane << 16 | column,
                std::string("'") + operand +
                    "' reads tensor-memory columns that are not allocated");
  word = tensor.row(firstLane)[column];
  for (unsigned r = 0; r < replicas; ++r) {
    unsigned lane = firstLane + 32 * r;
    if (!tensor.valid(lane, column))
      return fail(TensorIssueKind::Uninitialised, Hazard::ScalesMissing, cta,
                  lane << 16 | column,
                  std::string("'") + operand +
                      "' reads tensor memory that was never written");
    if ((tensor.row(lane)[column] ^ word) & mask)
      return fail(TensorIssueKind::Inconsistent, Hazard::ScalesMissing, cta,
                  lane << 16 | column,
                  std::string("replicas of '") + operand +
                      "' in the lane quadrants differ");
  }
  return true;
}

/// A ue4m3 scale has no sign, and what hardware makes of bit 7 is open. Padding
/// may hold anything as long as it scales zeros alone; the value is then taken
/// to be NaN, so that a result that depends on it cannot be right.
bool OperandReader::signedScale(const ScaleSource &source, uint32_t address,
                                unsigned row, unsigned s, Operand &out) {
  unsigned block = out.k / out.scaleCount;
  if (out.coded)
    out.expand();
  const float *elements = out.row(row) + s * block;
  if (std::any_of(elements, elements + block,
                  [](float value) { return value != 0; }))
    return fail(
        TensorIssueKind::Inconsistent, Hazard::SignedScale, source.cta, address,
        std::string("bit 7 is set in the 'ue4m3' scale in '") + source.operand +
            "' of elements " + std::to_string(s * block) + " to " +
            std::to_string((s + 1) * block - 1) + " of row " +
            std::to_string(row));
  out.scales[row * out.scaleCount + s] =
      std::numeric_limits<float>::quiet_NaN();
  return true;
}

bool OperandReader::scaleRow(const ScaleSource &source, const ScalePlace &place,
                             unsigned row, Operand &out) {
  const float *table = tableOf(idesc.scale);
  for (unsigned s = 0; s < out.scaleCount;) {
    unsigned byte = (place.firstByte + s) % 4;
    unsigned take = std::min(4 - byte, out.scaleCount - s);
    unsigned column =
        place.firstColumn + (place.firstByte + s) / 4 * place.wordStride;
    uint32_t mask = uint32_t(((uint64_t(1) << 8 * take) - 1) << 8 * byte), word;
    if (!scaleWord(source, place.firstLane, place.replicas, column, mask, word))
      return false;
    for (unsigned i = 0; i < take; ++i, ++s) {
      float &scale = out.scales[row * out.scaleCount + s];
      uint32_t code = word >> 8 * (byte + i) & 0xff;
      scale = table[code];
      if (idesc.scale == Element::UE4M3 && code & 0x80 &&
          !signedScale(source, place.firstLane << 16 | column, row, s, out))
        return false;
      if (std::isnan(scale))
        report.openPoints.add(OpenPoint::NaNScale);
    }
  }
  return true;
}

/// Scales of up to 32 rows, from `first` on, whose words share their columns.
bool OperandReader::scaleRows(const ScaleSource &source, ScalePlace place,
                              unsigned first, unsigned rows, Operand &out) {
  const TensorMemory &tensor = *context.cta[source.cta].tensor;
  const float *table = tableOf(idesc.scale);
  unsigned count = out.scaleCount;
  float *to = &out.scales[first * count];
  bool clean = true;
  for (unsigned s = 0; s < count && clean;) {
    unsigned byte = (place.firstByte + s) % 4;
    unsigned take = std::min(4 - byte, count - s);
    unsigned column =
        place.firstColumn + (place.firstByte + s) / 4 * place.wordStride;
    uint32_t mask = uint32_t(((uint64_t(1) << 8 * take) - 1) << 8 * byte);
    if (!tensor.allocated(column, 1))
      break;
    uint32_t differ = 0, signs = 0;
    bool nan = false;
    for (unsigned r = 0; r < rows; ++r) {
      unsigned lane = place.firstLane + r;
      uint32_t word = tensor.row(lane)[column];
      for (unsigned q = 0; q < place.replicas; ++q) {
        clean &= tensor.valid(lane + 32 * q, column);
        differ |= tensor.row(lane + 32 * q)[column] ^ word;
      }
      signs |= word;
      for (unsigned i = 0; i < take; ++i) {
        float value = table[word >> 8 * (byte + i) & 0xff];
        to[r * count + s + i] = value;
        nan |= std::isnan(value);
      }
    }
    clean &= !(differ & mask) && !nan &&
             !(idesc.scale == Element::UE4M3 && signs & mask & 0x80808080);
    s += take;
    if (clean && s == count)
      return true;
  }
  // Something is special: row by row says what.
  for (unsigned r = 0; r < rows; ++r, ++place.firstLane)
    if (!scaleRow(source, place, first + r, out))
      return false;
  return true;
}

bool OperandReader::readScalesA(unsigned cta, Operand &out) {
  if (!scaleColumns(cta, request.scaleA, idesc.scaleIdA, "SFA",
                    idesc.rowScalesA))
    return false;
  unsigned base = TensorMemory::columnOf(request.scaleA);
  for (unsigned r = 0; idesc.rowScalesA && r < out.rows; r += 32)
    if (!scaleRows({cta, "SFA"}, {r, 1, base, 1, idesc.scaleIdA}, r, 32, out))
      return false;
  if (idesc.rowScalesA)
    return true;
  for (unsigned r = 0; r < out.rows; r += 32)
    if (!scaleRows({cta, "SFA"}, {0, 4, base + r / 32, 4, idesc.scaleIdA}, r,
                   std::min(32u, out.rows - r), out))
      return false;
  return true;
}

bool OperandReader::readScalesB(unsigned cta, Operand &out) {
  if (!scaleColumns(cta, request.scaleB, idesc.scaleIdB, "SFB", false))
    return false;
  unsigned base = TensorMemory::columnOf(request.scaleB);
  bool split = request.form.ctaGroup == 2 && idesc.m == 128;
  unsigned half = split ? idesc.n / 2 : idesc.n;
  unsigned wordStride = split ? (half + 31) / 32 : idesc.n > 128 ? 8 : 4;
  for (unsigned n = 0, take; n < out.rows; n += take) {
    unsigned within = n % half;
    take = std::min(32u, half - within);
    if (!scaleRows({cta, "SFB"},
                   {n / half * 64, split ? 2u : 4u, base + within / 32,
                    wordStride, idesc.scaleIdB},
                   n, take, out))
      return false;
  }
  return true;
}

} // namespace blockscale::emulator::detail
