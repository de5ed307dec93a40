//===- ErrorSum.cpp - how far a block of codes is off ---------------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "ErrorSum.h"
#include "blockscale/Dialect/Blockscale/IR/BlockscaleErrors.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "llvm/ADT/bit.h"

#include <cmath>

using namespace mlir;
using namespace blockscale;

ErrorSum::ErrorSum(Emitter &emitter, ScaledTensorType type, bool isPacked)
    : e(emitter), element(type.getElementType()),
      largestElement(blockscale::largestElement(type)),
      factor(errorFactor(type)), parts(emitter, isPacked) {}

SmallVector<Value> ErrorSum::quotientsOf(ArrayRef<Value> values,
                                         Value inverse) {
  SmallVector<Value> quotients;
  int64_t lanes = parts.lanes();
  for (; !values.empty(); values = values.drop_front(lanes)) {
    Part part = parts.times(values.take_front(lanes), inverse);
    llvm::append_range(quotients, parts.numbers(part));
  }
  return quotients;
}

SmallVector<ErrorSum::Part> ErrorSum::errorsOf(ArrayRef<Value> values,
                                               Value inverse,
                                               SmallVectorImpl<Value> &codes) {
  size_t group = isa<Float4E2M1FNType>(element) ? 8 : 2;
  SmallVector<Value> quotients = quotientsOf(values, inverse);
  SmallVector<Part> errors;
  for (size_t i = 0; i < quotients.size(); i += group) {
    auto found = RoundingErrorsOp::create(
        e, ArrayRef(quotients).slice(i, group), element);
    codes.push_back(found.getCodes());
    for (int64_t k = 0; k < int64_t(group); k += parts.lanes()) {
      SmallVector<Value> numbers;
      for (int64_t lane = 0; lane < parts.lanes(); ++lane)
        numbers.push_back(
            vector::ExtractOp::create(e, found.getErrors(), k + lane));
      errors.push_back(parts.join(numbers));
    }
  }
  return errors;
}

/// In pairs, so that no sum waits for all before it.
Value ErrorSum::total(SmallVector<Value> counts) {
  while (counts.size() > 1) {
    size_t half = counts.size() / 2, odd = counts.size() % 2;
    for (size_t i = 0; i < half; ++i)
      counts[i] =
          arith::AddIOp::create(e, counts[i], counts[counts.size() - 1 - i]);
    counts.resize(half + odd);
  }
  return counts.front();
}

Value ErrorSum::sumOf(ArrayRef<Part> errors, const Candidate &candidate) {
  constexpr size_t kChain = 8;
  constexpr int kFractionBits = 23;
  float scaled = factor * candidate.power;
  float start = std::ldexp(1 / (scaled * scaled), kFractionBits);
  SmallVector<Part> chains;
  for (auto [i, error] : llvm::enumerate(errors)) {
    Part part = candidate.ratio ? parts.times(error, candidate.ratio) : error;
    part = arith::MulFOp::create(e, part, part);
    if (i % kChain == 0)
      chains.push_back(parts.splat(e.f32(start)));
    chains.back() = AddTowardsZeroOp::create(e, chains.back(), part);
  }
  SmallVector<Value> counts;
  for (Part chain : chains)
    for (int64_t lane = 0; lane < parts.lanes(); ++lane)
      counts.push_back(e.bits(parts.number(chain, lane)));
  int64_t before = int64_t(llvm::bit_cast<uint32_t>(start)) * counts.size();
  return arith::SubIOp::create(e, total(counts), e.i32(int32_t(before)));
}

/// Each element for itself. The chip rounds as `squaredError` says, and the
/// signs do not matter.
Value ErrorSum::boundedSumOf(ArrayRef<Part> errors,
                             const Candidate &candidate) {
  Value by = e.f32(factor * candidate.power);
  if (candidate.ratio)
    by = arith::MulFOp::create(e, candidate.ratio, by);
  SmallVector<Value> counts;
  for (Part part : errors)
    for (int64_t lane = 0; lane < parts.lanes(); ++lane) {
      Value error = arith::MulFOp::create(e, parts.number(part, lane), by);
      Value square = arith::MulFOp::create(e, error, error);
      square = arith::MinNumFOp::create(e, square, e.f32(kErrorUnits));
      counts.push_back(arith::FPToUIOp::create(e, e.getI32Type(), square));
    }
  return total(std::move(counts));
}

ErrorSum::Found ErrorSum::find(ArrayRef<Value> values,
                               const Candidate &candidate) {
  Found found;
  SmallVector<Part> errors = errorsOf(values, candidate.inverse, found.codes);
  if (!candidate.largest) {
    found.sum = sumOf(errors, candidate);
    return found;
  }
  // The errors of what does not saturate are within the bound: it is twice half
  // of the largest step, and no scale is more than twice the first one. What
  // does saturate under the first scale may be off by the bound as it is.
  // Scales that are so much too small are rare: they end a format, or are its
  // smallest.
  float bound = std::sqrt(kErrorUnits) / factor;
  bool isFirst = !candidate.ratio && candidate.power == 1;
  Value most = arith::MulFOp::create(e, candidate.largest, candidate.inverse);
  Value isBeyond = arith::CmpFOp::create(
      e, arith::CmpFPredicate::OGT, most,
      e.f32(isFirst ? largestElement + bound : largestElement));
  auto branch = scf::IfOp::create(e, TypeRange(e.getI32Type()), isBeyond,
                                  /*withElseRegion=*/true);
  OpBuilder::InsertionGuard guard(e);
  e.setInsertionPointToStart(branch.thenBlock());
  scf::YieldOp::create(e, boundedSumOf(errors, candidate));
  e.setInsertionPointToStart(branch.elseBlock());
  scf::YieldOp::create(e, sumOf(errors, candidate));
  found.sum = branch.getResult(0);
  return found;
}

/// The sum of the squares of errors times `factor`, about.
Value ErrorSum::squaresOf(ArrayRef<Part> errors, Value factor) {
  Part sum;
  for (Part error : errors)
    sum = sum ? math::FmaOp::create(e, error, error, sum).getResult()
              : arith::MulFOp::create(e, error, error).getResult();
  Value all;
  for (Value number : parts.numbers(sum))
    all = all ? arith::AddFOp::create(e, all, number).getResult() : number;
  return arith::MulFOp::create(e, all, factor);
}

// Most blocks need no exact sums: f32 without floors says which one is less if
// they are further apart than what floors and roundings can make of them. Each
// element is floored by less than one unit, 1 / factor^2 under the first scale,
// and a sum of 16 or 32 squares, their factors and those of the definition are
// off by less than 32 roundings of 2^-24 each. Where the sums are close
// together both are about as large as the first one. A margin of four units for
// each element and of 2^-16 of that sum is more.
//
// Nor is the bound of an error reached there where the largest magnitude is at
// most 1/15 above the largest element under the first scale: so it is under the
// nearest number of at least four bits. The second scale is the next number or
// one further up, which is 1/15 more at least, so that nothing saturates under
// it. Or both are the same, as under tensor scales of which the block has the
// largest magnitude, and so are the sums.
ErrorSum::Comparison ErrorSum::compare(ArrayRef<Value> values,
                                       const Candidate &first,
                                       const Candidate &second,
                                       std::array<Value, 2> scales) {
  constexpr float kRoundings = 0x1p-16f, kAboveLargest = 1.065f;
  Comparison result;
  SmallVector<Part> one = errorsOf(values, first.inverse, result.first);
  SmallVector<Part> other = errorsOf(values, second.inverse, result.second);
  Value square = arith::MulFOp::create(e, scales[0], scales[0]);
  Value squares = squaresOf(one, square);
  Value others =
      squaresOf(other, arith::MulFOp::create(e, scales[1], scales[1]));
  Value difference = arith::SubFOp::create(e, others, squares);
  float units = 4 * float(values.size()) / (factor * factor);
  Value margin =
      math::FmaOp::create(e, squares, e.f32(kRoundings),
                          arith::MulFOp::create(e, square, e.f32(units)));
  auto compares = [&](arith::CmpFPredicate how, Value x, Value y) -> Value {
    return arith::CmpFOp::create(e, how, x, y);
  };
  Value isLess = compares(arith::CmpFPredicate::OLT, difference, e.f32(0));
  Value isNear = compares(arith::CmpFPredicate::ULE,
                          math::AbsFOp::create(e, difference), margin);
  Value isUnusual =
      compares(arith::CmpFPredicate::UGT,
               arith::MulFOp::create(e, first.largest, first.inverse),
               e.f32(largestElement * kAboveLargest));
  Value differ = compares(arith::CmpFPredicate::UNE, scales[0], scales[1]);
  Value isOpen = arith::AndIOp::create(
      e, differ, arith::OrIOp::create(e, isNear, isUnusual));
  auto branch = scf::IfOp::create(e, TypeRange(e.getI1Type()), isOpen,
                                  /*withElseRegion=*/true);
  OpBuilder::InsertionGuard guard(e);
  e.setInsertionPointToStart(branch.elseBlock());
  scf::YieldOp::create(e, isLess);
  e.setInsertionPointToStart(branch.thenBlock());
  Value isExactlyLess = arith::CmpIOp::create(e, arith::CmpIPredicate::ult,
                                              boundedSumOf(other, second),
                                              boundedSumOf(one, first));
  scf::YieldOp::create(e, isExactlyLess);
  result.isSecond = branch.getResult(0);
  return result;
}
