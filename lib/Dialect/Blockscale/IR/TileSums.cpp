//===- TileSums.cpp - sums of a scaled tensor over tiles along K ----------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "KernelElements.h"
#include "TensorVerifiers.h"
#include "blockscale/Dialect/Blockscale/IR/Conversion.h"
#include "blockscale/Dialect/Blockscale/IR/ElementTypes.h"
#include "blockscale/Dialect/Blockscale/IR/Promotion.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace blockscale;

//===----------------------------------------------------------------------===//
// TileSumsOp
//===----------------------------------------------------------------------===//

/// Sums that the pieces of a tile are dealt to; 0 is one of all of K.
static int64_t partialSumsOf(int64_t tile) {
  constexpr int64_t kMost = 32;
  int64_t pieces = tile ? tile / TileSumsOp::kPiece : kMost;
  return std::clamp<int64_t>(llvm::bit_floor(uint64_t(pieces)), 1, kMost);
}

int64_t TileSumsOp::partialSums() {
  return partialSumsOf(int64_t(getTile().value_or(0)));
}

/// Why elements of `type` are not added up in pieces; empty if they are.
static std::optional<Reason> whyNotAdded(ScaledTensorType type) {
  const ScaleSpec &spec = type.getSpec().getValue();
  std::string name = "'" + std::string(type.getSpec().getText()) + "'";
  if (spec.isSparse())
    return "adds up dense elements, but those of " + name + " are pruned";
  if (spec.zero)
    return "adds up elements without zero points, but " + name + " has some";
  if (isa<CodebookType>(type.getElementType()))
    return Reason("adds up numbers, but the elements are those of a codebook");
  if (spec.isTile() && type.getKTile() % TileSumsOp::kPiece != 0)
    return "adds up pieces of " + std::to_string(TileSumsOp::kPiece) +
           " elements along K under one scale each, but those of " + name +
           " are for " + std::to_string(type.getKTile());
  return std::nullopt;
}

/// Tiles of so many elements in K of them; dynamic if K is.
static int64_t tilesOf(int64_t k, std::optional<uint64_t> tile) {
  if (!tile)
    return 1;
  return ShapedType::isDynamic(k)
             ? k
             : int64_t(llvm::divideCeil(uint64_t(k), *tile));
}

LogicalResult TileSumsOp::verify() {
  if (failed(verifyNotGrouped(*this)))
    return failure();
  ScaledTensorType type = getInput().getType();
  if (auto why = whyNotAdded(type))
    return emitOpError() << why->text;
  if (std::optional<int64_t> tile = getTile();
      tile && (*tile <= 0 || *tile % kPiece != 0))
    return emitOpError() << "has tiles of " << *tile
                         << " elements along K; expected a multiple of "
                         << kPiece;
  SmallVector<int64_t> shape(type.getShape());
  shape.pop_back();
  shape.insert(shape.end() - 1, tilesOf(type.getK(), getTile()));
  if (!agree(shape, getType().getShape()))
    return emitOpError() << "expected a result of "
                         << RankedTensorType::get(shape,
                                                  getType().getElementType())
                         << ", a row of sums for each tile along K, found "
                         << getType();
  return success();
}

LogicalResult
TileSumsOp::reifyResultShapes(OpBuilder &builder,
                              ReifiedRankedShapedTypeDims &shapes) {
  SmallVector<OpFoldResult> &shape = shapes.emplace_back();
  ScaledTensorType type = getInput().getType();
  auto sizeOf = [&](int64_t dimension) -> OpFoldResult {
    int64_t size = type.getDimSize(dimension);
    if (!ShapedType::isDynamic(size))
      return builder.getIndexAttr(size);
    return DimOp::create(builder, getLoc(), getInput(), dimension).getResult();
  };
  int64_t rank = type.getRank();
  if (type.isBatched())
    shape.push_back(sizeOf(0));
  if (!getTile())
    shape.push_back(builder.getIndexAttr(1));
  else if (auto k = getConstantIntValue(sizeOf(rank - 1)))
    shape.push_back(builder.getIndexAttr(tilesOf(*k, getTile())));
  else
    shape.push_back(arith::CeilDivUIOp::create(
                        builder, getLoc(), cast<Value>(sizeOf(rank - 1)),
                        arith::ConstantIndexOp::create(builder, getLoc(),
                                                       int64_t(*getTile())))
                        .getResult());
  shape.push_back(sizeOf(rank - 2));
  return success();
}

//===----------------------------------------------------------------------===//
// In memory
//===----------------------------------------------------------------------===//

bool blockscale::isTileSums(ConversionAttr conversion) {
  return conversion.getOp() ==
         TileSumsOp::getOperationName().rsplit('.').second;
}

/// Why no kernel reads tensors that are arranged as `type` is.
static std::optional<Reason> whyNotArranged(ScaledTensorType type) {
  const ScaleSpec &spec = type.getSpec().getValue();
  std::string name = "'" + std::string(type.getSpec().getText()) + "'";
  if (auto why = whyNotAlongK(type, "adds up elements", "the operand"))
    return why;
  if (spec.isUnscaled())
    return std::nullopt;
  if (type.getLayout() != ScaleLayout::Plain)
    return "a kernel adds up elements under scales in layout 'plain', as "
           "products with zero points in real units read them, but the operand "
           "has '" +
           stringifyScaleLayout(type.getLayout()).str() + "'";
  if (!isFactor(type.getContext(), *spec.scale) ||
      isDecodedFactor(getBuiltinType(type.getContext(), *spec.scale)))
    return "a kernel adds up elements under scales of float32, float16, "
           "bfloat16, e8m0, e4m3, e5m3fn or e5m2, but those of " +
           name + " are others";
  if (spec.tensorScale &&
      !getBuiltinType(type.getContext(), *spec.tensorScale).isF32())
    return "a kernel reads tensor scales of float32, but those of " + name +
           " are others";
  return std::nullopt;
}

/// Elements as instructions without scales of their own read them; none if
/// memory holds others for them.
static std::optional<hw::OperandType> addedElement(ScaledTensorType type) {
  std::optional<hw::OperandType> element =
      getOperandType(type.getElementType());
  if (!element || isa<IntegerType>(type.getElementType()))
    return std::nullopt;
  return element;
}

/// Bits that an instruction takes for each element.
static unsigned containerBits(hw::OperandType element) {
  constexpr unsigned kNarrow = 8;
  return std::max(kNarrow, element.bits());
}

Result<SumStorage> blockscale::sumStorage(ScaledTensorType from, int64_t tile,
                                          hw::Target target) {
  if (auto why = whyNotArranged(from))
    return *why;
  std::optional<hw::OperandType> element = addedElement(from);
  if (!element) {
    std::string text;
    llvm::raw_string_ostream(text) << from.getElementType();
    return Reason("a kernel adds up elements of f8E4M3FN, f8E5M2, f6E2M3FN, "
                  "f6E3M2FN, f4E2M1FN, bf16, f16 and tf32, which products read "
                  "as they are; found " +
                  text);
  }
  unsigned bits = containerBits(*element);
  if (element->bits() <= 8)
    if (auto why = hw::whyNotFeature(hw::Feature::NarrowConvert, target))
      return *why;
  QuantizedStorage storage = sizesInMemory(from);
  if (std::optional<ElementFormat> format = element->format())
    storage.element = *format;
  storage.block = 1;
  setLines(storage,
           hw::tensorMapDataTypeInfo(*hw::tensorMapDataType(*element, bits)),
           storage.k);
  AffineExpr tiles = tile ? storage.k.ceilDiv(tile)
                          : getAffineConstantExpr(1, from.getContext());
  return SumStorage{storage, *element, tile, tiles, partialSumsOf(tile)};
}

AffineExpr blockscale::threadsToSum(const SumStorage &sums) {
  return sums.tiles * sums.partialSums * sums.storage.rows * sums.storage.batch;
}

AffineExpr SumStorage::scalesOfRow(ScaledTensorType type) const {
  if (!type.getKTile())
    return getAffineConstantExpr(1, type.getContext());
  return storage.k.ceilDiv(type.getKTile());
}

AffineExpr SumStorage::scalesOfMatrix(ScaledTensorType type) const {
  AffineExpr ofRow = scalesOfRow(type);
  return type.getRowTile() ? storage.rows.ceilDiv(type.getRowTile()) * ofRow
                           : ofRow;
}

#define GET_OP_CLASSES
#include "blockscale/Dialect/Blockscale/IR/BlockscaleSumsOps.cpp.inc"
