//===- Sparsity.cpp - folds of pruned and compressed tensors --------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "blockscale/Dialect/Blockscale/IR/Blockscale.h"
#include "blockscale/Dialect/Blockscale/IR/ElementTypes.h"
#include "blockscale/Packing/Sparse.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/Matchers.h"
#include "mlir/IR/PatternMatch.h"

using namespace mlir;
using namespace blockscale;

//===----------------------------------------------------------------------===//
// Specs
//===----------------------------------------------------------------------===//

ScaleSpec blockscale::denseForm(ScaleSpec spec) {
  if (spec.isSparse() && spec.columns) {
    bool whole = !spec.columns->hasSubtile();
    spec.columns->size = spec.columns->size / spec.keepN * spec.ofM;
    if (whole)
      spec.columns->subtile = spec.columns->size;
  }
  spec.keepN = spec.ofM = 0;
  return spec;
}

bool blockscale::keepsPairs(ScaledTensorType type) {
  const ScaleSpec &spec = type.getSpec().getValue();
  return spec.keepN == 4 && spec.ofM == 8 &&
         isa<Float4E2M1FNType>(type.getElementType());
}

/// Whether tiles have scales with a fraction that instructions read, those of
/// four bits, which skip pairs, alone.
static bool hasFractions(const ScaleSpec &spec) {
  if (!spec.isTile())
    return false;
  std::optional<ElementFormat> format = scaleFormat(*spec.scale);
  return format == ElementFormat::UE4M3 || format == ElementFormat::UE5M3;
}

std::optional<hw::SparsePattern>
blockscale::sparsePattern(ScaledTensorType type) {
  const ScaleSpec &spec = type.getSpec().getValue();
  if (!spec.isSparse())
    return std::nullopt;
  if (type.getElementType().isTF32())
    return spec.keepN == 1 ? std::optional(hw::SparsePattern::OneOfTwo)
                           : std::nullopt;
  if (keepsPairs(type))
    return hw::SparsePattern::PairsFourOfEight;
  bool isWhole = spec.keepN * 2 == spec.ofM;
  // Under a zero point in real units no code is 0, which room that is left over
  // would be filled with.
  bool hasRealZeros = spec.zero && !spec.hasIntegerZero();
  if (spec.keepN > 2 || (hasRealZeros && !isWhole))
    return std::nullopt;
  // Two elements of eight are in two pairs at most.
  constexpr unsigned kPairs = 8;
  bool isRare = spec.ofM * 2 >= spec.keepN * kPairs;
  if (isRare && isa<Float4E2M1FNType>(type.getElementType()) &&
      hasFractions(spec))
    return hw::SparsePattern::PairsFourOfEight;
  return hw::SparsePattern::TwoOfFour;
}

SparseForm blockscale::sparseForm(ScaledTensorType type) {
  if (std::optional<hw::SparsePattern> pattern = sparsePattern(type)) {
    hw::SparsePatternInfo info = hw::patternInfo(*pattern);
    return {info.stored, info.chunk, hw::elementsPerMetadataByte(*pattern)};
  }
  constexpr int64_t kBitsOfByte = 8;
  const ScaleSpec &spec = type.getSpec().getValue();
  return {spec.keepN, spec.ofM, kBitsOfByte, /*isMask=*/true};
}

hw::HighestBit blockscale::highestBit(Type elementType) {
  auto type = dyn_cast<FloatType>(elementType);
  bool isZero =
      type && APFloat::getZero(type.getFloatSemantics(), /*Negative=*/true)
                  .isNegative();
  return isZero ? hw::HighestBit::Sign : hw::HighestBit::Number;
}

//===----------------------------------------------------------------------===//
// PruneOp
//===----------------------------------------------------------------------===//

/// Constant values with zeros in place of what the rule drops.
static DenseElementsAttr prune(PruneOp op, DenseElementsAttr constant) {
  packing::PruneRule rule;
  rule.keep = static_cast<unsigned>(op.getKeep());
  rule.group = static_cast<unsigned>(op.getGroup());
  rule.pairs = op.getPairs();
  SmallVector<APFloat> values(constant.getValues<APFloat>());
  std::vector<float> weights;
  for (APFloat value : values) {
    bool losesInfo = false;
    value.convert(APFloat::IEEEsingle(), APFloat::rmNearestTiesToEven,
                  &losesInfo);
    weights.push_back(value.convertToFloat());
  }
  for (auto [value, kept] :
       llvm::zip_equal(values, packing::keptElements(rule, weights)))
    if (!kept)
      value = APFloat::getZero(value.getSemantics());
  return DenseElementsAttr::get(constant.getType(), values);
}

/// Pruning twice to one pattern is pruning once; constants are pruned here.
OpFoldResult PruneOp::fold(FoldAdaptor adaptor) {
  auto source = getInput().getDefiningOp<PruneOp>();
  if (source && source.getKeep() == getKeep() &&
      source.getGroup() == getGroup() && source.getPairs() == getPairs())
    return getInput();
  if (auto constant =
          dyn_cast_if_present<DenseElementsAttr>(adaptor.getInput()))
    return prune(*this, constant);
  return {};
}

//===----------------------------------------------------------------------===//
// CompressOp
//===----------------------------------------------------------------------===//

namespace {
/// What a constant is compressed to: codes of the kept elements, bytes of
/// metadata; both row after row.
struct CompressedConstant {
  std::vector<uint32_t> stored;
  std::vector<uint8_t> metadata;
};
} // namespace

/// Element codes of constant data, rows x K.
static std::optional<std::vector<uint32_t>> constantCodes(AssembleOp op) {
  DenseElementsAttr data;
  if (op.getType().getOrder() != DataOrder::KMajor ||
      !matchPattern(op.getData(), m_Constant(&data)))
    return std::nullopt;
  std::vector<uint32_t> codes;
  codes.reserve(static_cast<size_t>(data.getNumElements()));
  if (isa<FloatType>(data.getElementType()))
    for (const APFloat &value : data.getValues<APFloat>())
      codes.push_back(value.bitcastToAPInt().getZExtValue());
  else
    for (const APInt &value : data.getValues<APInt>())
      codes.push_back(value.getZExtValue());
  return codes;
}

/// Compresses rows of `k` codes of elements as they are stored.
static Result<CompressedConstant> compressRows(hw::SparsePattern pattern,
                                               Type element, int64_t k,
                                               ArrayRef<uint32_t> codes) {
  CompressedConstant result;
  for (size_t row = 0; !codes.empty(); ++row, codes = codes.drop_front(k)) {
    ArrayRef<uint32_t> logical = codes.take_front(k);
    auto compressed =
        hw::compress(pattern, element.getIntOrFloatBitWidth(),
                     {logical.begin(), logical.end()}, highestBit(element));
    if (!compressed)
      return Reason("row " + std::to_string(row) + ": " +
                    compressed.why().text);
    llvm::append_range(result.stored, compressed->stored);
    llvm::append_range(result.metadata, compressed->metadata);
  }
  return result;
}

/// The constant input in compressed form; nothing if it is not constant, or the
/// pattern has no encoding.
static std::optional<Result<CompressedConstant>>
compressConstant(CompressOp op) {
  auto source = op.getInput().getDefiningOp<AssembleOp>();
  std::optional<hw::SparsePattern> pattern = sparsePattern(op.getType());
  // Under zero points a code of 0 is no 0: 'blockscale-fold-constants' knows.
  if (!source || !pattern || !op.getType().hasStaticShape() ||
      op.getType().getSpec().getValue().zero)
    return std::nullopt;
  std::optional<std::vector<uint32_t>> codes = constantCodes(source);
  if (!codes)
    return std::nullopt;
  return compressRows(*pattern, source.getData().getType().getElementType(),
                      op.getType().getK(), *codes);
}

std::optional<Reason> blockscale::whyNotCompressible(CompressOp op) {
  if (auto compressed = compressConstant(op); compressed && !*compressed)
    return compressed->why();
  return std::nullopt;
}

template <typename Code>
static DenseElementsAttr getCodes(RankedTensorType type,
                                  const std::vector<Code> &codes) {
  Type element = type.getElementType();
  unsigned width = element.getIntOrFloatBitWidth();
  if (auto format = dyn_cast<FloatType>(element)) {
    SmallVector<APFloat> values;
    for (Code code : codes)
      values.emplace_back(format.getFloatSemantics(), APInt(width, code));
    return DenseElementsAttr::get(type, values);
  }
  SmallVector<APInt> values;
  for (Code code : codes)
    values.emplace_back(width, code);
  return DenseElementsAttr::get(type, values);
}

/// Metadata rows in the layout of `type`; nothing if it is not defined for the
/// pattern.
static std::optional<std::vector<uint8_t>>
layOut(ScaledTensorType type, const std::vector<uint8_t> &metadata) {
  if (type.getLayout() == ScaleLayout::Plain)
    return metadata;
  hw::MetadataTensor tensor;
  tensor.pattern = *sparsePattern(type);
  tensor.m = type.getNumRows();
  tensor.k = type.getK();
  uint64_t batch = type.isBatched() ? type.getShape().front() : 1;
  return packing::tileMetadata(tensor, batch, metadata);
}

namespace {
/// Constant data are compressed here; what breaks the pattern stays and is
/// refused where the result is used.
struct CompressConstant : OpRewritePattern<CompressOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(CompressOp op,
                                PatternRewriter &rewriter) const override {
    std::optional<Result<CompressedConstant>> compressed = compressConstant(op);
    Result<TensorParts> parts = getTensorParts(op.getType());
    if (!compressed || !*compressed || !parts)
      return rewriter.notifyMatchFailure(op, "is not constant data in pattern");
    auto source = op.getInput().getDefiningOp<AssembleOp>();
    std::optional<std::vector<uint8_t>> metadata =
        layOut(op.getType(), (*compressed)->metadata);
    if (!metadata)
      return rewriter.notifyMatchFailure(op, "the metadata have no layout");
    Value stored = arith::ConstantOp::create(
        rewriter, op.getLoc(), getCodes(parts->data, (*compressed)->stored));
    Value indices = arith::ConstantOp::create(
        rewriter, op.getLoc(), getCodes(parts->metadata, *metadata));
    rewriter.replaceOpWithNewOp<AssembleOp>(
        op, op.getType(), stored, source.getScales(), source.getZeros(),
        source.getTensorScale(), indices);
    return success();
  }
};
} // namespace

void CompressOp::getCanonicalizationPatterns(RewritePatternSet &patterns,
                                             MLIRContext *context) {
  patterns.add<CompressConstant>(context);
}

//===----------------------------------------------------------------------===//
// DensifyOp
//===----------------------------------------------------------------------===//

/// What was compressed is not what it was before: +0 stands where a -0 stood.
OpFoldResult DensifyOp::fold(FoldAdaptor) {
  if (getInput().getType() == getType())
    return getInput();
  return {};
}
