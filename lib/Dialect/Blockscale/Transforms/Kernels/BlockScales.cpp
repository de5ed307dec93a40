//===- BlockScales.cpp - the scales of blocks -----------------------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "BlockScales.h"
#include "TileReduction.h"
#include "blockscale/Dialect/Blockscale/IR/ScaleCodes.h"
#include "blockscale/Formats/Quotient.h"
#include "blockscale/HW/Throughput.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

#include <limits>

using namespace mlir;
using namespace blockscale;

BlockScales::BlockScales(Emitter &emitter, QuantizationAttr what,
                         const QuantizedStorage &storage, ArrayRef<Value> sizes,
                         hw::Target target)
    : StorageAccess(emitter, storage, sizes), what(what),
      element(what.getD().getElementType()), limit(largestElement(what.getD())),
      target(target), rule(what.getRule()) {
  if (rule == ScaleRule::MinError && largestDecides(what.getD()))
    rule = ScaleRule::MidMax;
}

//===----------------------------------------------------------------------===//
// Those of blocks
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
Value BlockScales::largestOf(ArrayRef<Value> values) {
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
Value BlockScales::reduceTile(Value own, gpu::AllReduceOperation how) {
  if (hasMates)
    return mates ? mates(e, own, how) : own;
  return TileReduction(e, storage, order).reduce(own, how);
}

Value BlockScales::largestOfTile(Value largest) {
  return e.fromBits(
      reduceTile(e.bits(largest), gpu::AllReduceOperation::MAXUI));
}

/// min(1 / (s * t), FLT_MAX), and 0 under a scale of 0.
Value BlockScales::inverseOf(Value scale, Value factor) {
  Value step = scale;
  if (factor)
    step = arith::MinimumFOp::create(e, arith::MulFOp::create(e, scale, factor),
                                     e.f32(std::numeric_limits<float>::max()));
  Value isZero =
      arith::CmpFOp::create(e, arith::CmpFPredicate::OEQ, scale, e.f32(0));
  return select(e, isZero, e.f32(0), boundedInverse(e, step));
}

/// What numbers are multiplied by under a tensor scale.
Value BlockScales::inverseOfFactor(Value factor) {
  return factor == chosen ? inverseOfChosen : boundedInverse(e, factor);
}

/// Of powers of two; `factor` is that of the tensor, or null.
BlockScaling BlockScales::exponentScaling(ScaleRule rule, Value largest,
                                          Value factor) {
  if (factor)
    largest = arith::MulFOp::create(e, largest, inverseOfFactor(factor));
  return powerScaling(exponentScaleBits(e, largest, rule, element), factor);
}

BlockScaling BlockScales::powerScaling(Value code, Value factor) {
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
BlockScaling BlockScales::plainScaling(Value scale, Value rounded) {
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

BlockScaling BlockScales::plainScaling(float target, Value largest) {
  Value scale = arith::DivFOp::create(e, largest, e.f32(target));
  scale = arith::MinimumFOp::create(
      e, scale, e.f32(largestScale(storage.plainScale, limit)));
  return plainScaling(scale, e.narrow(scale, storage.plainScale));
}

BlockScaling BlockScales::givenScaling(Value scale) {
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
Value BlockScales::scaleFor(float target, Value largest, Value factor) {
  if (!factor)
    return arith::DivFOp::create(e, largest, e.f32(target));
  Value inverse =
      arith::MulFOp::create(e, inverseOfFactor(factor), e.f32(1.0f / target));
  return arith::MulFOp::create(e, largest, inverse);
}

/// Of floats of 8 bits, which one instruction makes of one scale or of two.
SmallVector<BlockScaling> BlockScales::roundedScalings(ArrayRef<Value> scales,
                                                       Value factor) {
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

BlockScaling BlockScales::floatScaling(float target, Value largest,
                                       Value factor) {
  if (!storage.scale)
    return plainScaling(target, largest);
  return roundedScalings(scaleFor(target, largest, factor), factor).front();
}

ErrorSum BlockScales::errorSum() {
  return {e, what.getD(), hw::multipliesPairs(target.chip)};
}

/// The sum of what the elements of a tile add to its error, an i32: there are
/// at most 2048 of at most 2^20. Keeps the codes.
Value BlockScales::errorOf(ArrayRef<Value> values, BlockScaling &scaling,
                           const ErrorSum::Candidate &candidate, Value counts) {
  ErrorSum::Found found = errorSum().find(values, candidate);
  scaling.codes = std::move(found.codes);
  if (storage.repetitions() == 1 || !counts)
    return found.sum;
  return reduceTile(select(e, counts, found.sum, e.i32(0)),
                    gpu::AllReduceOperation::ADD);
}

/// Under powers of two alone no error is above the bound: but for tiles that
/// have both scales the same.
BlockScales::Choice BlockScales::choiceOf(Value largest, Value factor) {
  bool isPower = storage.hasPowers();
  float below = secondLargestElement(what.getD());
  Choice choice;
  choice.first = isPower ? exponentScaling(ScaleRule::Floor, largest, factor)
                         : floatScaling(limit, largest, factor);
  choice.second =
      isPower ? exponentScaling(ScaleRule::FloorPlusOne, largest, factor)
              : floatScaling(below, largest, factor);
  choice.one = {choice.first.inverse};
  choice.other = {choice.second.inverse};
  // A power is twice the other unless both are the same.
  if (isPower)
    choice.other.power = 2;
  else
    choice.other.ratio =
        arith::DivFOp::create(e, choice.second.scale, choice.first.scale);
  if (!isPower || factor)
    choice.one.largest = choice.other.largest = largest;
  return choice;
}

/// Whether the second of two scales errs less. Keeps the codes under both.
Value BlockScales::isSecondBetter(ArrayRef<Value> values, Value counts,
                                  Choice &choice) {
  BlockScaling &first = choice.first, &second = choice.second;
  if (storage.scale && !storage.hasPowers() && storage.repetitions() == 1) {
    ErrorSum::Comparison found = errorSum().compare(
        values, choice.one, choice.other, {first.scale, second.scale});
    first.codes = std::move(found.first);
    second.codes = std::move(found.second);
    return found.isSecond;
  }
  Value secondError = errorOf(values, second, choice.other, counts);
  Value firstError = errorOf(values, first, choice.one, counts);
  return arith::CmpIOp::create(e, arith::CmpIPredicate::ult, secondError,
                               firstError);
}

/// The one of two scales that `min_error` takes.
BlockScaling BlockScales::takenOf(const Choice &choice, Value isBetter) {
  const BlockScaling &first = choice.first, &second = choice.second;
  if (!storage.hasPowers()) {
    Value isZero = arith::CmpFOp::create(e, arith::CmpFPredicate::OEQ,
                                         first.scale, e.f32(0));
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

BlockScaling BlockScales::scalingOfParts(
    Value largest, Value factor,
    function_ref<Errors(function_ref<Errors(ArrayRef<Value>)>)> addUp) {
  Choice choice = choiceOf(largest, factor);
  Errors errors = addUp([&](ArrayRef<Value> values) -> Errors {
    return {errorSum().find(values, choice.one).sum,
            errorSum().find(values, choice.other).sum};
  });
  for (Value &error : errors)
    error = reduceTile(error, gpu::AllReduceOperation::ADD);
  BlockScaling scaling =
      takenOf(choice, arith::CmpIOp::create(e, arith::CmpIPredicate::ult,
                                            errors[1], errors[0]));
  scaling.largest = largest;
  return scaling;
}

BlockScaling BlockScales::chosenScaling(ArrayRef<Value> values, Value largest,
                                        Value factor, Value counts) {
  if (comparesErrors()) {
    Choice choice = choiceOf(largest, factor);
    return takenOf(choice, isSecondBetter(values, counts, choice));
  }
  return storage.hasPowers() ? exponentScaling(rule, largest, factor)
                             : floatScaling(limit, largest, factor);
}

BlockScaling BlockScales::scalingOf(ArrayRef<Value> values, Value largest,
                                    Value factor, Value counts) {
  BlockScaling scaling = chosenScaling(values, largest, factor, counts);
  scaling.largest = largest;
  return scaling;
}

SmallVector<BlockScaling>
BlockScales::scalingsOf(ArrayRef<SmallVector<Value>> blocks, Value factor) {
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
// The tensor scale
//===----------------------------------------------------------------------===//

Value BlockScales::loadFactor(Value memory, Value matrix) {
  return math::AbsFOp::create(e, loadNumber(memory, matrix));
}

void BlockScales::invertFactor(Value factor) {
  inverseOfChosen = inverseOfFactor(factor);
  chosen = factor;
}

/// In the order of operations that `blockscale.quantize` has.
Value BlockScales::chooseFactor(Value largest) {
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

Value BlockScales::isFirstBlock(const BlockPlace &place) {
  return arith::CmpIOp::create(e, arith::CmpIPredicate::eq,
                               arith::OrIOp::create(e, place.row, place.block),
                               e.i32(0));
}

void BlockScales::storeFactor(Value memory, const BlockPlace &place,
                              Value factor) {
  auto condition = scf::IfOp::create(e, isFirstBlock(place));
  OpBuilder::InsertionGuard guard(e);
  e.setInsertionPointToStart(condition.thenBlock());
  auto one = VectorType::get({1}, e.getF32Type());
  StoreRowOp::create(e, vector::FromElementsOp::create(e, one, factor), memory,
                     wide(place.matrix), e.i32(1), /*stride=*/Value(),
                     /*aligned=*/true);
}
