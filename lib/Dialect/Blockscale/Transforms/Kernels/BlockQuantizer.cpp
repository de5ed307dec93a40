//===- BlockQuantizer.cpp - a block of numbers as codes -------------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "BlockQuantizer.h"
#include "IntegerCodes.h"
#include "RandomCodes.h"
#include "blockscale/Dialect/Blockscale/IR/RandomBits.h"
#include "blockscale/Formats/Quotient.h"
#include "blockscale/HW/Throughput.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "llvm/ADT/bit.h"

#include <limits>

using namespace mlir;
using namespace blockscale;

/// An f32 without its sign.
static constexpr int64_t kMagnitudeMask = 0x7fffffff;

BlockQuantizer::BlockQuantizer(Emitter &emitter, QuantizationAttr what,
                               const QuantizedStorage &storage,
                               ArrayRef<Value> sizes, hw::Target target)
    : StorageAccess(emitter, storage, sizes), what(what),
      element(what.getD().getElementType()), limit(largestElement(what.getD())),
      rule(what.getRule()), target(target), random(e, what, storage.block),
      roundsByInstruction(
          isStochastic() && isa<FloatType>(element) &&
          (random.areShared() || element.getIntOrFloatBitWidth() > 4) &&
          hasStochasticConvert()) {
  if (rule == ScaleRule::MinError && largestDecides(what.getD()))
    rule = ScaleRule::MidMax;
}

//===----------------------------------------------------------------------===//
// Scales
//===----------------------------------------------------------------------===//

/// The largest of integers in `parts`, numbers or vectors, taken in pairs, so
/// that no maximum waits for all before it.
static Value largestPart(Emitter &e, SmallVector<Value> parts) {
  while (parts.size() > 1) {
    for (size_t i = 0; i < parts.size() / 2; ++i)
      parts[i] = arith::MaxUIOp::create(e, parts[2 * i], parts[2 * i + 1]);
    parts.resize(parts.size() / 2);
  }
  return parts.front();
}

/// Of bf16 or f16, two in a word, whose bits without the sign are in order, and
/// those of a NaN above the others'.
static Value largestOfHalves(Emitter &e, ArrayRef<Value> values) {
  Type type = values.front().getType(), i16 = e.getI16Type();
  auto pairs = VectorType::get({2}, i16);
  Value mask = arith::ConstantOp::create(
      e, DenseElementsAttr::get(pairs, APInt(16, 0x7fff)));
  SmallVector<Value> parts;
  for (size_t i = 0; i < values.size(); i += 2) {
    Value pair = vector::FromElementsOp::create(e, VectorType::get({2}, type),
                                                values.slice(i, 2));
    pair = vector::BitCastOp::create(e, pairs, pair);
    parts.push_back(arith::AndIOp::create(e, pair, mask));
  }
  Value largest = largestPart(e, std::move(parts));
  Value bits =
      arith::MaxUIOp::create(e, vector::ExtractOp::create(e, largest, 0),
                             vector::ExtractOp::create(e, largest, 1));
  return e.widen(arith::BitcastOp::create(e, type, bits));
}

// Of f32 it takes half of the instructions: they are widened anyway. Only few
// kernels wait for their instructions.
Value BlockQuantizer::largestOf(ArrayRef<Value> values) {
  bool waits =
      isa<Float4E2M1FNType>(element) &&
      (comparesErrors() || what.getRounding() == ElementRounding::Stochastic);
  if (!values.front().getType().isF32() && !waits)
    return largestOfHalves(e, values);
  auto wide =
      llvm::map_to_vector(values, [&](Value value) { return e.widen(value); });
  return LargestMagnitudeOp::create(e, e.getF32Type(), wide);
}

/// Of an i32 of each thread that has a block of the tile.
Value BlockQuantizer::reduceTile(Value own, gpu::AllReduceOperation how) {
  return TileReduction(e, storage, order).reduce(own, how);
}

Value BlockQuantizer::largestOfTile(Value largest) {
  return e.fromBits(
      reduceTile(e.bits(largest), gpu::AllReduceOperation::MAXUI));
}

/// min(1 / (s * t), FLT_MAX), and 0 under a scale of 0.
Value BlockQuantizer::inverseOf(Value scale, Value factor) {
  Value step = scale;
  if (factor)
    step = arith::MinimumFOp::create(e, arith::MulFOp::create(e, scale, factor),
                                     e.f32(std::numeric_limits<float>::max()));
  Value isZero =
      arith::CmpFOp::create(e, arith::CmpFPredicate::OEQ, scale, e.f32(0));
  return select(e, isZero, e.f32(0), boundedInverse(e, step));
}

/// What numbers are multiplied by under a tensor scale.
Value BlockQuantizer::inverseOfFactor(Value factor) {
  return factor == chosen ? inverseOfChosen : boundedInverse(e, factor);
}

/// Of powers of two; `factor` is that of the tensor, or null.
BlockScaling BlockQuantizer::exponentScaling(ScaleRule rule, Value largest,
                                             Value factor) {
  if (factor)
    largest = arith::MulFOp::create(e, largest, inverseOfFactor(factor));
  return powerScaling(exponentScaleBits(e, largest, rule, element), factor);
}

BlockScaling BlockQuantizer::powerScaling(Value code, Value factor) {
  constexpr int64_t kNaN = 0x7fc00000, kSmallest = 0x00400000;
  // 2^(code - 127), or the inverse of that, which is one too: 2^-127, the
  // smallest, is a subnormal f32.
  auto power = [&](Value exponent, int64_t smallest) {
    Value bits = arith::ShLIOp::create(e, exponent, e.i32(23));
    auto is = [&](int64_t value) -> Value {
      return arith::CmpIOp::create(e, arith::CmpIPredicate::eq, code,
                                   e.i32(value));
    };
    bits = select(e, is(smallest), e.i32(kSmallest), bits);
    return e.fromBits(select(e, is(255), e.i32(kNaN), bits));
  };
  if (factor)
    return {code, inverseOf(power(code, 0), factor), Value(), {}};
  return {code,
          power(arith::SubIOp::create(e, e.i32(254), code), 254),
          Value(),
          {}};
}

/// Of an f32 and of what it is `rounded` to: the bits of that are the code, of
/// a NaN those that have no payload.
BlockScaling BlockQuantizer::plainScaling(Value scale, Value rounded) {
  auto type = cast<FloatType>(rounded.getType());
  auto nan = APFloat::getQNaN(type.getFloatSemantics()).bitcastToAPInt();
  Value bits =
      arith::BitcastOp::create(e, e.getIntegerType(type.getWidth()), rounded);
  if (!type.isF32()) {
    bits = arith::ExtUIOp::create(e, e.getI32Type(), bits);
    scale = e.widen(rounded);
  }
  Value code =
      select(e, isNaN(e, scale), e.i32(int64_t(nan.getZExtValue())), bits);
  return {code, inverseOf(scale, Value()), scale, {}};
}

BlockScaling BlockQuantizer::plainScaling(float target, Value largest) {
  Value scale = arith::DivFOp::create(e, largest, e.f32(target));
  scale = arith::MinimumFOp::create(
      e, scale, e.f32(largestScale(storage.plainScale, limit)));
  return plainScaling(scale, e.narrow(scale, storage.plainScale));
}

BlockScaling BlockQuantizer::givenScaling(Value scale) {
  BlockScaling scaling;
  if (storage.hasPowers()) {
    scaling = powerScaling(exponentUpwardsBits(e, scale), /*factor=*/Value());
  } else {
    Value rounded = encodeUpwards(e, scale, storage.plainScale,
                                  [&](Value code) { return e.widen(code); });
    scaling = plainScaling(scale, rounded);
  }
  scaling.isGiven = true;
  return scaling;
}

/// What the scale of a block is before it is rounded, in the order of
/// operations that `blockscale.quantize` has. The largest magnitude becomes the
/// element `target`.
Value BlockQuantizer::scaleFor(float target, Value largest, Value factor) {
  if (!factor)
    return arith::DivFOp::create(e, largest, e.f32(target));
  Value inverse =
      arith::MulFOp::create(e, inverseOfFactor(factor), e.f32(1.0f / target));
  return arith::MulFOp::create(e, largest, inverse);
}

/// Of floats of 8 bits, which one instruction makes of one scale or of two.
SmallVector<BlockScaling>
BlockQuantizer::roundedScalings(ArrayRef<Value> scales, Value factor) {
  constexpr int64_t kBits = 8;
  auto format = TypeAttr::get(Float8E4M3FNType::get(what.getContext()));
  // The largest number of the format, at which this saturates, is the bound.
  Value high = scales.size() > 1 ? scales[1] : e.f32(0);
  Value codes = EncodePairOp::create(e, scales[0], high, format);
  Value values = DecodePairOp::create(e, codes, format);
  SmallVector<BlockScaling> scalings;
  for (size_t i = 0; i < scales.size(); ++i) {
    Value code = codes;
    if (i > 0)
      code = arith::ShRUIOp::create(e, codes, e.i32(kBits));
    else if (scales.size() > 1)
      code = arith::AndIOp::create(e, codes, e.i32((1 << kBits) - 1));
    Value value = e.widen(vector::ExtractOp::create(e, values, int64_t(i)));
    scalings.push_back({code, inverseOf(value, factor), value, {}});
  }
  return scalings;
}

BlockScaling BlockQuantizer::floatScaling(float target, Value largest,
                                          Value factor) {
  if (!storage.scale)
    return plainScaling(target, largest);
  return roundedScalings(scaleFor(target, largest, factor), factor).front();
}

/// The sum of what the elements of a tile add to its error, an i32: there are
/// at most 2048 of at most 2^20. Keeps the codes.
Value BlockQuantizer::errorOf(ArrayRef<Value> values, BlockScaling &scaling,
                              const ErrorSum::Candidate &candidate,
                              Value counts) {
  bool isPacked = hw::multipliesPairs(target.chip);
  ErrorSum::Found found =
      ErrorSum(e, what.getD(), isPacked).find(values, candidate);
  scaling.codes = std::move(found.codes);
  if (storage.repetitions() == 1)
    return found.sum;
  return reduceTile(select(e, counts, found.sum, e.i32(0)),
                    gpu::AllReduceOperation::ADD);
}

/// The one of two scales that `min_error` takes. Under powers of two alone no
/// error is above the bound: but for tiles that have both scales the same.
BlockScaling BlockQuantizer::lessErring(ArrayRef<Value> values, Value largest,
                                        Value factor, Value counts) {
  bool isPower = storage.hasPowers();
  float below = secondLargestElement(what.getD());
  BlockScaling first = isPower
                           ? exponentScaling(ScaleRule::Floor, largest, factor)
                           : floatScaling(limit, largest, factor);
  BlockScaling second =
      isPower ? exponentScaling(ScaleRule::FloorPlusOne, largest, factor)
              : floatScaling(below, largest, factor);
  ErrorSum::Candidate one{first.inverse}, other{second.inverse};
  // A power is twice the other unless both are the same.
  if (isPower)
    other.power = 2;
  else
    other.ratio = arith::DivFOp::create(e, second.scale, first.scale);
  if (!isPower || factor)
    one.largest = other.largest = largest;
  Value secondError = errorOf(values, second, other, counts);
  Value firstError = errorOf(values, first, one, counts);
  Value isBetter = arith::CmpIOp::create(e, arith::CmpIPredicate::ult,
                                         secondError, firstError);
  if (!isPower) {
    Value isZero = arith::CmpIOp::create(e, arith::CmpIPredicate::eq,
                                         first.code, e.i32(0));
    isBetter = arith::OrIOp::create(e, isBetter, isZero);
  }
  auto better = [&](Value left, Value right) {
    return select(e, isBetter, right, left);
  };
  BlockScaling result{better(first.code, second.code),
                      better(first.inverse, second.inverse),
                      Value(),
                      {}};
  for (auto [left, right] : llvm::zip_equal(first.codes, second.codes))
    result.codes.push_back(better(left, right));
  return result;
}

BlockScaling BlockQuantizer::chosenScaling(ArrayRef<Value> values,
                                           Value largest, Value factor,
                                           Value counts) {
  if (comparesErrors())
    return lessErring(values, largest, factor, counts);
  return storage.hasPowers() ? exponentScaling(rule, largest, factor)
                             : floatScaling(limit, largest, factor);
}

BlockScaling BlockQuantizer::scalingOf(ArrayRef<Value> values, Value largest,
                                       Value factor, Value counts) {
  BlockScaling scaling = chosenScaling(values, largest, factor, counts);
  scaling.largest = largest;
  return scaling;
}

SmallVector<BlockScaling>
BlockQuantizer::scalingsOf(ArrayRef<SmallVector<Value>> blocks, Value factor) {
  constexpr size_t kPair = 2;
  SmallVector<BlockScaling> scalings;
  auto largest = llvm::map_to_vector(
      blocks, [&](const SmallVector<Value> &each) { return largestOf(each); });
  bool arePairs = blocks.size() % kPair == 0 && !comparesErrors() &&
                  storage.scale && storage.scale != ElementFormat::UE8M0;
  for (size_t i = 0; i < blocks.size(); ++i)
    if (!arePairs)
      scalings.push_back(scalingOf(blocks[i], largest[i], factor));
    else if (i % kPair == 0)
      llvm::append_range(
          scalings, roundedScalings({scaleFor(limit, largest[i], factor),
                                     scaleFor(limit, largest[i + 1], factor)},
                                    factor));
  for (auto [scaling, each] : llvm::zip_equal(scalings, largest))
    scaling.largest = each;
  return scalings;
}

//===----------------------------------------------------------------------===//
// Elements
//===----------------------------------------------------------------------===//

/// `value`, which to nearest even becomes what the op's rounding to nearest
/// makes of it. A tie of narrow numbers ends in zeros: with its last bit set it
/// lies above the tie, one less below. Nothing else crosses a tie so, since
/// what ends in a one stays as it is.
Value BlockQuantizer::withoutTie(Value value) {
  Value one = e.i32(1);
  if (what.getRounding() == ElementRounding::Even)
    return value;
  if (what.getRounding() == ElementRounding::Away) {
    // An infinity would become a NaN.
    value = arith::MaximumFOp::create(e, value, e.f32(-limit));
    value = arith::MinimumFOp::create(e, value, e.f32(limit));
    return e.fromBits(arith::OrIOp::create(e, e.bits(value), one));
  }
  Value raw = e.bits(value);
  Value magnitude = arith::AndIOp::create(e, raw, e.i32(kMagnitudeMask));
  // There is nothing below 0.
  Value less = arith::MinUIOp::create(e, magnitude, one);
  raw = arith::SubIOp::create(e, raw, less);
  return e.fromBits(arith::OrIOp::create(e, raw, one));
}

/// Under a scale that is NaN all elements are, and under no other: an infinity
/// has a scale whose inverse is not 0.
void BlockQuantizer::replaceNaN(SmallVector<Value> &words, Value inverse) {
  auto bits = unsigned(storage.data->globalBits);
  uint64_t code = formatInfo(storage.element).nanCode;
  Value isNaNBlock = isNaN(e, inverse);
  for (size_t i = 0; i < words.size(); ++i) {
    uint32_t word = 0;
    for (unsigned bit = 0; bit < 32; ++bit)
      word |= uint32_t(code >> ((i * 32 + bit) % bits) & 1) << bit;
    words[i] = select(e, isNaNBlock, e.i32(int32_t(word)), words[i]);
  }
}

bool BlockQuantizer::hasStochasticConvert() const {
  return hw::isAvailable(hw::Feature::StochasticConvert, target);
}

bool BlockQuantizer::countsToCodes(const BlockScaling &scaling) const {
  return isStochastic() && !random.areShared() && !scaling.isGiven &&
         isa<Float4E2M1FNType>(element);
}

/// Of codes that were counted to: where an element is infinite, or is so under
/// its scale, it has become a NaN and signs may be wrong, where one is a NaN
/// all is. Both are rare.
void BlockQuantizer::repairUnordered(SmallVector<Value> &words,
                                     ArrayRef<Value> values,
                                     const BlockScaling &scaling) {
  Value most = arith::MulFOp::create(e, scaling.largest, scaling.inverse);
  Value isRare =
      arith::CmpFOp::create(e, arith::CmpFPredicate::UEQ, most,
                            e.f32(std::numeric_limits<float>::infinity()));
  auto branch = scf::IfOp::create(e, ValueRange(words).getTypes(), isRare,
                                  /*withElseRegion=*/true);
  OpBuilder::InsertionGuard guard(e);
  e.setInsertionPointToStart(branch.elseBlock());
  scf::YieldOp::create(e, words);
  e.setInsertionPointToStart(branch.thenBlock());
  words = orSigns(e, words, values);
  replaceNaN(words, scaling.inverse);
  scf::YieldOp::create(e, words);
  llvm::copy(branch.getResults(), words.begin());
}

bool BlockQuantizer::isStochastic() const {
  return what.getRounding() == ElementRounding::Stochastic ||
         random.areShared();
}

/// Four codes in two pairs one behind the other.
Value BlockQuantizer::joined(Value low, Value high) {
  return packed(
      arith::OrIOp::create(e, low, arith::ShLIOp::create(e, high, e.i32(16))));
}

/// Four codes in a byte each one behind the other.
Value BlockQuantizer::packed(Value word) {
  if (int64_t(storage.data->globalBits) != 6)
    return word;
  // 6-bit codes come in bytes of their own. Of each pair the second moves by
  // two bits, then the second pair by four: what moves is there once less at
  // its old place and once at the new one.
  auto moved = [&](Value from, int64_t mask, int64_t distance) -> Value {
    Value part = arith::ShRUIOp::create(
        e, arith::AndIOp::create(e, from, e.i32(mask)), e.i32(distance));
    return add(from, mul(part, e.i32(1 - (int64_t(1) << distance))));
  };
  return moved(moved(word, 0x3f003f00, 2), 0x0fff0000, 4);
}

/// What is rounded to nearest even instead of the elements.
SmallVector<Value> BlockQuantizer::quotientsOf(ArrayRef<Value> values,
                                               const BlockScaling &scaling,
                                               Value first) {
  SmallVector<Value> numbers, quotients;
  if (isStochastic())
    numbers = random.numbers(first);
  for (auto [i, value] : llvm::enumerate(values)) {
    Value product = arith::MulFOp::create(e, value, scaling.inverse);
    Value quotient = isStochastic() ? DitherOp::create(e, product, numbers[i],
                                                       TypeAttr::get(element))
                                          .getResult()
                                    : withoutTie(product);
    if (isStochastic() && scaling.isGiven)
      quotient = select(e, isNaN(e, product), product, quotient);
    quotients.push_back(quotient);
  }
  return quotients;
}

/// What becomes an integer. A NaN among others is 0.
Value BlockQuantizer::countOf(Value value, const BlockScaling &scaling) {
  Value product = arith::MulFOp::create(e, value, scaling.inverse);
  if (scaling.isGiven)
    product = select(e, isNaN(e, product), e.f32(0), product);
  return product;
}

NumberParts BlockQuantizer::parts() {
  return {e, hw::multipliesPairs(target.chip)};
}

/// Those of integers.
SmallVector<Value> BlockQuantizer::integerGroups(ArrayRef<Value> values,
                                                 const BlockScaling &scaling,
                                                 Value first) {
  if (isStochastic())
    return randomBytes(e, parts(), values, scaling.inverse, random.pairs(first),
                       /*hasNaN=*/scaling.isGiven);
  SmallVector<Value> counts;
  for (Value value : values)
    counts.push_back(withoutTie(countOf(value, scaling)));
  return encodeBytes(e, counts);
}

/// Four codes of 8 or 6 bits by `cvt.rs`, each by random bits of its own, of
/// which a pair has a word. The instruction gives the lower half of a word to
/// two numbers, and the upper half to two: of these each has its code twice.
Value BlockQuantizer::encodeApart(ArrayRef<Value> products,
                                  ArrayRef<Value> pairs) {
  auto bytes = VectorType::get({4}, e.getI8Type());
  auto word = VectorType::get({1}, e.getI32Type());
  SmallVector<Value> twice;
  for (size_t i = 0; i < pairs.size(); ++i) {
    Value low = products[2 * i], high = products[2 * i + 1];
    Value codes = EncodeStochasticOp::create(e, e.getI32Type(),
                                             ValueRange{low, low, high, high},
                                             pairs[i], TypeAttr::get(element));
    twice.push_back(vector::BitCastOp::create(
        e, bytes, vector::FromElementsOp::create(e, word, codes)));
  }
  Value codes = vector::ShuffleOp::create(e, twice[0], twice[1],
                                          ArrayRef<int64_t>{0, 2, 4, 6});
  return packed(vector::ExtractOp::create(
      e, vector::BitCastOp::create(e, word, codes), int64_t(0)));
}

/// The codes in groups of four, or of eight of 4 bits, by `cvt.rs`.
SmallVector<Value> BlockQuantizer::encodeByInstruction(ArrayRef<Value> values,
                                                       Value inverse,
                                                       Value first) {
  SmallVector<Value> products, words;
  for (Value value : values)
    products.push_back(arith::MulFOp::create(e, value, inverse));
  if (!random.areShared()) {
    SmallVector<Value> pairs = random.pairs(first);
    for (size_t i = 0; i < products.size(); i += kRandomGroup)
      words.push_back(encodeApart(ArrayRef(products).slice(i, kRandomGroup),
                                  ArrayRef(pairs).slice(i / 2, 2)));
    return words;
  }
  SmallVector<Value> shared = random.sharedBits(first);
  auto groups = size_t(int64_t(storage.data->globalBits) == 4 ? 2 : 1);
  ArrayRef<Value> rest = products, bits = shared;
  for (; !bits.empty(); bits = bits.drop_front(groups)) {
    size_t taken = groups * kRandomGroup;
    words.push_back(packed(EncodeStochasticOp::create(
        e, e.getI32Type(), rest.take_front(taken), bits.take_front(groups),
        TypeAttr::get(element))));
    rest = rest.drop_front(taken);
  }
  return words;
}

/// The codes in groups of four, or of eight of 4 bits.
SmallVector<Value> BlockQuantizer::encodeGroups(ArrayRef<Value> values,
                                                const BlockScaling &scaling,
                                                Value first) {
  if (isa<IntegerType>(element))
    return integerGroups(values, scaling, first);
  if (roundsByInstruction)
    return encodeByInstruction(values, scaling.inverse, first);
  if (countsToCodes(scaling))
    return randomCodes(e, parts(), values, scaling.inverse, random.pairs(first),
                       hasStochasticConvert());
  auto format = TypeAttr::get(element);
  bool areWords = int64_t(storage.data->globalBits) == 4;
  SmallVector<Value> groups, pairs;
  if (what.getRounding() == ElementRounding::Even)
    (areWords ? groups : pairs) = scaling.codes;
  if (groups.empty() && pairs.empty()) {
    SmallVector<Value> quotients = quotientsOf(values, scaling, first);
    ArrayRef<Value> rest = quotients;
    constexpr size_t kWord = 8;
    for (; areWords && !rest.empty(); rest = rest.drop_front(kWord))
      groups.push_back(EncodeWordOp::create(e, rest.take_front(kWord), format));
    for (; !rest.empty(); rest = rest.drop_front(2))
      pairs.push_back(EncodePairOp::create(e, rest[0], rest[1], format));
  }
  for (size_t i = 0; i < pairs.size(); i += 2)
    groups.push_back(joined(pairs[i], pairs[i + 1]));
  return groups;
}

SmallVector<Value> BlockQuantizer::encode(ArrayRef<Value> values,
                                          const BlockScaling &scaling,
                                          Value first) {
  constexpr int64_t kWord = 32;
  auto bits = int64_t(storage.data->globalBits);
  SmallVector<Value> words(storage.block * bits / kWord);
  auto put = [&](int64_t word, Value part) {
    words[word] = words[word]
                      ? arith::OrIOp::create(e, words[word], part).getResult()
                      : part;
  };
  SmallVector<Value> groups = encodeGroups(values, scaling, first);
  int64_t size = storage.block * bits / int64_t(groups.size());
  for (auto [i, group] : llvm::enumerate(groups)) {
    int64_t word = int64_t(i) * size / kWord, bit = int64_t(i) * size % kWord;
    put(word,
        bit ? arith::ShLIOp::create(e, group, e.i32(bit)).getResult() : group);
    if (bit + size > kWord)
      put(word + 1, arith::ShRUIOp::create(e, group, e.i32(kWord - bit)));
  }
  if (countsToCodes(scaling) && hasStochasticConvert())
    repairUnordered(words, values, scaling);
  else if ((isStochastic() && !roundsByInstruction) ||
           isa<IntegerType>(element))
    replaceNaN(words, scaling.inverse);
  return words;
}

int64_t BlockQuantizer::blockBytes() const {
  return storage.block * int64_t(storage.data->globalBits) / 8;
}

int64_t BlockQuantizer::dataAccess() const {
  int64_t bytes = blockBytes();
  return std::min(kAccessBytes, bytes & -bytes);
}

Value BlockQuantizer::dataOffset(const BlockPlace &place) {
  return add(lineOffset(place), mul(wide(place.block), wide(blockBytes())));
}

Value BlockQuantizer::dataPiece(ArrayRef<Value> words, int64_t piece) {
  int64_t access = dataAccess(), count = access / 4;
  auto type = VectorType::get({count}, e.getI32Type());
  Value value = vector::FromElementsOp::create(
      e, type, words.slice(piece * count, count));
  return vector::BitCastOp::create(e, VectorType::get({access}, e.getI8Type()),
                                   value);
}

void BlockQuantizer::storeData(Value memory, const BlockPlace &place,
                               ArrayRef<Value> words) {
  Value offset = dataOffset(place);
  constexpr int64_t kWordBytes = 4;
  int64_t bytes = int64_t(words.size()) * kWordBytes;
  int64_t access = dataAccess();
  for (int64_t i = 0; i < bytes / access; ++i)
    StoreRowOp::create(e, dataPiece(words, i), memory,
                       add(offset, wide(i * access)), e.i32(access),
                       /*stride=*/Value(), /*aligned=*/true);
}

//===----------------------------------------------------------------------===//
// The tensor scale
//===----------------------------------------------------------------------===//

Value BlockQuantizer::loadFactor(Value memory, Value matrix) {
  return math::AbsFOp::create(e, loadNumber(memory, matrix));
}

void BlockQuantizer::invertFactor(Value factor) {
  inverseOfChosen = inverseOfFactor(factor);
  chosen = factor;
}

/// In the order of operations that `blockscale.quantize` has.
Value BlockQuantizer::chooseFactor(Value largest) {
  constexpr float kMost = std::numeric_limits<float>::max();
  if (needsNoFactor())
    return chosen = inverseOfChosen = e.f32(1);
  auto isAbove = [&](Value value) -> Value {
    return arith::CmpFOp::create(e, arith::CmpFPredicate::OGT, value, e.f32(0));
  };
  float product =
      limit * largestValue(Float8E4M3FNType::get(what.getContext()));
  Value inverse = arith::DivFOp::create(e, e.f32(product), largest);
  inverse = arith::MinimumFOp::create(e, inverse, e.f32(kMost));
  // 0 from infinity; a NaN compares false. A 0 gives the bound.
  Value usable = arith::AndIOp::create(e, isAbove(inverse), isAbove(largest));
  inverseOfChosen = select(e, usable, inverse, e.f32(1));
  // Rounding twice must not carry the largest value past the end of f32.
  Value factor = arith::DivFOp::create(e, e.f32(1), inverseOfChosen);
  chosen = arith::MinimumFOp::create(
      e, factor, e.f32(quotientTowardsZero(kMost, product)));
  return chosen;
}

Value BlockQuantizer::isFirstBlock(const BlockPlace &place) {
  return arith::CmpIOp::create(e, arith::CmpIPredicate::eq,
                               arith::OrIOp::create(e, place.row, place.block),
                               e.i32(0));
}

void BlockQuantizer::storeFactor(Value memory, const BlockPlace &place,
                                 Value factor) {
  auto condition = scf::IfOp::create(e, isFirstBlock(place));
  OpBuilder::InsertionGuard guard(e);
  e.setInsertionPointToStart(condition.thenBlock());
  auto one = VectorType::get({1}, e.getF32Type());
  StoreRowOp::create(e, vector::FromElementsOp::create(e, one, factor), memory,
                     wide(place.matrix), e.i32(1), /*stride=*/Value(),
                     /*aligned=*/true);
}
