//===- ConstantSparse.cpp - constants with structured sparsity ------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "ConstantSparse.h"
#include "blockscale/Dialect/Blockscale/IR/ElementTypes.h"
#include "blockscale/Dialect/Blockscale/IR/LayoutOfScales.h"
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
  if (getMetadataLayout(type) == ScaleLayout::Plain)
    return rows;
  std::optional<std::vector<uint8_t>> tiled = packing::tileMetadata(
      metadataOf(type), TensorShape(type).matrices, {rows.begin(), rows.end()});
  assert(tiled && "the verifier lets only metadata with a layout pass");
  return {tiled->begin(), tiled->end()};
}

std::vector<uint32_t> blockscale::loadMetadata(ScaledTensorType type,
                                               std::vector<uint32_t> stored) {
  if (getMetadataLayout(type) == ScaleLayout::Plain)
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
// Rows
//===----------------------------------------------------------------------===//

/// Bits of a byte of a mask, each of an element.
static constexpr size_t kBitsOfByte = 8;

/// A row whose metadata have a bit for each element; nothing where a group has
/// more elements that are not 0 than are stored.
static std::optional<hw::CompressedRow>
compressByMask(SparseForm form, ArrayRef<uint32_t> logical) {
  hw::CompressedRow row;
  row.metadata.resize(logical.size() / kBitsOfByte);
  for (size_t first = 0; first < logical.size(); first += form.chunk) {
    size_t full = row.stored.size() + form.stored;
    for (size_t k = first; k < first + form.chunk; ++k) {
      if (!logical[k])
        continue;
      row.stored.push_back(logical[k]);
      row.metadata[k / kBitsOfByte] |= uint8_t(1u << k % kBitsOfByte);
    }
    if (row.stored.size() > full)
      return std::nullopt;
    row.stored.resize(full);
  }
  return row;
}

/// The inverse; nothing where a mask has more bits than there are elements.
static std::optional<std::vector<uint32_t>>
decompressByMask(SparseForm form, const hw::CompressedRow &row) {
  std::vector<uint32_t> logical(row.metadata.size() * kBitsOfByte);
  size_t next = 0;
  for (size_t k = 0; k < logical.size(); ++k) {
    size_t group = k / form.chunk * form.stored;
    if (k % form.chunk == 0)
      next = group;
    if (!(row.metadata[k / kBitsOfByte] >> k % kBitsOfByte & 1))
      continue;
    if (next == group + form.stored)
      return std::nullopt;
    logical[k] = row.stored[next++];
  }
  return logical;
}

/// A row of `logical` numbers of as many bits, 0 for what is 0.
static std::optional<hw::CompressedRow>
compressRow(ScaledTensorType type, unsigned bits,
            const std::vector<uint32_t> &logical) {
  std::optional<hw::SparsePattern> pattern = sparsePattern(type);
  if (!pattern)
    return compressByMask(sparseForm(type), logical);
  auto row = hw::compress(*pattern, bits, logical, hw::HighestBit::Number);
  return row ? std::optional(*row) : std::nullopt;
}

static std::optional<std::vector<uint32_t>>
decompressRow(ScaledTensorType type, const hw::CompressedRow &row) {
  std::optional<hw::SparsePattern> pattern = sparsePattern(type);
  if (!pattern)
    return decompressByMask(sparseForm(type), row);
  Result<std::vector<uint32_t>> logical = hw::decompress(*pattern, row);
  return logical ? std::optional(*logical) : std::nullopt;
}

//===----------------------------------------------------------------------===//
// Compression
//===----------------------------------------------------------------------===//

std::optional<ConstantParts> blockscale::compressConstant(ScaledTensorType from,
                                                          ConstantParts parts,
                                                          ScaledTensorType to) {
  TensorShape shape(from);
  SparseForm form = sparseForm(to);
  Type element = getTensorParts(from)->data.getElementType();
  unsigned bits = element.getIntOrFloatBitWidth(), zeroBits = 0;
  bool hasZeros = !parts.zeros.empty();
  if (hasZeros)
    zeroBits =
        getTensorParts(from)->zeros.getElementType().getIntOrFloatBitWidth();
  bool hasSign = !hasZeros && highestBit(element) == hw::HighestBit::Sign;
  uint32_t sign = hasSign ? uint32_t(1) << (bits - 1) : 0;
  std::vector<uint32_t> stored, metadata;
  for (uint64_t first = 0; first < shape.elements(); first += shape.k) {
    auto zeroAt = [&](uint64_t k) -> int64_t {
      if (!hasZeros)
        return 0;
      return llvm::SignExtend64(parts.zeros[shape.tileOf(first + k)], zeroBits);
    };
    // 0 for what is 0; a code of 0 may be none, which is a number above it
    // then.
    std::vector<uint32_t> logical;
    for (uint64_t k = 0; k < shape.k; ++k) {
      uint32_t code = parts.data[first + k];
      bool isZero = int64_t(code & ~sign) == zeroAt(k);
      logical.push_back(isZero ? 0 : code + hasZeros);
    }
    auto row = compressRow(to, bits + hasZeros, logical);
    if (!row)
      return std::nullopt;
    for (auto [place, code] : llvm::enumerate(row->stored))
      stored.push_back(
          code ? code - hasZeros
               : uint32_t(zeroAt(place / form.stored * uint64_t(form.chunk))));
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
    std::optional<std::vector<uint32_t>> logical = decompressRow(type, row);
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
