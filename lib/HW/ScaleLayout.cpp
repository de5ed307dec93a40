//===- ScaleLayout.cpp - where every scale byte lies===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "blockscale/HW/ScaleLayout.h"

#include <initializer_list>

#include "blockscale/HW/Memory.h"

namespace blockscale::hw {

//===----------------------------------------------------------------------===//
// Global memory
//===----------------------------------------------------------------------===//

std::optional<std::string> whyNot(const ScaleTensor &tensor) {
  if (tensor.blockSize != 16 && tensor.blockSize != 32 &&
      tensor.blockSize != 64)
    return "a scale covers 16, 32 or 64 elements, found " +
           std::to_string(tensor.blockSize);
  if (tensor.mn == 0 || tensor.k == 0 || tensor.batch == 0)
    return "the scale tensor is empty";
  constexpr std::uint64_t limit = std::uint64_t(1) << 63;
  std::uint64_t bytes = kAtomBytes;
  for (std::uint64_t atoms :
       {atomsAlong(tensor.mn, kAtomRows),
        atomsAlong(tensor.k, std::uint64_t(kAtomScales) * tensor.blockSize),
        tensor.batch}) {
    if (atoms > limit / bytes)
      return "the scale tensor does not fit in memory";
    bytes *= atoms;
  }
  return std::nullopt;
}

static std::uint64_t rowAtoms(const ScaleTensor &tensor) {
  return atomsAlong(tensor.mn, kAtomRows);
}

static std::uint64_t atomsAlongK(const ScaleTensor &tensor) {
  return atomsAlong(tensor.k, std::uint64_t(kAtomScales) * tensor.blockSize);
}

std::uint64_t paddedRows(const ScaleTensor &tensor) {
  return rowAtoms(tensor) * kAtomRows;
}

std::uint64_t paddedScales(const ScaleTensor &tensor) {
  return atomsAlongK(tensor) * kAtomScales;
}

std::uint64_t storageBytes(const ScaleTensor &tensor) {
  return paddedRows(tensor) * paddedScales(tensor) * tensor.batch;
}

Answer<std::uint64_t> scaleOffset(const ScaleTensor &tensor, std::uint64_t mn,
                                  std::uint64_t k, std::uint64_t batch) {
  using Result = Answer<std::uint64_t>;
  if (auto why = whyNot(tensor))
    return Result::refuse(*why);
  if (mn >= tensor.mn || k >= tensor.k || batch >= tensor.batch)
    return Result::refuse(
        "element (" + std::to_string(mn) + ", " + std::to_string(k) +
        ") of batch " + std::to_string(batch) + " lies outside " +
        std::to_string(tensor.batch) + " x " + std::to_string(tensor.mn) +
        " x " + std::to_string(tensor.k));
  std::uint64_t scale = k / tensor.blockSize;
  std::uint64_t atom =
      (batch * rowAtoms(tensor) + mn / kAtomRows) * atomsAlongK(tensor) +
      scale / kAtomScales;
  return atom * kAtomBytes + atomOffset(mn % kAtomRows, scale % kAtomScales);
}

Answer<ScaleElement> scaleAt(const ScaleTensor &tensor, std::uint64_t offset) {
  using Result = Answer<ScaleElement>;
  if (auto why = whyNot(tensor))
    return Result::refuse(*why);
  if (offset >= storageBytes(tensor))
    return Result::refuse("offset " + std::to_string(offset) +
                          " lies outside the " +
                          std::to_string(storageBytes(tensor)) + " bytes");
  auto [row, scale] = atomElement(offset % kAtomBytes);
  std::uint64_t atom = offset / kAtomBytes, group = atom / atomsAlongK(tensor);
  ScaleElement element;
  element.scale = atom % atomsAlongK(tensor) * kAtomScales + scale;
  element.mn = group % rowAtoms(tensor) * kAtomRows + row;
  element.batch = group / rowAtoms(tensor);
  element.padding = element.mn >= tensor.mn ||
                    element.scale >= atomsAlong(tensor.k, tensor.blockSize);
  return element;
}

//===----------------------------------------------------------------------===//
// Tensor memory
//===----------------------------------------------------------------------===//

ScalePath scalePath(bool operandB, unsigned ctaGroup, unsigned m) {
  return operandB && ctaGroup == 2 && m == 128 ? ScalePath::TwoByTwo
                                               : ScalePath::FourByOne;
}

Answer<ScaleRegion> scaleRegion(ScalePath path, unsigned rows) {
  if (rows == 0 || rows > 256)
    return Answer<ScaleRegion>::refuse("scales of " + std::to_string(rows) +
                                       " rows; an instruction has 1 to 256");
  if (path == ScalePath::TwoByTwo) {
    if (rows % 16 != 0)
      return Answer<ScaleRegion>::refuse(
          "n is " + std::to_string(rows) +
          ", pairs of CTAs have multiples of 16");
    return ScaleRegion{path, rows,
                       static_cast<unsigned>(atomsAlong(rows / 2, 32))};
  }
  unsigned padded = static_cast<unsigned>(atomsAlong(rows, 128)) * 128;
  return ScaleRegion{path, padded, padded / 32};
}

/// Rows held by one group of replicated lanes.
static unsigned rowsPerHalf(const ScaleRegion &region) {
  return region.path == ScalePath::TwoByTwo ? region.rows / 2 : region.rows;
}

static std::optional<std::string> whyNot(const ScaleRegion &region) {
  unsigned columns = static_cast<unsigned>(atomsAlong(rowsPerHalf(region), 32));
  if (region.rows == 0 || region.rows > 256 ||
      (region.path == ScalePath::TwoByTwo && region.rows % 2 != 0))
    return "scales of " + std::to_string(region.rows) +
           " rows; an instruction has 1 to 256";
  if (region.wordStride < columns || region.wordStride > kTmemColumns)
    return "a word stride of " + std::to_string(region.wordStride) +
           " columns; the scales of " + std::to_string(region.rows) +
           " rows take " + std::to_string(columns) + " columns per word";
  return std::nullopt;
}

Answer<ScalePosition> scalePosition(const ScaleRegion &region, unsigned row,
                                    unsigned scale, unsigned replica) {
  using Result = Answer<ScalePosition>;
  if (auto why = whyNot(region))
    return Result::refuse(*why);
  if (row >= region.rows)
    return Result::refuse("row " + std::to_string(row) +
                          " lies outside the region of " +
                          std::to_string(region.rows) + " rows");
  if (replica >= replicas(region.path))
    return Result::refuse("replica " + std::to_string(replica) +
                          "; there are " +
                          std::to_string(replicas(region.path)));
  unsigned perHalf = rowsPerHalf(region);
  unsigned half = row / perHalf, inHalf = row % perHalf;
  std::uint64_t column =
      std::uint64_t(scale / kAtomScales) * region.wordStride + inHalf / 32;
  if (column >= kTmemColumns)
    return Result::refuse("column " + std::to_string(column) +
                          " lies outside the 512 of tensor memory");
  return ScalePosition{inHalf % 32 + 64 * half + 32 * replica,
                       static_cast<unsigned>(column), scale % kAtomScales};
}

Answer<ScaleIndex> scaleIndex(const ScaleRegion &region,
                              const ScalePosition &position) {
  using Result = Answer<ScaleIndex>;
  if (auto why = whyNot(region))
    return Result::refuse(*why);
  if (position.lane >= kTmemLanes || position.column >= kTmemColumns ||
      position.byte >= 4)
    return Result::refuse("lane " + std::to_string(position.lane) +
                          ", column " + std::to_string(position.column) +
                          ", byte " + std::to_string(position.byte) +
                          " is no place in tensor memory");
  bool twoByTwo = region.path == ScalePath::TwoByTwo;
  unsigned half = twoByTwo ? position.lane / 64 : 0;
  unsigned inHalf =
      position.column % region.wordStride * 32 + position.lane % 32;
  if (inHalf >= rowsPerHalf(region))
    return Result::refuse("no scale lies in column " +
                          std::to_string(position.column) + " of lane " +
                          std::to_string(position.lane));
  return ScaleIndex{half * rowsPerHalf(region) + inHalf,
                    position.column / region.wordStride * kAtomScales +
                        position.byte,
                    position.lane % (twoByTwo ? 64 : 128) / 32};
}

//===----------------------------------------------------------------------===//
// Successive MMAs
//===----------------------------------------------------------------------===//

namespace {
struct StepRow {
  unsigned k, blockSize;
  bool sparse;
  unsigned scales;
};

/// The number of scales is fixed per qualifier, so a sparse instruction, which
/// covers twice the K, has as many as the dense one.
constexpr std::array kSteps{
    StepRow{32, 32, false, 1}, StepRow{64, 32, true, 1},
    StepRow{64, 32, false, 2}, StepRow{128, 32, true, 2},
    StepRow{64, 16, false, 4}, StepRow{128, 16, true, 4},
    StepRow{96, 32, false, 3}, StepRow{96, 16, false, 6},
};
} // namespace

Answer<unsigned> scalesPerStep(unsigned k, unsigned blockSize, bool sparse) {
  for (const StepRow &row : kSteps)
    if (row.k == k && row.blockSize == blockSize && row.sparse == sparse)
      return row.scales;
  return Answer<unsigned>::refuse(
      "no instruction has K " + std::to_string(k) + " with blocks of " +
      std::to_string(blockSize) + (sparse ? ", sparse" : ", dense"));
}

Answer<ScaleStep> scaleStep(unsigned scalesPerMma, unsigned wordStride,
                            unsigned index) {
  using Result = Answer<ScaleStep>;
  std::uint64_t first = std::uint64_t(index) * scalesPerMma;
  std::uint64_t column = first / kAtomScales * wordStride;
  if (column >= kTmemColumns)
    return Result::refuse("the scales of step " + std::to_string(index) +
                          " would start in column " + std::to_string(column) +
                          " of 512");
  unsigned id = first % kAtomScales;
  if (!isScaleId(scalesPerMma, id))
    return Result::refuse("no instruction has " + std::to_string(scalesPerMma) +
                          " scales per row");
  return ScaleStep{static_cast<unsigned>(first), static_cast<unsigned>(column),
                   id};
}

bool isScaleId(unsigned scalesPerMma, unsigned id) {
  switch (scalesPerMma) {
  case 1:
  case 3:
    return id < 4;
  case 2:
  case 6:
    return id == 0 || id == 2;
  case 4:
    return id == 0;
  default:
    return false;
  }
}

ConsumedBytes consumedBytes(unsigned scalesPerMma, unsigned id) {
  ConsumedBytes consumed{};
  if (!isScaleId(scalesPerMma, id))
    return consumed;
  for (unsigned i = 0; i < scalesPerMma; ++i)
    consumed.bytes[i] = {(id + i) / kAtomScales, (id + i) % kAtomScales};
  consumed.count = scalesPerMma;
  return consumed;
}

unsigned halfAtomColumns(unsigned tileN, unsigned tile) {
  return tileN % 128 == 64 && tile % 2 == 1 ? 2 : 0;
}

} // namespace blockscale::hw
