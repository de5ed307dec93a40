//===- ScaleLayout.cpp - where every scale byte lies===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "blockscale/HW/ScaleLayout.h"

#include "blockscale/HW/Memory.h"
#include "blockscale/HW/Mma.h"

namespace blockscale::hw {

//===----------------------------------------------------------------------===//
// Global memory
//===----------------------------------------------------------------------===//

std::optional<Reason> whyNot(const ScaleTensor &tensor) {
  if (tensor.blockSize != 16 && tensor.blockSize != 32 &&
      tensor.blockSize != 64)
    return "a scale covers 16, 32 or 64 elements, found " +
           std::to_string(tensor.blockSize);
  if (tensor.mn == 0 || tensor.k == 0 || tensor.batch == 0)
    return "the scale tensor is empty";
  constexpr std::uint64_t limit = std::uint64_t(1) << 63;
  std::uint64_t bytes = kAtomBytes;
  for (std::uint64_t atoms :
       {ceilDiv(tensor.mn, kAtomRows),
        atomsAlong(tensor.k, std::uint64_t(kAtomScales) * tensor.blockSize),
        tensor.batch}) {
    if (atoms > limit / bytes)
      return "the scale tensor does not fit in memory";
    bytes *= atoms;
  }
  return std::nullopt;
}

/// Extents of the sources of the layout.
static Coordinates extentsOf(const ScaleTensor &tensor) {
  return {{Dim::Batch, tensor.batch},
          {Dim::Row, tensor.mn},
          {Dim::Block, ceilDiv(tensor.k, tensor.blockSize)}};
}

static StorageLayout<std::uint64_t> storageOf(const ScaleTensor &tensor) {
  return storageLayout(kTiledScales, extentsOf(tensor));
}

/// The extent of `source` in whole atoms.
static std::uint64_t padded(const ScaleTensor &tensor, Dim source) {
  std::uint64_t multiple = kTiledScales.multipleOf(source);
  return ceilDiv(extentsOf(tensor)[source], multiple) * multiple;
}

std::uint64_t paddedRows(const ScaleTensor &tensor) {
  return padded(tensor, Dim::Row);
}

std::uint64_t paddedScales(const ScaleTensor &tensor) {
  return padded(tensor, Dim::Block);
}

std::uint64_t storageBytes(const ScaleTensor &tensor) {
  return storageOf(tensor).matrixBytes * tensor.batch;
}

Result<std::uint64_t> scaleOffset(const ScaleTensor &tensor, std::uint64_t mn,
                                  std::uint64_t k, std::uint64_t batch) {
  if (auto why = whyNot(tensor))
    return *why;
  if (mn >= tensor.mn || k >= tensor.k || batch >= tensor.batch)
    return Reason("element (" + std::to_string(mn) + ", " + std::to_string(k) +
                  ") of batch " + std::to_string(batch) + " lies outside " +
                  std::to_string(tensor.batch) + " x " +
                  std::to_string(tensor.mn) + " x " + std::to_string(tensor.k));
  return storageOf(tensor).offset({{Dim::Batch, batch},
                                   {Dim::Row, mn},
                                   {Dim::Block, k / tensor.blockSize}});
}

Result<ScaleElement> scaleAt(const ScaleTensor &tensor, std::uint64_t offset) {
  if (auto why = whyNot(tensor))
    return *why;
  if (offset >= storageBytes(tensor))
    return Reason("offset " + std::to_string(offset) + " lies outside the " +
                  std::to_string(storageBytes(tensor)) + " bytes");
  Coordinates source = storageOf(tensor).at(offset);
  ScaleElement element;
  element.scale = source[Dim::Block];
  element.mn = source[Dim::Row];
  element.batch = source[Dim::Batch];
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

Result<ScaleRegion> scaleRegion(ScalePath path, unsigned rows) {
  if (rows == 0 || rows > 256)
    return Reason("scales of " + std::to_string(rows) +
                  " rows; an instruction has 1 to 256");
  if (path == ScalePath::RowPerLane) {
    if (rows != kAtomRows)
      return Reason("scales of " + std::to_string(rows) +
                    " rows; with one row to a lane there are 128");
    return ScaleRegion{path, rows, 1};
  }
  if (path == ScalePath::TwoByTwo) {
    if (rows % 16 != 0)
      return Reason("n is " + std::to_string(rows) +
                    ", pairs of CTAs have multiples of 16");
    return ScaleRegion{path, rows,
                       static_cast<unsigned>(ceilDiv(rows / 2, kAtomLanes))};
  }
  unsigned padded = static_cast<unsigned>(ceilDiv(rows, kAtomRows)) * kAtomRows;
  return ScaleRegion{path, padded, padded / kAtomLanes};
}

/// Rows held by one group of replicated lanes.
static unsigned rowsPerHalf(const ScaleRegion &region) {
  return region.path == ScalePath::TwoByTwo ? region.rows / 2 : region.rows;
}

std::optional<Reason> whyNot(const ScaleRegion &region) {
  unsigned columns =
      static_cast<unsigned>(ceilDiv(rowsPerHalf(region), kAtomLanes));
  if (region.path == ScalePath::RowPerLane) {
    if (region.rows != kAtomRows || region.wordStride != 1)
      return Reason(
          "with one row to a lane there are 128 rows, and words follow "
          "each other");
    return std::nullopt;
  }
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

Layout scaleLayout(const ScaleRegion &region) {
  if (region.path == ScalePath::RowPerLane)
    return kRowPerLane;
  // On the 2x2 path the rows of each half start again at its first lane.
  std::uint64_t rows = rowsPerHalf(region);
  bool twoByTwo = region.path == ScalePath::TwoByTwo;
  std::uint64_t period = twoByTwo ? rows : 0;
  Layout layout{{Dim::Row, 1, kAtomLanes, Dim::Lane, 1, period},
                {Dim::Replica, 1, 0, Dim::Lane, kAtomLanes}};
  if (twoByTwo)
    layout.add({Dim::Row, rows, 0, Dim::Lane, kTmemLanes / 2});
  // Fewer rows take a single column, which nothing needs to say.
  if (rows > kAtomLanes)
    layout.add({Dim::Row, kAtomLanes, 0, Dim::Column, 1, period});
  layout.add({Dim::Block, kAtomScales, 0, Dim::Column, region.wordStride});
  layout.add({Dim::Block, 1, kAtomScales, Dim::Byte});
  return layout;
}

unsigned scaleColumns(unsigned rows, unsigned scales) {
  Result<ScaleRegion> region = scaleRegion(ScalePath::FourByOne, rows);
  if (!region)
    return 0;
  return static_cast<unsigned>(scaleLayout(*region).extent(
      Dim::Column, {{Dim::Row, region->rows}, {Dim::Block, scales}}));
}

Result<ScalePosition> scalePosition(const ScaleRegion &region, unsigned row,
                                    unsigned scale, unsigned replica) {
  if (auto why = whyNot(region))
    return *why;
  if (row >= region.rows)
    return Reason("row " + std::to_string(row) +
                  " lies outside the region of " + std::to_string(region.rows) +
                  " rows");
  if (replica >= replicas(region.path))
    return Reason("replica " + std::to_string(replica) + "; there are " +
                  std::to_string(replicas(region.path)));
  Coordinates at = scaleLayout(region).at(
      {{Dim::Row, row}, {Dim::Block, scale}, {Dim::Replica, replica}});
  if (at[Dim::Column] >= kTmemColumns)
    return Reason("column " + std::to_string(at[Dim::Column]) +
                  " lies outside the 512 of tensor memory");
  return ScalePosition{static_cast<unsigned>(at[Dim::Lane]),
                       static_cast<unsigned>(at[Dim::Column]),
                       static_cast<unsigned>(at[Dim::Byte])};
}

Result<ScaleIndex> scaleIndex(const ScaleRegion &region,
                              const ScalePosition &position) {
  if (auto why = whyNot(region))
    return *why;
  if (position.lane >= kTmemLanes || position.column >= kTmemColumns ||
      position.byte >= 4)
    return Reason("lane " + std::to_string(position.lane) + ", column " +
                  std::to_string(position.column) + ", byte " +
                  std::to_string(position.byte) +
                  " is no place in tensor memory");
  std::optional<Coordinates> source =
      scaleLayout(region).sourceAt({{Dim::Lane, position.lane},
                                    {Dim::Column, position.column},
                                    {Dim::Byte, position.byte}});
  if (!source || (*source)[Dim::Row] >= region.rows)
    return Reason("no scale lies in column " + std::to_string(position.column) +
                  " of lane " + std::to_string(position.lane));
  return ScaleIndex{static_cast<unsigned>((*source)[Dim::Row]),
                    static_cast<unsigned>((*source)[Dim::Block]),
                    static_cast<unsigned>((*source)[Dim::Replica])};
}

//===----------------------------------------------------------------------===//
// Successive MMAs
//===----------------------------------------------------------------------===//

Result<ScaleStep> scaleStep(unsigned scalesPerMma, unsigned wordStride,
                            unsigned index) {
  std::uint64_t first = std::uint64_t(index) * scalesPerMma;
  std::uint64_t column = first / kAtomScales * wordStride;
  if (column >= kTmemColumns)
    return Reason("the scales of step " + std::to_string(index) +
                  " would start in column " + std::to_string(column) +
                  " of 512");
  unsigned id = first % kAtomScales;
  if (!isScaleId(scalesPerMma, id))
    return Reason("no instruction has " + std::to_string(scalesPerMma) +
                  " scales per row");
  return ScaleStep{static_cast<unsigned>(first), static_cast<unsigned>(column),
                   id};
}

unsigned wordsPerMma(unsigned scalesPerMma, unsigned id) {
  return static_cast<unsigned>(ceilDiv(id + scalesPerMma, kAtomScales));
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

} // namespace blockscale::hw
