//===- SparseToLinalg.cpp - pruning, compression and its inverse ----------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "ElementValues.h"
#include "Patterns.h"
#include "blockscale/Dialect/Blockscale/IR/ElementTypes.h"
#include "blockscale/Dialect/Blockscale/IR/LayoutOfScales.h"
#include "blockscale/HW/Metadata.h"
#include "mlir/Dialect/Arith/Utils/Utils.h"
#include "mlir/Dialect/ControlFlow/IR/ControlFlowOps.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

#include <limits>

using namespace mlir;
using namespace blockscale;

//===----------------------------------------------------------------------===//
// Pruning
//===----------------------------------------------------------------------===//

namespace {
/// A unit stays if fewer than as many as are kept come before it: heavier ones,
/// and equally heavy ones at lower places.
class Pruner {
public:
  Pruner(PruneOp op, Value input)
      : input(input), width(op.getPairs() ? 2 : 1), group(op.getGroup()),
        keep(op.getKeep() / width) {}

  Value keeps(Emitter &e, ValueRange position) const {
    Value k = position.back();
    Value inGroup = e.remainder(k, group);
    Value first = arith::SubIOp::create(e, k, inGroup);
    Value unit = e.quotient(inGroup, width);
    Value own = weight(e, position, first, unit);
    Value before = e.index(0);
    for (int64_t i = 0; i < group / width; ++i) {
      Value other = weight(e, position, first, e.index(i));
      auto is = [&](arith::CmpFPredicate predicate) -> Value {
        return arith::CmpFOp::create(e, predicate, other, own);
      };
      Value isLower =
          arith::CmpIOp::create(e, arith::CmpIPredicate::ult, e.index(i), unit);
      Value comesFirst = arith::OrIOp::create(
          e, is(arith::CmpFPredicate::OGT),
          arith::AndIOp::create(e, is(arith::CmpFPredicate::OEQ), isLower));
      Value count =
          arith::SelectOp::create(e, comesFirst, e.index(1), e.index(0));
      before = arith::AddIOp::create(e, before, count);
    }
    return arith::CmpIOp::create(e, arith::CmpIPredicate::ult, before,
                                 e.index(keep));
  }

private:
  /// The sum of squares of unit `unit` of the group that starts at `first`.
  Value weight(Emitter &e, ValueRange position, Value first, Value unit) const {
    Type f64 = e.getF64Type();
    Value start = arith::AddIOp::create(
        e, first, arith::MulIOp::create(e, unit, e.index(width)));
    Value sum;
    for (int64_t i = 0; i < width; ++i) {
      SmallVector<Value> place(position);
      place.back() = arith::AddIOp::create(e, start, e.index(i));
      Value narrow = e.widen(tensor::ExtractOp::create(e, input, place));
      Value value = arith::ExtFOp::create(e, f64, narrow);
      Value square = arith::MulFOp::create(e, value, value);
      sum = sum ? arith::AddFOp::create(e, sum, square).getResult() : square;
    }
    Value isNaN = arith::CmpFOp::create(e, arith::CmpFPredicate::UNO, sum, sum);
    Value largest = arith::ConstantOp::create(
        e, e.getF64FloatAttr(std::numeric_limits<double>::infinity()));
    return arith::SelectOp::create(e, isNaN, largest, sum);
  }

  Value input;
  int64_t width, group, keep;
};

struct PruneToLinalg : OpConversionPattern<PruneOp> {
  using OpConversionPattern::OpConversionPattern;

  LogicalResult
  matchAndRewrite(PruneOp op, OpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    Emitter e(op.getLoc(), rewriter);
    Value input = adaptor.getInput();
    Type element = op.getType().getElementType();
    Value zero = arith::ConstantOp::create(e, e.getZeroAttr(element));
    Pruner pruner(op, input);
    Value result =
        generate(e, tensor::getMixedSizes(e, e.getLoc(), input), element,
                 [&](Emitter &body, ValueRange position) -> Value {
                   Value kept = pruner.keeps(body, position);
                   Value value =
                       tensor::ExtractOp::create(body, input, position);
                   return arith::SelectOp::create(body, kept, value, zero);
                 });
    rewriter.replaceOp(op, castTo(e, result, op.getType()));
    return success();
  }
};

//===----------------------------------------------------------------------===//
// Compression
//===----------------------------------------------------------------------===//

/// What is compressed together: a chunk of the pattern, or a group of elements.
hw::SparsePatternInfo chunkOf(ScaledTensorType type) {
  if (std::optional<hw::SparsePattern> pattern = sparsePattern(type))
    return hw::patternInfo(*pattern);
  SparseForm form = sparseForm(type);
  return {unsigned(form.chunk), unsigned(form.stored), /*unit=*/1};
}

/// Reads dense parts chunk by chunk: four units, of which two are stored, or
/// the elements of a group.
class Compressor {
public:
  Compressor(const Parts &parts, ScaledTensorType to)
      : parts(parts), form(sparseForm(to)), info(chunkOf(to)) {}

  /// The code that is stored at `position`; of a unit without an element that
  /// is not zero +0.
  Value stored(Emitter &e, ValueRange position) const {
    Value s = position.back();
    if (form.isMask)
      return storedByMask(e, position);
    if (isOneOfTwo())
      return kept(e, position, s, keptOfTwo(e, position, s), e.index(0));
    Value chunk = e.quotient(s, info.stored);
    Value inChunk = e.remainder(s, info.stored);
    auto [first, second] = units(e, position, chunk);
    Value isFirst = arith::CmpIOp::create(e, arith::CmpIPredicate::ult, inChunk,
                                          e.index(info.unit));
    Value unit = arith::SelectOp::create(e, isFirst, first, second);
    return kept(e, position, chunk, unit, e.remainder(inChunk, info.unit));
  }

  /// The byte of metadata at `position`: those of two chunks, or a bit for each
  /// element.
  Value metadata(Emitter &e, ValueRange position) const {
    Value byte = e.index(0);
    if (form.isMask)
      return maskOf(e, position);
    for (int64_t half = 0; half < 2; ++half) {
      Value chunk = arith::AddIOp::create(
          e, arith::MulIOp::create(e, position.back(), e.index(2)),
          e.index(half));
      Value nibble = isOneOfTwo() ? nibbleOfTwo(e, position, chunk)
                                  : nibbleOfFour(e, position, chunk);
      Value scaled = arith::MulIOp::create(e, nibble, e.index(half ? 16 : 1));
      byte = arith::AddIOp::create(e, byte, scaled);
    }
    return arith::IndexCastOp::create(e, e.getI8Type(), byte);
  }

  /// Whether more of a chunk is in use than is stored; the last index of
  /// `position` counts chunks.
  Value exceeds(Emitter &e, ValueRange position) const {
    Value used = e.i32(0);
    for (int64_t unit = 0; unit < info.chunk / info.unit; ++unit)
      used = arith::AddIOp::create(
          e, used,
          arith::ExtUIOp::create(
              e, e.getI32Type(),
              isUsed(e, position, position.back(), e.index(unit))));
    return arith::CmpIOp::create(e, arith::CmpIPredicate::ugt, used,
                                 e.i32(info.stored / info.unit));
  }

private:
  bool isOneOfTwo() const { return !form.isMask && info.chunk == 2; }

  /// Those of eight elements, the first the lowest.
  Value maskOf(Emitter &e, ValueRange position) const {
    Value first =
        arith::MulIOp::create(e, position.back(), e.index(form.perByte));
    Value byte = e.i32(0);
    for (int64_t i = 0; i < form.perByte; ++i) {
      Value k = arith::AddIOp::create(e, first, e.index(i));
      Value bit = isUsed(e, position, e.quotient(k, info.chunk),
                         e.remainder(k, info.chunk));
      bit = arith::ExtUIOp::create(e, e.getI32Type(), bit);
      byte = arith::OrIOp::create(e, byte,
                                  arith::ShLIOp::create(e, bit, e.i32(i)));
    }
    return arith::TruncIOp::create(e, e.getI8Type(), byte);
  }

  /// Of those in use that one before which as many are as slots are; where
  /// there are fewer, an element that is zero.
  Value storedByMask(Emitter &e, ValueRange position) const {
    Value chunk = e.quotient(position.back(), info.stored);
    Value slot = e.remainder(position.back(), info.stored);
    auto choose = [&](Value condition, Value x, Value y) -> Value {
      return arith::SelectOp::create(e, condition, x, y);
    };
    Value before = e.index(0), place = e.index(0), zero = e.index(0);
    Value isThere = arith::ConstantIntOp::create(e, e.getI1Type(), 0);
    for (int64_t i = 0; i < int64_t(info.chunk); ++i) {
      Value used = isUsed(e, position, chunk, e.index(i));
      Value isNext =
          arith::CmpIOp::create(e, arith::CmpIPredicate::eq, before, slot);
      Value is = arith::AndIOp::create(e, used, isNext);
      place = choose(is, e.index(i), place);
      isThere = arith::OrIOp::create(e, isThere, is);
      zero = choose(used, zero, e.index(i));
      before = arith::AddIOp::create(e, before,
                                     choose(used, e.index(1), e.index(0)));
    }
    return kept(e, position, chunk, choose(isThere, place, zero), e.index(0));
  }

  /// The indices of the two units that are stored.
  Value nibbleOfFour(Emitter &e, ValueRange position, Value chunk) const {
    auto [first, second] = units(e, position, chunk);
    return arith::AddIOp::create(e, first,
                                 arith::MulIOp::create(e, second, e.index(4)));
  }

  /// The nibbles that the ISA defines for tf32: 0b0100 keeps the
  /// first element, 0b1110 the second.
  Value nibbleOfTwo(Emitter &e, ValueRange position, Value chunk) const {
    Value kept = keptOfTwo(e, position, chunk);
    constexpr int64_t kFirst = 0x4, kSecond = 0xe;
    return arith::AddIOp::create(
        e, e.index(kFirst),
        arith::MulIOp::create(e, kept, e.index(kSecond - kFirst)));
  }

  /// Of two elements the one in use, else the first.
  Value keptOfTwo(Emitter &e, ValueRange position, Value chunk) const {
    Value first = isUsed(e, position, chunk, e.index(0));
    Value second = isUsed(e, position, chunk, e.index(1));
    return arith::SelectOp::create(
        e, first, e.index(0),
        arith::SelectOp::create(e, second, e.index(1), e.index(0)));
  }

  Value element(Emitter &e, Value chunk, Value unit, Value inUnit) const {
    Value start = arith::MulIOp::create(e, chunk, e.index(info.chunk));
    Value offset = arith::MulIOp::create(e, unit, e.index(info.unit));
    return arith::AddIOp::create(e, arith::AddIOp::create(e, start, offset),
                                 inUnit);
  }

  Value code(Emitter &e, ValueRange position, Value k) const {
    SmallVector<Value> place(position);
    place.back() = k;
    if (parts.type.getOrder() == DataOrder::MNMajor)
      std::swap(place.back(), place[place.size() - 2]);
    return tensor::ExtractOp::create(e, parts.data, place);
  }

  /// An element of a unit of a chunk as it is stored.
  Value kept(Emitter &e, ValueRange position, Value chunk, Value unit,
             Value inUnit) const {
    Value value = code(e, position, element(e, chunk, unit, inUnit));
    // The code of what is 0 is that of its zero point.
    if (parts.zeros)
      return value;
    Value zero = arith::ConstantOp::create(e, e.getZeroAttr(value.getType()));
    return arith::SelectOp::create(e, isUsed(e, position, chunk, unit), value,
                                   zero);
  }

  /// Whether element `k` is not its zero point.
  Value differs(Emitter &e, ValueRange position, Value k) const {
    SmallVector<Value> place(position);
    place.back() = k;
    Value zero = tensor::ExtractOp::create(
        e, parts.zeros,
        scalePosition(e, getScaleLayout(parts.type),
                      tilePosition(e, parts.type, place)));
    if (zero.getType() != e.getI32Type())
      zero = arith::ExtSIOp::create(e, e.getI32Type(), zero);
    Value raw = arith::ExtUIOp::create(e, e.getI32Type(), code(e, position, k));
    return arith::CmpIOp::create(e, arith::CmpIPredicate::ne, raw, zero);
  }

  /// Whether a unit has an element that is not +0 or -0.
  Value isUsed(Emitter &e, ValueRange position, Value chunk, Value unit) const {
    // Instructions skip pairs of floats alone, which have no zero points.
    if (parts.zeros)
      return differs(e, position, element(e, chunk, unit, e.index(0)));
    // Of tf32 that of its f32.
    Type type = cast<RankedTensorType>(parts.data.getType()).getElementType();
    Type integer = e.getIntegerType(type.getIntOrFloatBitWidth());
    int64_t mask = highestBit(type) == hw::HighestBit::Sign
                       ? (int64_t(1) << (type.getIntOrFloatBitWidth() - 1)) - 1
                       : -1;
    Value used;
    for (unsigned i = 0; i < info.unit; ++i) {
      Value raw = code(e, position, element(e, chunk, unit, e.index(i)));
      if (raw.getType() != integer)
        raw = arith::BitcastOp::create(e, integer, raw);
      Value magnitude = arith::AndIOp::create(
          e, raw, arith::ConstantIntOp::create(e, integer, mask));
      Value isNonZero =
          arith::CmpIOp::create(e, arith::CmpIPredicate::ne, magnitude,
                                arith::ConstantIntOp::create(e, integer, 0));
      used = used ? arith::OrIOp::create(e, used, isNonZero).getResult()
                  : isNonZero;
    }
    return used;
  }

  /// The two units of a chunk that are stored: those in use, filled up as
  /// hw::compress does.
  std::pair<Value, Value> units(Emitter &e, ValueRange position,
                                Value chunk) const {
    constexpr int64_t kUnits = 4, kLast = kUnits - 1;
    SmallVector<Value> used;
    for (int64_t unit = 0; unit < kUnits; ++unit)
      used.push_back(isUsed(e, position, chunk, e.index(unit)));
    auto choose = [&](Value condition, Value x, Value y) -> Value {
      return arith::SelectOp::create(e, condition, x, y);
    };
    Value lowest = e.index(0), highest = e.index(0), any = used[0];
    for (int64_t unit = 1; unit < kUnits; ++unit) {
      lowest = choose(any, lowest, choose(used[unit], e.index(unit), lowest));
      highest = choose(used[unit], e.index(unit), highest);
      any = arith::OrIOp::create(e, any, used[unit]);
    }
    Value isSingle =
        arith::CmpIOp::create(e, arith::CmpIPredicate::eq, lowest, highest);
    Value filled = choose(any, e.index(kLast), e.index(1));
    Value second = choose(isSingle, filled, highest);
    Value isLast = arith::AndIOp::create(e, isSingle, used[kLast]);
    return {choose(isLast, e.index(0), lowest), second};
  }

  const Parts &parts;
  SparseForm form;
  hw::SparsePatternInfo info;
};

Type elementOf(Value tensor) {
  return cast<RankedTensorType>(tensor.getType()).getElementType();
}

/// Sizes of a dimension of `units` elements in units of `divisor`.
OpFoldResult divided(Emitter &e, OpFoldResult size, int64_t divisor) {
  if (std::optional<int64_t> known = getConstantIntValue(size))
    return e.getIndexAttr(*known / divisor);
  return e.quotient(cast<Value>(size), divisor);
}

/// So many times a number of sizes.
OpFoldResult multiplied(Emitter &e, OpFoldResult size, int64_t factor) {
  if (std::optional<int64_t> known = getConstantIntValue(size))
    return e.getIndexAttr(*known * factor);
  return arith::MulIOp::create(e, cast<Value>(size), e.index(factor))
      .getResult();
}

/// "2:4", "8:16".
std::string patternText(ScaledTensorType type) {
  if (std::optional<hw::SparsePattern> pattern = sparsePattern(type))
    return std::string(hw::patternName(*pattern));
  const ScaleSpec &spec = type.getSpec().getValue();
  return std::to_string(spec.keepN) + ":" + std::to_string(spec.ofM);
}

/// Asserts that no chunk has more in use than its pattern stores.
void assertPattern(Emitter &e, const Compressor &compressor,
                   ScaledTensorType type, ArrayRef<OpFoldResult> sizes) {
  SmallVector<OpFoldResult> chunks(sizes);
  chunks.back() = divided(e, sizes.back(), sparseForm(type).chunk);
  Value exceeding = generate(e, chunks, e.getI1Type(),
                             [&](Emitter &body, ValueRange position) {
                               return compressor.exceeds(body, position);
                             });
  auto rank = static_cast<unsigned>(chunks.size());
  Value none = arith::ConstantOp::create(
      e,
      DenseElementsAttr::get(RankedTensorType::get({}, e.getI1Type()), false));
  auto any = linalg::GenericOp::create(
      e, none.getType(), exceeding, none,
      ArrayRef<AffineMap>{e.getMultiDimIdentityMap(rank),
                          AffineMap::get(rank, 0, e.getContext())},
      SmallVector<utils::IteratorType>(rank, utils::IteratorType::reduction),
      [](OpBuilder &builder, Location loc, ValueRange values) {
        Value either = arith::OrIOp::create(builder, loc, values[0], values[1]);
        linalg::YieldOp::create(builder, loc, either);
      });
  Value broken = tensor::ExtractOp::create(e, any.getResult(0), ValueRange());
  Value holds = arith::XOrIOp::create(
      e, broken, arith::ConstantIntOp::create(e, e.getI1Type(), 1));
  cf::AssertOp::create(e, holds,
                       "'blockscale.compress': more elements of a group are "
                       "in use than the pattern " +
                           patternText(type) + " stores");
}

struct CompressToLinalg : OpConversionPattern<CompressOp> {
  CompressToLinalg(const TypeConverter &converter, MLIRContext *context,
                   bool checkSparsity)
      : OpConversionPattern(converter, context), checkSparsity(checkSparsity) {}

  LogicalResult
  matchAndRewrite(CompressOp op, OneToNOpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    Emitter e(op.getLoc(), rewriter);
    Parts dense(op.getInput().getType(), adaptor.getInput());
    Compressor compressor(dense, op.getType());
    SmallVector<OpFoldResult> sizes = logicalSizes(e, dense);
    if (checkSparsity)
      assertPattern(e, compressor, op.getType(), sizes);
    SmallVector<OpFoldResult> storedSizes = sizes, metadataSizes = sizes;
    SparseForm form = sparseForm(op.getType());
    storedSizes.back() =
        multiplied(e, divided(e, sizes.back(), form.chunk), form.stored);
    metadataSizes.back() = divided(e, sizes.back(), form.perByte);
    Parts sparse = dense;
    sparse.type = op.getType();
    sparse.data = generate(e, storedSizes, elementOf(dense.data),
                           [&](Emitter &body, ValueRange position) {
                             return compressor.stored(body, position);
                           });
    if (op.getType().getOrder() == DataOrder::MNMajor)
      sparse.data = transposeData(e, sparse.data);
    Value metadata = generate(e, metadataSizes, e.getI8Type(),
                              [&](Emitter &body, ValueRange position) {
                                return compressor.metadata(body, position);
                              });
    sparse.metadata =
        convertMetadata(e, metadata, op.getType(), ScaleLayout::Plain,
                        op.getType().getLayout(), sizes);
    return replaceByParts(op, sparse.values(), *getTypeConverter(), rewriter);
  }

private:
  bool checkSparsity;
};

//===----------------------------------------------------------------------===//
// The inverse
//===----------------------------------------------------------------------===//

struct DensifyToLinalg : OpConversionPattern<DensifyOp> {
  using OpConversionPattern::OpConversionPattern;

  LogicalResult
  matchAndRewrite(DensifyOp op, OneToNOpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    Emitter e(op.getLoc(), rewriter);
    Parts parts(op.getInput().getType(), adaptor.getInput());
    SmallVector<OpFoldResult> sizes = logicalSizes(e, parts);
    Parts dense = parts;
    dense.type = op.getType();
    dense.metadata = Value();
    if (parts.metadata) {
      dense.data = generate(e, sizes, elementOf(parts.data),
                            [&](Emitter &body, ValueRange position) {
                              return sparseCode(body, parts, position);
                            });
      if (op.getType().getOrder() == DataOrder::MNMajor)
        dense.data = transposeData(e, dense.data);
    }
    if (parts.scales)
      dense.scales = repeatScales(e, parts, op.getType(), sizes);
    if (parts.zeros) {
      Parts zeros = parts;
      zeros.scales = parts.zeros;
      dense.zeros = repeatScales(e, zeros, op.getType(), sizes);
    }
    return replaceByParts(op, dense.values(), *getTypeConverter(), rewriter);
  }
};
} // namespace

void blockscale::populateSparsePatterns(const TypeConverter &converter,
                                        RewritePatternSet &patterns,
                                        bool checkSparsity) {
  patterns.add<DensifyToLinalg, PruneToLinalg>(converter,
                                               patterns.getContext());
  patterns.add<CompressToLinalg>(converter, patterns.getContext(),
                                 checkSparsity);
}
