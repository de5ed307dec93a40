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
#include "blockscale/HW/Throughput.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

#include <limits>

using namespace mlir;
using namespace blockscale;

/// An f32 without its sign.
static constexpr int64_t kMagnitudeMask = 0x7fffffff;

BlockQuantizer::BlockQuantizer(Emitter &emitter, QuantizationAttr what,
                               const QuantizedStorage &storage,
                               ArrayRef<Value> sizes, hw::Target target)
    : BlockScales(emitter, what, storage, sizes, target),
      random(e, what, storage.block),
      roundsByInstruction(
          isStochastic() && isa<FloatType>(element) &&
          (random.areShared() || element.getIntOrFloatBitWidth() > 4) &&
          hasStochasticConvert()) {}

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
