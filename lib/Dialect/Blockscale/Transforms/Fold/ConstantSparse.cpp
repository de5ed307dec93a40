//===- ConstantSparse.cpp - constants with structured sparsity ------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "ConstantSparse.h"
#include "blockscale/HW/Metadata.h"
#include "blockscale/Packing/Sparse.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace blockscale;

//===----------------------------------------------------------------------===//
// Metadata
//===----------------------------------------------------------------------===//

static hw::MetadataTensor metadataOf(ScaledTensorType type) {
  return {*sparsePattern(type), static_cast<uint64_t>(type.getNumRows()),
          static_cast<uint64_t>(type.getK())};
}

std::vector<uint32_t> blockscale::storeMetadata(ScaledTensorType type,
                                                std::vector<uint32_t> rows) {
  if (type.getLayout() == ScaleLayout::Plain)
    return rows;
  std::optional<std::vector<uint8_t>> tiled = packing::tileMetadata(
      metadataOf(type), TensorShape(type).matrices, {rows.begin(), rows.end()});
  assert(tiled && "the verifier lets only metadata with a layout pass");
  return {tiled->begin(), tiled->end()};
}

std::vector<uint32_t> blockscale::loadMetadata(ScaledTensorType type,
                                               std::vector<uint32_t> stored) {
  if (type.getLayout() == ScaleLayout::Plain)
    return stored;
  hw::MetadataTensor tensor = metadataOf(type);
  uint64_t step = hw::elementsPerMetadataByte(tensor.pattern);
  std::vector<uint32_t> rows;
  for (uint64_t i = 0, e = TensorShape(type).matrices; i < e; ++i)
    for (uint64_t m = 0; m < tensor.m; ++m)
      for (uint64_t k = 0; k < tensor.k; k += step)
        rows.push_back(stored[i * hw::storageBytes(tensor) +
                              *hw::metadataOffset(tensor, m, k)]);
  return rows;
}

//===----------------------------------------------------------------------===//
// Zero points
//===----------------------------------------------------------------------===//

std::optional<ConstantParts>
blockscale::compressWithZeros(ScaledTensorType from, ConstantParts parts,
                              ScaledTensorType to) {
  hw::SparsePattern pattern = *sparsePattern(to);
  TensorShape shape(from);
  unsigned bits = from.getElementType().getIntOrFloatBitWidth();
  unsigned zeroBits =
      getTensorParts(from)->zeros.getElementType().getIntOrFloatBitWidth();
  std::vector<uint32_t> stored, metadata;
  for (uint64_t first = 0; first < shape.elements(); first += shape.k) {
    auto zeroAt = [&](uint64_t k) {
      return llvm::SignExtend64(parts.zeros[shape.tileOf(first + k)], zeroBits);
    };
    // 0 for what is 0, else a number above the code.
    std::vector<uint32_t> logical;
    for (uint64_t k = 0; k < shape.k; ++k) {
      uint32_t code = parts.data[first + k];
      logical.push_back(int64_t(code) == zeroAt(k) ? 0 : code + 1);
    }
    auto row = hw::compress(pattern, bits + 1, logical, hw::HighestBit::Number);
    if (!row)
      return std::nullopt;
    for (auto [place, code] : llvm::enumerate(row->stored))
      stored.push_back(
          code ? code - 1
               : uint32_t(zeroAt(place * uint64_t(hw::kSparseCompression))));
    llvm::append_range(metadata, row->metadata);
  }
  parts.data = std::move(stored);
  parts.metadata = std::move(metadata);
  return parts;
}

//===----------------------------------------------------------------------===//
// Dense forms
//===----------------------------------------------------------------------===//

/// Codes of all elements of which `stored` are there, zeros for others.
static std::optional<std::vector<uint32_t>>
decompress(ScaledTensorType type, ArrayRef<uint32_t> stored,
           ArrayRef<uint32_t> metadata) {
  uint64_t rows = TensorShape(type).elements() / type.getK();
  size_t storedOfRow = stored.size() / rows,
         bytesOfRow = metadata.size() / rows;
  std::vector<uint32_t> codes;
  for (; rows > 0; --rows) {
    hw::CompressedRow row;
    row.stored = stored.take_front(storedOfRow).vec();
    llvm::append_range(row.metadata, metadata.take_front(bytesOfRow));
    Result<std::vector<uint32_t>> logical =
        hw::decompress(*sparsePattern(type), row);
    if (!logical || logical->size() != static_cast<uint64_t>(type.getK()))
      return std::nullopt;
    llvm::append_range(codes, *logical);
    stored = stored.drop_front(storedOfRow);
    metadata = metadata.drop_front(bytesOfRow);
  }
  return codes;
}

/// The scale of each tile of `to`, one of `from` that it lies in.
static std::vector<uint32_t> repeatScales(ScaledTensorType from,
                                          ArrayRef<uint32_t> scales,
                                          ScaledTensorType to) {
  TensorShape coarse(from), fine(to);
  std::vector<uint32_t> repeated;
  for (uint64_t tile = 0; tile < fine.tiles(); ++tile) {
    uint64_t column = tile % fine.tileColumns * fine.columnTile;
    repeated.push_back(scales[tile / fine.tileColumns * coarse.tileColumns +
                              column / coarse.columnTile]);
  }
  return repeated;
}

std::optional<ConstantParts> blockscale::densifyConstant(ScaledTensorType from,
                                                         ConstantParts parts,
                                                         ScaledTensorType to) {
  if (from.getSpec().getValue().isSparse()) {
    std::optional<std::vector<uint32_t>> codes =
        decompress(from, parts.data, parts.metadata);
    if (!codes)
      return std::nullopt;
    if (!parts.zeros.empty())
      parts.kept = *decompress(
          from, std::vector<uint32_t>(parts.data.size(), 1), parts.metadata);
    parts.data = std::move(*codes);
    parts.metadata.clear();
  }
  if (!parts.scales.empty())
    parts.scales = repeatScales(from, parts.scales, to);
  if (!parts.zeros.empty())
    parts.zeros = repeatScales(from, parts.zeros, to);
  return parts;
}
