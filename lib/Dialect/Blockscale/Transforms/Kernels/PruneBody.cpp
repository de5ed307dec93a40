//===- PruneBody.cpp - the body of a kernel that prunes -------------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

// Rows are whole pieces, so that the numbers of a launch are one array of which
// each thread has a piece. A unit, an element or a pair of them, stays if fewer
// than as many as are kept come before it: heavier ones, and equally heavy ones
// at lower places.

#include "PruneSource.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

#include <limits>

using namespace mlir;
using namespace blockscale;

namespace {

class Body : StorageAccess {
public:
  Body(PruneOp op, const QuantizedStorage &storage, Emitter &emitter,
       Value from, Value to, const LaunchSizes &sizes)
      : StorageAccess(emitter, storage,
                      {sizes.rows, Value(), sizes.k, sizes.batch}),
        from(from), to(to),
        element(cast<FloatType>(op.getType().getElementType())),
        width(op.getPairs() ? 2 : 1), units(op.getGroup() / width),
        keep(op.getKeep() / width) {}

  void build();

private:
  int64_t bits() const { return element.getIntOrFloatBitWidth(); }
  Value codeOf(ArrayRef<Value> words, int64_t i);
  Value magnitudeOf(Value code);
  Value squareSum(Value first, Value second);
  Value isHeavier(Value other, Value own);
  SmallVector<Value> weightsOf(ArrayRef<Value> codes);
  SmallVector<Value> kept(ArrayRef<Value> codes);
  SmallVector<Value> pruned(ArrayRef<Value> words);

  Value from, to;
  FloatType element;
  int64_t width, units, keep;
};

} // namespace

/// The bits of element `i` in the low ones of an i32.
Value Body::codeOf(ArrayRef<Value> words, int64_t i) {
  if (bits() == 32)
    return words[i];
  if (i % 2)
    return arith::ShRUIOp::create(e, words[i / 2], e.i32(bits()));
  return arith::AndIOp::create(e, words[i / 2], e.i32(0xffff));
}

/// Magnitudes as numbers, which are in the order of their bits; a NaN weighs as
/// much as an infinite element.
Value Body::magnitudeOf(Value code) {
  int64_t sign = int64_t(1) << (bits() - 1);
  APInt infinite =
      APFloat::getInf(element.getFloatSemantics()).bitcastToAPInt();
  Value magnitude = arith::AndIOp::create(e, code, e.i32(sign - 1));
  return arith::MinUIOp::create(e, magnitude,
                                e.i32(int64_t(infinite.getZExtValue())));
}

/// The sum of the squares of a pair, whose squares f64 has exactly.
Value Body::squareSum(Value first, Value second) {
  Type f64 = e.getF64Type();
  auto square = [&](Value code) -> Value {
    Value value;
    if (bits() == 32)
      value = e.fromBits(code);
    else if (element.isBF16())
      value = e.fromBits(arith::ShLIOp::create(e, code, e.i32(bits())));
    else
      value = e.widen(arith::BitcastOp::create(
          e, element, arith::TruncIOp::create(e, e.getI16Type(), code)));
    Value wide = arith::ExtFOp::create(e, f64, value);
    return arith::MulFOp::create(e, wide, wide);
  };
  Value sum = arith::AddFOp::create(e, square(first), square(second));
  Value infinite = arith::ConstantOp::create(
      e, e.getF64FloatAttr(std::numeric_limits<double>::infinity()));
  Value isNaN = arith::CmpFOp::create(e, arith::CmpFPredicate::UNO, sum, sum);
  return select(e, isNaN, infinite, sum);
}

Value Body::isHeavier(Value other, Value own) {
  if (width == 2)
    return arith::CmpFOp::create(e, arith::CmpFPredicate::OGT, other, own);
  return arith::CmpIOp::create(e, arith::CmpIPredicate::ugt, other, own);
}

SmallVector<Value> Body::weightsOf(ArrayRef<Value> codes) {
  SmallVector<Value> weights;
  for (int64_t unit = 0; unit < units; ++unit)
    weights.push_back(width == 2
                          ? squareSum(codes[2 * unit], codes[2 * unit + 1])
                          : magnitudeOf(codes[unit]));
  return weights;
}

/// Of the codes of a group, whether each unit stays.
SmallVector<Value> Body::kept(ArrayRef<Value> codes) {
  SmallVector<Value> weights = weightsOf(codes), before;
  // Lower units come first, but for those that a higher one outweighs.
  for (int64_t unit = 0; unit < units; ++unit)
    before.push_back(e.i32(unit));
  for (int64_t high = 1; high < units; ++high)
    for (int64_t low = 0; low < high; ++low) {
      Value one = arith::ExtUIOp::create(
          e, e.getI32Type(), isHeavier(weights[high], weights[low]));
      before[low] = add(before[low], one);
      before[high] = arith::SubIOp::create(e, before[high], one);
    }
  SmallVector<Value> stays;
  for (Value count : before)
    stays.push_back(arith::CmpIOp::create(e, arith::CmpIPredicate::ult, count,
                                          e.i32(keep)));
  return stays;
}

/// The words of whole groups with +0 for what goes.
SmallVector<Value> Body::pruned(ArrayRef<Value> words) {
  int64_t inWord = 32 / bits(), group = units * width;
  int64_t count = int64_t(words.size()) * inWord;
  SmallVector<Value> stays;
  for (int64_t first = 0; first < count; first += group) {
    SmallVector<Value> codes;
    for (int64_t i = 0; i < group; ++i)
      codes.push_back(codeOf(words, first + i));
    for (Value unit : kept(codes))
      stays.append(width, unit);
  }
  SmallVector<Value> result;
  Value zero = e.i32(0);
  for (auto [i, word] : llvm::enumerate(words)) {
    Value low = stays[i * inWord], high = stays[(i + 1) * inWord - 1];
    if (low == high) {
      result.push_back(select(e, low, word, zero));
      continue;
    }
    constexpr int64_t kLow = 0xffff, kHigh = int32_t(0xffff0000);
    Value mask = arith::OrIOp::create(e, select(e, low, e.i32(kLow), zero),
                                      select(e, high, e.i32(kHigh), zero));
    result.push_back(arith::AndIOp::create(e, word, mask));
  }
  return result;
}

void Body::build() {
  Value number = threadNumber(e);
  Value isInside =
      arith::CmpIOp::create(e, arith::CmpIPredicate::ult, number,
                            extentOf(threadsToPrune(storage), e.getI32Type()));
  auto condition = scf::IfOp::create(e, isInside);
  OpBuilder::InsertionGuard guard(e);
  e.setInsertionPointToStart(condition.thenBlock());
  Value first = mul(wide(number), wide(storage.block));
  int64_t bytes = storage.block * bits() / 8;
  storeWords(to, first, pruned(loadWords(from, first, bytes)));
}

void blockscale::buildPruneBody(PruneOp op, const QuantizedStorage &storage,
                                ImplicitLocOpBuilder &b, Value from, Value to,
                                const LaunchSizes &sizes) {
  Emitter e(b.getLoc(), b);
  Body(op, storage, e, from, to, sizes).build();
}
