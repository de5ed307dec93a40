//===- ElementValues.cpp - the numbers that elements mean -----------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "ElementValues.h"
#include "blockscale/Dialect/Blockscale/IR/LayoutOfScales.h"
#include "blockscale/HW/Metadata.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

#include <cmath>

using namespace mlir;
using namespace blockscale;

namespace {
/// The metadata of the group of an element, in the low four bits, and the
/// number of the element's unit in its group.
struct GroupMetadata {
  Value group, nibble, unit;
};
} // namespace

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

/// The bits of the group of an element in a mask, the first of the group the
/// lowest.
static Value bitsOfGroup(Emitter &e, const Parts &parts, ValueRange position,
                         int64_t group) {
  constexpr int64_t kByte = 8;
  SmallVector<Value> place(position);
  place.back() =
      arith::MulIOp::create(e, e.quotient(place.back(), group), e.index(group));
  Value inByte = arith::IndexCastOp::create(e, e.getI32Type(),
                                            e.remainder(place.back(), kByte));
  Value bits;
  for (int64_t bit = 0; bit < group; bit += kByte) {
    Value byte = arith::ExtUIOp::create(
        e, e.getI32Type(),
        tensor::ExtractOp::create(e, parts.metadata,
                                  metadataPosition(e, parts.type, place)));
    byte = bits ? arith::ShLIOp::create(e, byte, e.i32(bit)).getResult()
                : arith::ShRUIOp::create(e, byte, inByte).getResult();
    bits = bits ? arith::OrIOp::create(e, bits, byte).getResult() : byte;
    place.back() = arith::AddIOp::create(e, place.back(), e.index(kByte));
  }
  return bits;
}

/// Of a group with a bit for each element those are stored, one behind the
/// other, whose bits are set.
static std::pair<Value, Value> storedByMask(Emitter &e, const Parts &parts,
                                            ValueRange position) {
  SparseForm form = sparseForm(parts.type);
  Value k = position.back(), bits = bitsOfGroup(e, parts, position, form.chunk);
  Value unit =
      arith::IndexCastOp::create(e, e.getI32Type(), e.remainder(k, form.chunk));
  auto bitAt = [&](Value place) -> Value {
    return arith::AndIOp::create(e, arith::ShRUIOp::create(e, bits, place),
                                 e.i32(1));
  };
  Value before = e.i32(0);
  for (int64_t i = 0; i + 1 < form.chunk; ++i) {
    Value isBefore =
        arith::CmpIOp::create(e, arith::CmpIPredicate::ult, e.i32(i), unit);
    before = arith::AddIOp::create(
        e, before,
        arith::SelectOp::create(e, isBefore, bitAt(e.i32(i)), e.i32(0)));
  }
  // Bits that are too many must not lead out of the group.
  before = arith::MinUIOp::create(e, before, e.i32(form.stored - 1));
  Value first =
      arith::MulIOp::create(e, e.quotient(k, form.chunk), e.index(form.stored));
  Value stored = arith::AddIOp::create(
      e, first, arith::IndexCastOp::create(e, e.getIndexType(), before));
  Value isKept =
      arith::CmpIOp::create(e, arith::CmpIPredicate::ne, bitAt(unit), e.i32(0));
  return {codeAt(e, parts, position, stored), isKept};
}

/// The code of an element of a sparse tensor where it is stored, and whether it
/// is. Two 2-bit indices say which units of a group of four were kept; a unit
/// is an element, or a pair where 4 of 8 are kept in pairs.
static std::pair<Value, Value> storedCode(Emitter &e, const Parts &parts,
                                          ValueRange position) {
  if (sparseForm(parts.type).isMask)
    return storedByMask(e, parts, position);
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

namespace {
/// An element as a number. Of a sparse tensor it is 0 where it was pruned, and
/// `kept` says whether it was not; null where all elements are stored.
struct Element {
  Value value, kept;
};
} // namespace

/// What becomes of an element at its position.
using ElementUse = function_ref<Value(Emitter &, Element, ValueRange)>;

/// Zero where `kept` is false.
static Value whereKept(Emitter &e, Value kept, Value number) {
  if (!kept)
    return number;
  Value zero = arith::ConstantOp::create(e, e.getZeroAttr(number.getType()));
  return arith::SelectOp::create(e, kept, number, zero);
}

static Element sparseElement(Emitter &e, const Parts &parts,
                             const Decoder &elements, ValueRange position) {
  auto [code, kept] = storedCode(e, parts, position);
  return {whereKept(e, kept, elements.decode(e, code)), kept};
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
static Value decodedValues(Emitter &e, const Parts &parts,
                           const Decoder &elements, ElementUse scaled) {
  SmallVector<OpFoldResult> sizes = logicalSizes(e, parts);
  bool isOfTables = isa<CodebookType>(parts.type.getElementType());
  if (!parts.metadata || isOfTables)
    return denseValues(e, parts, sizes, elements.numberType(),
                       [&](Emitter &body, Value code, ValueRange position) {
                         if (isOfTables)
                           code = codebookCode(body, parts, code, position);
                         Element element{elements.decode(body, code), Value()};
                         return scaled(body, element, position);
                       });
  return generate(
      e, sizes, elements.numberType(), [&](Emitter &body, ValueRange position) {
        return scaled(body, sparseElement(body, parts, elements, position),
                      position);
      });
}

/// Where the scale and the zero point of an element lie.
static SmallVector<Value> placeOfTile(Emitter &body, ScaledTensorType type,
                                      ValueRange position) {
  return scalePosition(body, getScaleLayout(type),
                       tilePosition(body, type, position));
}

/// The zero point of an element, whose tile's lies at `place`: none is
/// subtracted from what was pruned, which is 0.
static Value zeroOf(Emitter &body, const Parts &parts, const Decoder &zeros,
                    Element element, ValueRange place) {
  Value code = tensor::ExtractOp::create(body, parts.zeros, place);
  return whereKept(body, element.kept, zeros.decode(body, code));
}

Value blockscale::elementValues(Emitter &e, const Parts &parts, bool useExtf) {
  std::optional<Decoder> zeros;
  if (parts.type.getSpec().getValue().hasIntegerZero())
    zeros = Decoder::ofZeros(e, parts.zeros.getType(), useExtf);
  auto lessZero = [&](Emitter &body, Element element, ValueRange position) {
    if (!zeros)
      return element.value;
    Value zero = zeroOf(body, parts, *zeros, element,
                        placeOfTile(body, parts.type, position));
    return arith::SubFOp::create(body, element.value, zero).getResult();
  };
  return decodedValues(e, parts, Decoder::ofElements(e, parts.type, useExtf),
                       lessZero);
}

Value blockscale::tileScaledValues(Emitter &e, const Parts &parts, bool useExtf,
                                   bool saturateProducts) {
  ScaledTensorType type = parts.type;
  if (!parts.scales)
    return elementValues(e, parts, useExtf);
  Decoder elements = Decoder::ofElements(e, type, useExtf);
  Type format = cast<RankedTensorType>(parts.scales.getType()).getElementType();
  Decoder scales = Decoder::ofScales(e, type, parts.scales.getType(), useExtf);
  bool overflows = !std::isfinite(largestElement(type) * largestValue(format));
  std::optional<Decoder> zeros;
  if (parts.zeros)
    zeros = Decoder::ofZeros(e, parts.zeros.getType(), useExtf);
  auto scaled = [&](Emitter &body, Element element,
                    ValueRange position) -> Value {
    SmallVector<Value> place = placeOfTile(body, type, position);
    Value value = element.value, zero;
    if (zeros)
      zero = zeroOf(body, parts, *zeros, element, place);
    bool isInteger = type.getSpec().getValue().hasIntegerZero();
    if (zero && isInteger)
      value = arith::SubFOp::create(body, value, zero);
    Value code = tensor::ExtractOp::create(body, parts.scales, place);
    Value scale = scales.decode(body, code);
    value = overflows && saturateProducts
                ? saturatedProduct(body, value, scale)
                : arith::MulFOp::create(body, value, scale).getResult();
    if (zero && !isInteger)
      value = saturateProducts
                  ? saturatedDifference(body, value, zero)
                  : arith::SubFOp::create(body, value, zero).getResult();
    return value;
  };
  return decodedValues(e, parts, elements, scaled);
}

Value blockscale::integerValues(Emitter &e, const Parts &parts) {
  Decoder elements = Decoder::ofIntegers(parts.type);
  return decodedValues(
      e, parts, elements,
      [](Emitter &, Element element, ValueRange) { return element.value; });
}
