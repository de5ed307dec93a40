//===- SparseStorage.cpp - what kernels prune, compress and densify -------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "KernelElements.h"
#include "blockscale/Dialect/Blockscale/IR/Conversion.h"
#include "blockscale/Dialect/Blockscale/IR/ElementTypes.h"
#include "blockscale/Dialect/Blockscale/IR/LayoutOfScales.h"
#include "blockscale/Dialect/Blockscale/IR/Layouts.h"
#include "blockscale/Dialect/Blockscale/IR/Promotion.h"

#include <numeric>

using namespace mlir;
using namespace blockscale;

static AffineExpr extentOf(MLIRContext *context, int64_t extent,
                           unsigned symbol) {
  if (ShapedType::isDynamic(extent))
    return getAffineSymbolExpr(symbol, context);
  return getAffineConstantExpr(extent, context);
}

/// Sets the sizes of matrices of this shape.
static void setSizes(MLIRContext *context, ArrayRef<int64_t> shape,
                     QuantizedStorage &storage) {
  storage.rows = extentOf(context, shape[shape.size() - 2], 0);
  storage.k = extentOf(context, shape.back(), 2);
  storage.batch = extentOf(context, shape.size() == 3 ? shape.front() : 1, 3);
}

/// Why a thread cannot have whole pieces of lines.
static std::optional<Reason> whyNotMultiple(AffineExpr k, int64_t multiple) {
  auto constant = dyn_cast<AffineConstantExpr>(k);
  if (!constant || constant.getValue() % multiple == 0)
    return std::nullopt;
  return "a thread of the kernel has " + std::to_string(multiple) +
         " elements of a row, but K = " + std::to_string(constant.getValue()) +
         "; nearest legal: K = " +
         std::to_string((constant.getValue() / multiple + 1) * multiple);
}

/// Why lines that a kernel writes would have padding, which nothing keeps out
/// of sums where there are no scales.
static std::optional<Reason> whyPadded(AffineExpr k, int64_t multiple) {
  auto constant = dyn_cast<AffineConstantExpr>(k);
  if (!constant || constant.getValue() % multiple == 0)
    return std::nullopt;
  return "a kernel writes no padding of elements without scales, but K = " +
         std::to_string(constant.getValue()) + " is no multiple of " +
         std::to_string(multiple) +
         ", so that lines of the result would have some";
}

//===----------------------------------------------------------------------===//
// Prune
//===----------------------------------------------------------------------===//

Result<QuantizedStorage> blockscale::prunedStorage(RankedTensorType type,
                                                   int64_t group) {
  constexpr int64_t kSectorBits = 256;
  QuantizedStorage storage;
  setSizes(type.getContext(), type.getShape(), storage);
  storage.block =
      std::max(group, kSectorBits / int64_t(type.getElementTypeBitWidth()));
  if (auto why = whyNotMultiple(storage.k, storage.block))
    return *why;
  return storage;
}

AffineExpr blockscale::threadsToPrune(const QuantizedStorage &storage) {
  return storage.k.floorDiv(storage.block) * storage.rows * storage.batch;
}

//===----------------------------------------------------------------------===//
// Compress, densify
//===----------------------------------------------------------------------===//

/// Why no kernel takes or makes a sparse tensor of `type`.
static std::optional<Reason> whyNotArranged(ScaledTensorType type) {
  const ScaleSpec &spec = type.getSpec().getValue();
  std::string name = "'" + std::string(type.getSpec().getText()) + "'";
  if (auto why = whyNotAlongK(type, "keeps or drops elements", "the operand"))
    return why;
  if (spec.zero)
    return "a kernel keeps or drops elements without zero points, which " +
           name + " has";
  if (!sparsePattern(type))
    return "a kernel keeps or drops by patterns that instructions skip, which "
           "that of " +
           name + " is not; nearest legal: 'n2m4'";
  return std::nullopt;
}

/// Of elements that a sparse instruction of some chip reads, how TMA brings
/// them there.
static const hw::TensorMapDataTypeInfo *
mapOf(std::optional<hw::OperandType> element, hw::SparsePattern pattern) {
  if (!element || hw::findSchemes(*element, *element, std::nullopt,
                                  /*scaleSpan=*/0, /*sparse=*/true)
                      .empty())
    return nullptr;
  constexpr unsigned kPacked = 4, kByte = 8;
  bool isPacked = pattern == hw::SparsePattern::PairsFourOfEight;
  unsigned container = isPacked ? kPacked : std::max(kByte, element->bits());
  return &hw::tensorMapDataTypeInfo(
      *hw::tensorMapDataType(*element, container));
}

int64_t blockscale::elementsOfWord(hw::SparsePattern pattern) {
  return kMetadataOfWord * int64_t(hw::elementsPerMetadataByte(pattern));
}

/// The scales of `from` as those of `to`, which lie row by row as well.
static RepeatedScales repeatedPlainScales(ScaledTensorType from,
                                          ScaledTensorType to,
                                          const QuantizedStorage &dense) {
  MLIRContext *context = from.getContext();
  const NumberSpec &scale = *from.getSpec().getValue().scale;
  AffineExpr one = getAffineConstantExpr(1, context);
  int64_t rows = from.getRowTile();
  return {byteFactor(scale) ? IntegerType::get(context, 8)
                            : getBuiltinType(context, scale),
          rows ? dense.rows.ceilDiv(rows) : one,
          dense.k.ceilDiv(from.getKTile()),
          dense.k.ceilDiv(to.getKTile()),
          dense.batch,
          from.getKTile() / to.getKTile()};
}

Result<SparseStorage> blockscale::sparseStorage(ScaledTensorType from,
                                                ScaledTensorType to) {
  bool compresses = to.getSpec().getValue().isSparse();
  ScaledTensorType sparse = compresses ? to : from;
  if (auto why = whyNotArranged(sparse))
    return *why;
  hw::SparsePattern pattern = *sparsePattern(sparse);
  std::optional<hw::OperandType> element =
      getOperandType(sparse.getElementType());
  const hw::TensorMapDataTypeInfo *map = mapOf(element, pattern);
  if (!map) {
    std::string name;
    llvm::raw_string_ostream(name) << sparse.getElementType();
    return Reason("no sparse instruction reads elements of " + name +
                  ", so that no kernel keeps or drops them; nearest legal: "
                  "f8E4M3FN");
  }
  MLIRContext *context = sparse.getContext();
  SparseStorage storage{{}, {}, *element, pattern, {}};
  storage.padsMetadata = sparse.getLayout() != ScaleLayout::Plain;
  setSizes(context, sparse.getShape(), storage.dense);
  AffineExpr k = storage.dense.k;
  storage.sparse = storage.dense;
  setLines(storage.dense, *map, k);
  setLines(storage.sparse, *map, k.floorDiv(int64_t(hw::kSparseCompression)));
  int64_t multiple = elementsOfWord(pattern);
  if (auto why = whyNotMultiple(k, multiple))
    return *why;
  if (sparse.getSpec().getValue().isUnscaled()) {
    int64_t whole =
        int64_t(map->innerMultiple) * (compresses ? hw::kSparseCompression : 1);
    if (auto why = whyPadded(k, whole))
      return *why;
    multiple = std::lcm(multiple, whole);
  }
  storage.dense.block = storage.sparse.block = multiple;
  storage.metadata = getStorageBytes(
      getMetadataStorage(sparse.getLayout()), storage.dense.rows, k,
      int64_t(hw::elementsPerMetadataByte(pattern)));
  if (sparse.getSpec().getValue().isUnscaled() ||
      from.getKTile() == to.getKTile())
    return storage;
  if (getScaleLayout(from) == ScaleLayout::Plain &&
      isFactor(context, *from.getSpec().getValue().scale)) {
    storage.plainScales = repeatedPlainScales(from, to, storage.dense);
    return storage;
  }
  Result<MovedBytes> scales = repeatedScales(from, to);
  if (!scales)
    return Reason(scales.why().text + "; or a result with a scale for " +
                  std::to_string(from.getKTile()) +
                  " elements along K, as the operand has");
  storage.scales = *scales;
  return storage;
}

AffineExpr blockscale::metadataRows(const SparseStorage &storage) {
  constexpr int64_t kRows = hw::kMetadataTileRows;
  return storage.dense.rows.ceilDiv(kRows) * kRows;
}

AffineExpr blockscale::metadataTiles(const SparseStorage &storage) {
  return storage.dense.k.ceilDiv(elementsOfWord(storage.pattern) *
                                 kWordsOfMetadataRow);
}

AffineExpr blockscale::threadsOfMetadata(const SparseStorage &storage) {
  return metadataRows(storage) * kWordsOfMetadataRow * metadataTiles(storage) *
         storage.dense.batch;
}

AffineExpr blockscale::threadsOfSparse(const SparseStorage &storage) {
  AffineExpr threads = threadsOfMetadata(storage);
  if (storage.plainScales)
    return threads + threadsToRepeat(*storage.plainScales);
  return storage.scales ? threads + threadsToMove(*storage.scales) : threads;
}
