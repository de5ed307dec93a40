//===- Parts.cpp - the plain tensors of a scaled one ----------------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Parts.h"
#include "mlir/Dialect/Arith/Utils/Utils.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

#include <cmath>

using namespace mlir;
using namespace blockscale;

Parts::Parts(ScaledTensorType type, ValueRange values) : type(type) {
  const ScaleSpec &spec = type.getSpec().getValue();
  data = values.front();
  values = values.drop_front();
  if (!spec.isUnscaled()) {
    scales = values.front();
    values = values.drop_front(spec.zero ? 2 : 1);
  }
  if (spec.tensorScale) {
    tensorScale = values.front();
    values = values.drop_front();
  }
  if (spec.isSparse())
    metadata = values.front();
}

SmallVector<Value> Parts::values() const {
  SmallVector<Value> present;
  for (Value value : {data, scales, tensorScale, metadata})
    if (value)
      present.push_back(value);
  return present;
}

std::optional<std::string> blockscale::whyNotLinalg(ScaledTensorType type) {
  std::string reason;
  if (failed(getTensorParts(type, reason)))
    return reason;
  const ScaleSpec &spec = type.getSpec().getValue();
  if (spec.zero ||
      (!spec.isUnscaled() && type.getElementType().isUnsignedInteger()))
    return "unsigned elements and zero points have no conversion to linalg";
  return std::nullopt;
}

//===----------------------------------------------------------------------===//
// Sizes
//===----------------------------------------------------------------------===//

/// The run-time size of a logical dimension, read off the data.
static Value dynamicSize(Emitter &e, const Parts &parts, int64_t dimension) {
  int64_t rank = parts.type.getRank(), stored = dimension;
  if (parts.type.getOrder() == DataOrder::MNMajor && dimension >= rank - 2)
    stored = 2 * rank - 3 - dimension;
  Value size = tensor::DimOp::create(e, parts.data, stored);
  const ScaleSpec &spec = parts.type.getSpec().getValue();
  if (dimension != rank - 1 || !spec.isSparse())
    return size;
  return arith::MulIOp::create(e, e.quotient(size, spec.keepN),
                               e.index(spec.ofM));
}

SmallVector<OpFoldResult> blockscale::logicalSizes(Emitter &e,
                                                   const Parts &parts) {
  SmallVector<OpFoldResult> sizes;
  for (auto [dimension, size] : llvm::enumerate(parts.type.getShape())) {
    if (ShapedType::isDynamic(size))
      sizes.push_back(dynamicSize(e, parts, dimension));
    else
      sizes.push_back(e.getIndexAttr(size));
  }
  return sizes;
}

/// Tiles of a dimension; a tile of 0 is all of it.
static OpFoldResult tileCount(Emitter &e, OpFoldResult size, int64_t tile) {
  if (tile == 0)
    return e.getIndexAttr(1);
  if (std::optional<int64_t> known = getConstantIntValue(size))
    return e.getIndexAttr((*known + tile - 1) / tile);
  return e.ceilQuotient(cast<Value>(size), tile);
}

SmallVector<OpFoldResult> blockscale::tileCounts(Emitter &e,
                                                 ScaledTensorType type,
                                                 ArrayRef<OpFoldResult> sizes) {
  SmallVector<OpFoldResult> counts(sizes.drop_back(2));
  counts.push_back(tileCount(e, sizes[sizes.size() - 2], type.getRowTile()));
  counts.push_back(tileCount(e, sizes.back(), type.getKTile()));
  return counts;
}

//===----------------------------------------------------------------------===//
// Positions
//===----------------------------------------------------------------------===//

static Value tileIndex(Emitter &e, Value index, int64_t tile) {
  if (tile == 0)
    return e.index(0);
  return tile == 1 ? index : e.quotient(index, tile);
}

SmallVector<Value> blockscale::tilePosition(Emitter &e, ScaledTensorType type,
                                            ValueRange position) {
  SmallVector<Value> tile(position.drop_back(2));
  tile.push_back(
      tileIndex(e, position[position.size() - 2], type.getRowTile()));
  tile.push_back(tileIndex(e, position.back(), type.getKTile()));
  return tile;
}

SmallVector<Value> blockscale::scalePosition(Emitter &e, ScaleLayout layout,
                                             ValueRange tile) {
  SmallVector<Value> position(tile);
  if (layout == ScaleLayout::Plain)
    return position;
  Value column = position.pop_back_val(), row = position.pop_back_val();
  // 128 rows by 4 columns: row r is row r % 32, group r / 32 of the tile.
  Value group = e.remainder(e.quotient(row, 32), 4);
  Value byte = arith::AddIOp::create(
      e, arith::MulIOp::create(e, group, e.index(4)), e.remainder(column, 4));
  position.append({e.quotient(row, 128), e.quotient(column, 4),
                   e.remainder(row, 32), byte});
  return position;
}

//===----------------------------------------------------------------------===//
// Tensors
//===----------------------------------------------------------------------===//

AffineMap blockscale::leadingDimensions(Emitter &e, unsigned rank,
                                        unsigned count) {
  SmallVector<AffineExpr> dimensions;
  for (unsigned i = 0; i < count; ++i)
    dimensions.push_back(e.getAffineDimExpr(i));
  return AffineMap::get(rank, 0, dimensions, e.getContext());
}

Value blockscale::generate(Emitter &e, ArrayRef<OpFoldResult> sizes,
                           Type element,
                           function_ref<Value(Emitter &, ValueRange)> compute) {
  Value init = tensor::EmptyOp::create(e, sizes, element);
  auto rank = static_cast<unsigned>(sizes.size());
  SmallVector<utils::IteratorType> iterators(rank,
                                             utils::IteratorType::parallel);
  auto op = linalg::GenericOp::create(
      e, init.getType(), ValueRange{}, init,
      ArrayRef<AffineMap>{e.getMultiDimIdentityMap(rank)}, iterators,
      [&](OpBuilder &b, Location loc, ValueRange) {
        Emitter body(loc, b);
        SmallVector<Value> position;
        for (unsigned i = 0; i < rank; ++i)
          position.push_back(linalg::IndexOp::create(body, i));
        linalg::YieldOp::create(body, compute(body, position));
      });
  return op.getResult(0);
}

Value blockscale::castTo(Emitter &e, Value value, Type type) {
  if (value.getType() == type)
    return value;
  return tensor::CastOp::create(e, type, value);
}

Value blockscale::transposeData(Emitter &e, Value data) {
  SmallVector<OpFoldResult> sizes = tensor::getMixedSizes(e, e.getLoc(), data);
  size_t rank = sizes.size();
  std::swap(sizes[rank - 1], sizes[rank - 2]);
  Type element = cast<RankedTensorType>(data.getType()).getElementType();
  Value init = tensor::EmptyOp::create(e, sizes, element);
  SmallVector<int64_t> order =
      llvm::to_vector(llvm::seq<int64_t>(0, static_cast<int64_t>(rank)));
  std::swap(order[rank - 1], order[rank - 2]);
  return linalg::TransposeOp::create(e, data, init, order).getResult().front();
}

/// Plain scales from tiled ones.
static Value flatten(Emitter &e, Value scales, ArrayRef<OpFoldResult> counts) {
  Type element = cast<RankedTensorType>(scales.getType()).getElementType();
  return generate(e, counts, element, [&](Emitter &body, ValueRange tile) {
    return tensor::ExtractOp::create(
        body, scales, scalePosition(body, ScaleLayout::Tiled128x4, tile));
  });
}

/// Tiled scales from plain ones, by scattering their inverse: each byte asks
/// which tile it belongs to.
static Value tile(Emitter &e, Value scales, ArrayRef<OpFoldResult> counts) {
  Type element = cast<RankedTensorType>(scales.getType()).getElementType();
  size_t rank = counts.size();
  Value rows = getValueOrCreateConstantIndexOp(e, e.getLoc(), counts[rank - 2]);
  Value columns = getValueOrCreateConstantIndexOp(e, e.getLoc(), counts.back());
  SmallVector<OpFoldResult> sizes(counts.drop_back(2));
  sizes.append({tileCount(e, counts[rank - 2], 128),
                tileCount(e, counts[rank - 1], 4), e.getIndexAttr(32),
                e.getIndexAttr(16)});
  Value zero = arith::ConstantIntOp::create(
      e, e.getIntegerType(element.getIntOrFloatBitWidth()), 0);
  Value padding = isa<FloatType>(element)
                      ? arith::BitcastOp::create(e, element, zero).getResult()
                      : zero;
  return generate(e, sizes, element, [&](Emitter &b, ValueRange p) {
    size_t last = p.size() - 1;
    auto sum = [&](Value tileIndex, int64_t factor, Value offset) -> Value {
      Value base = arith::MulIOp::create(b, tileIndex, b.index(factor));
      return arith::AddIOp::create(b, base, offset);
    };
    Value group = b.quotient(p[last], 4);
    Value row = sum(p[last - 3], 128, sum(group, 32, p[last - 1]));
    Value column = sum(p[last - 2], 4, b.remainder(p[last], 4));
    auto below = [&](Value index, Value size) -> Value {
      return arith::CmpIOp::create(b, arith::CmpIPredicate::ult, index, size);
    };
    Value owned =
        arith::AndIOp::create(b, below(row, rows), below(column, columns));
    // Code outside the matrix reads tile 0 and drops it.
    SmallVector<Value> source(p.drop_back(4));
    for (Value index : {row, column})
      source.push_back(arith::SelectOp::create(b, owned, index, b.index(0)));
    Value scale = tensor::ExtractOp::create(b, scales, source);
    return arith::SelectOp::create(b, owned, scale, padding).getResult();
  });
}

Value blockscale::convertScales(Emitter &e, Value scales, ScaleLayout from,
                                ScaleLayout to, ArrayRef<OpFoldResult> counts) {
  if (from == to)
    return scales;
  return to == ScaleLayout::Plain ? flatten(e, scales, counts)
                                  : tile(e, scales, counts);
}

//===----------------------------------------------------------------------===//
// Values
//===----------------------------------------------------------------------===//

/// Where byte `position` of plain metadata lies in tiles.
static SmallVector<Value> metadataTile(Emitter &e, ValueRange position) {
  SmallVector<Value> place(position.drop_back(2));
  Value row = position[position.size() - 2], byte = position.back();
  place.append({e.quotient(byte, hw::kMetadataTileBytes),
                e.quotient(row, hw::kMetadataTileRows),
                e.remainder(row, hw::kMetadataTileRows),
                e.remainder(byte, hw::kMetadataTileBytes)});
  return place;
}

/// Where the byte of metadata lies that describes an element.
static SmallVector<Value> metadataPosition(Emitter &e, ScaledTensorType type,
                                           ValueRange position) {
  SmallVector<Value> place(position);
  place.back() = e.quotient(place.back(),
                            hw::elementsPerMetadataByte(*sparsePattern(type)));
  return type.getLayout() == ScaleLayout::Plain ? place
                                                : metadataTile(e, place);
}

Value blockscale::convertMetadata(Emitter &e, Value metadata,
                                  ScaledTensorType type, ScaleLayout from,
                                  ScaleLayout to,
                                  ArrayRef<OpFoldResult> sizes) {
  if (from == to)
    return metadata;
  int64_t perByte = hw::elementsPerMetadataByte(*sparsePattern(type));
  SmallVector<OpFoldResult> plain(sizes);
  plain.back() = tileCount(e, sizes.back(), perByte);
  Type byteType = e.getI8Type();
  if (to == ScaleLayout::Plain)
    return generate(e, plain, byteType, [&](Emitter &b, ValueRange p) -> Value {
      return tensor::ExtractOp::create(b, metadata, metadataTile(b, p));
    });
  constexpr int64_t kRows = hw::kMetadataTileRows;
  constexpr int64_t kBytes = hw::kMetadataTileBytes;
  OpFoldResult rowCount = plain[plain.size() - 2], byteCount = plain.back();
  Value rows = getValueOrCreateConstantIndexOp(e, e.getLoc(), rowCount);
  Value bytes = getValueOrCreateConstantIndexOp(e, e.getLoc(), byteCount);
  SmallVector<OpFoldResult> tiled(plain.begin(), plain.end() - 2);
  tiled.append({tileCount(e, byteCount, kBytes), tileCount(e, rowCount, kRows),
                e.getIndexAttr(kRows), e.getIndexAttr(kBytes)});
  return generate(e, tiled, byteType, [&](Emitter &b, ValueRange p) -> Value {
    size_t last = p.size() - 1;
    auto at = [&](Value tile, int64_t size, Value offset) -> Value {
      return arith::AddIOp::create(
          b, arith::MulIOp::create(b, tile, b.index(size)), offset);
    };
    Value row = at(p[last - 2], kRows, p[last - 1]);
    Value byte = at(p[last - 3], kBytes, p[last]);
    auto below = [&](Value index, Value size) -> Value {
      return arith::CmpIOp::create(b, arith::CmpIPredicate::ult, index, size);
    };
    Value owned =
        arith::AndIOp::create(b, below(row, rows), below(byte, bytes));
    SmallVector<Value> source(p.drop_back(4));
    for (Value index : {row, byte})
      source.push_back(arith::SelectOp::create(b, owned, index, b.index(0)));
    Value value = tensor::ExtractOp::create(b, metadata, source);
    constexpr int64_t kPadding = hw::kEmptyChunkNibble * 0x11;
    Value padding = arith::ConstantIntOp::create(b, byteType, kPadding);
    return arith::SelectOp::create(b, owned, value, padding);
  });
}

/// The metadata of the group of an element, in the low four bits, and the
/// number of the element's unit in its group.
struct GroupMetadata {
  Value group, nibble, unit;
};

static GroupMetadata groupMetadata(Emitter &e, const Parts &parts,
                                   ValueRange position,
                                   const hw::SparsePatternInfo &info) {
  Value k = position.back();
  Value byte = arith::ExtUIOp::create(
      e, e.getI32Type(),
      tensor::ExtractOp::create(e, parts.metadata,
                                metadataPosition(e, parts.type, position)));
  Value group = e.quotient(k, info.chunk);
  Value shift = arith::IndexCastOp::create(
      e, e.getI32Type(),
      arith::MulIOp::create(e, e.remainder(group, 2), e.index(4)));
  Value unit = arith::IndexCastOp::create(
      e, e.getI32Type(), e.quotient(e.remainder(k, info.chunk), info.unit));
  return {group, arith::ShRUIOp::create(e, byte, shift), unit};
}

/// The code at a position of the stored elements.
static Value codeAt(Emitter &e, const Parts &parts, ValueRange position,
                    Value stored) {
  SmallVector<Value> source(position);
  source.back() = stored;
  if (parts.type.getOrder() == DataOrder::MNMajor)
    std::swap(source.back(), source[source.size() - 2]);
  return tensor::ExtractOp::create(e, parts.data, source);
}

/// Of 1 of 2: the nibble 0b1110 keeps the second element, 0b0100 the first.
static std::pair<Value, Value> storedOfTwo(Emitter &e, const Parts &parts,
                                           ValueRange position) {
  auto info = hw::patternInfo(hw::SparsePattern::OneOfTwo);
  GroupMetadata metadata = groupMetadata(e, parts, position, info);
  constexpr int64_t kNibble = 0xf, kSecond = 0xe;
  Value nibble = arith::AndIOp::create(e, metadata.nibble, e.i32(kNibble));
  Value keepsSecond = arith::CmpIOp::create(e, arith::CmpIPredicate::eq, nibble,
                                            e.i32(kSecond));
  Value isSecond = arith::CmpIOp::create(e, arith::CmpIPredicate::eq,
                                         metadata.unit, e.i32(1));
  Value kept =
      arith::CmpIOp::create(e, arith::CmpIPredicate::eq, keepsSecond, isSecond);
  return {codeAt(e, parts, position, metadata.group), kept};
}

/// The code of an element of a sparse tensor where it is stored, and whether it
/// is. Two 2-bit indices say which units of a group of four were kept; a unit
/// is an element, or a pair where 4 of 8 are kept in pairs.
static std::pair<Value, Value> storedCode(Emitter &e, const Parts &parts,
                                          ValueRange position) {
  hw::SparsePattern pattern = *sparsePattern(parts.type);
  if (pattern == hw::SparsePattern::OneOfTwo)
    return storedOfTwo(e, parts, position);
  auto info = hw::patternInfo(pattern);
  GroupMetadata metadata = groupMetadata(e, parts, position, info);
  Value indices = metadata.nibble;
  auto keeps = [&](Value index) -> Value {
    Value masked = arith::AndIOp::create(e, index, e.i32(3));
    return arith::CmpIOp::create(e, arith::CmpIPredicate::eq, masked,
                                 metadata.unit);
  };
  Value first = keeps(indices);
  Value second = keeps(arith::ShRUIOp::create(e, indices, e.i32(2)));
  Value place =
      arith::SelectOp::create(e, first, e.index(0), e.index(info.unit));
  place =
      arith::AddIOp::create(e, place, e.remainder(position.back(), info.unit));
  Value stored = arith::AddIOp::create(
      e, arith::MulIOp::create(e, metadata.group, e.index(info.stored)), place);
  return {codeAt(e, parts, position, stored),
          arith::OrIOp::create(e, first, second)};
}

Value blockscale::sparseCode(Emitter &e, const Parts &parts,
                             ValueRange position) {
  auto [code, kept] = storedCode(e, parts, position);
  Type type = code.getType();
  Value zero = arith::ConstantIntOp::create(
      e, e.getIntegerType(type.getIntOrFloatBitWidth()), 0);
  if (zero.getType() != type)
    zero = arith::BitcastOp::create(e, type, zero);
  return arith::SelectOp::create(e, kept, code, zero);
}

/// The element at a position of a sparse tensor as a number, 0 where it was
/// pruned.
static Value sparseElement(Emitter &e, const Parts &parts,
                           const Decoder &elements, ValueRange position) {
  auto [code, kept] = storedCode(e, parts, position);
  Value value = elements.decode(e, code);
  Value zero =
      arith::ConstantOp::create(e, e.getZeroAttr(elements.numberType()));
  return arith::SelectOp::create(e, kept, value, zero);
}

/// Each code of dense data, decoded and scaled.
static Value
denseValues(Emitter &e, const Parts &parts, ArrayRef<OpFoldResult> sizes,
            Type number,
            function_ref<Value(Emitter &, Value, ValueRange)> scaled) {
  auto rank = static_cast<unsigned>(sizes.size());
  AffineMap identity = e.getMultiDimIdentityMap(rank), stored = identity;
  if (parts.type.getOrder() == DataOrder::MNMajor) {
    SmallVector<unsigned> order = llvm::to_vector(llvm::seq(0u, rank));
    std::swap(order[rank - 1], order[rank - 2]);
    stored = AffineMap::getPermutationMap(order, e.getContext());
  }
  Value init = tensor::EmptyOp::create(e, sizes, number);
  SmallVector<utils::IteratorType> iterators(rank,
                                             utils::IteratorType::parallel);
  auto op = linalg::GenericOp::create(
      e, init.getType(), parts.data, init,
      ArrayRef<AffineMap>{stored, identity}, iterators,
      [&](OpBuilder &b, Location loc, ValueRange arguments) {
        Emitter body(loc, b);
        SmallVector<Value> position;
        for (unsigned i = 0; i < rank; ++i)
          position.push_back(linalg::IndexOp::create(body, i));
        linalg::YieldOp::create(body, scaled(body, arguments[0], position));
      });
  return op.getResult(0);
}

/// Each element decoded, and given to `scaled` with its position.
static Value
decodedValues(Emitter &e, const Parts &parts, const Decoder &elements,
              function_ref<Value(Emitter &, Value, ValueRange)> scaled) {
  SmallVector<OpFoldResult> sizes = logicalSizes(e, parts);
  if (!parts.metadata)
    return denseValues(e, parts, sizes, elements.numberType(),
                       [&](Emitter &body, Value code, ValueRange position) {
                         Value value = elements.decode(body, code);
                         return scaled(body, value, position);
                       });
  return generate(
      e, sizes, elements.numberType(), [&](Emitter &body, ValueRange position) {
        return scaled(body, sparseElement(body, parts, elements, position),
                      position);
      });
}

Value blockscale::tileScaledValues(Emitter &e, const Parts &parts, bool useExtf,
                                   bool saturateProducts) {
  ScaledTensorType type = parts.type;
  Decoder elements = Decoder::ofElements(e, type, useExtf);
  if (!parts.scales)
    return decodedValues(
        e, parts, elements,
        [](Emitter &, Value value, ValueRange) { return value; });
  Type format = cast<RankedTensorType>(parts.scales.getType()).getElementType();
  Decoder scales(e, format, useExtf);
  bool overflows = !std::isfinite(largestValue(type.getElementType()) *
                                  largestValue(format));
  auto scaled = [&](Emitter &body, Value value, ValueRange position) -> Value {
    SmallVector<Value> place = scalePosition(
        body, type.getLayout(), tilePosition(body, type, position));
    Value code = tensor::ExtractOp::create(body, parts.scales, place);
    Value scale = scales.decode(body, code);
    if (overflows && saturateProducts)
      return saturatedProduct(body, value, scale);
    return arith::MulFOp::create(body, value, scale);
  };
  return decodedValues(e, parts, elements, scaled);
}

Value blockscale::integerValues(Emitter &e, const Parts &parts) {
  Decoder elements = Decoder::ofIntegers(parts.type);
  return decodedValues(
      e, parts, elements,
      [](Emitter &, Value value, ValueRange) { return value; });
}
