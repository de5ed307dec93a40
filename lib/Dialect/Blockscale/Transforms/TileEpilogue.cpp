//===- TileEpilogue.cpp - the role that finishes and stores tiles ---===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

// Four warps read the accumulator some columns at a time; each thread owns one
// lane, that is one row of the instruction's tile. Without operand swap that is
// a row of D and consecutive columns are consecutive in memory; with swap it is
// a column of D, and neighbouring lanes are.

#include "TileBuilder.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/IR/Matchers.h"
#include "llvm/Support/MathExtras.h"

#include <cmath>

using namespace mlir;
using namespace blockscale;

namespace {
/// One thread's part of a tile: `count` elements from `column` on of `row`,
/// both in the whole product as the instruction sees it.
struct Fragment {
  Value row, column, count, batch;
};

class EpilogueBuilder {
public:
  explicit EpilogueBuilder(TileBuilder &t)
      : t(t), b(t.b), width(t.geometry.epilogueColumns()),
        vectorType(VectorType::get({width}, t.b.getF32Type())) {}
  void build();

private:
  SmallVector<Value> tile(TilePosition position, ValueRange carried);
  void chunk(TilePosition position, RingPosition copy, Value index);
  void releaseAfter(int64_t lastChunk, Value index, RingPosition copy);
  /// The factor of all sums of a batch: alpha and the tensor scales.
  void loadScale(Value batch);
  Value finish(Value sum, const Fragment &fragment);
  Value activate(Value x);
  Value loadBias(const Fragment &fragment);
  void store(Value value, const Fragment &fragment);

  Value splat(Value scalar) {
    return vector::BroadcastOp::create(b, vectorType, scalar);
  }
  Value splat(double value) {
    return arith::ConstantOp::create(
        b, DenseElementsAttr::get(vectorType, float(value)));
  }
  Value widen(Value values);
  Value loadScalar(Value memory, Value index, Value count);
  /// Offset of the fragment's first element in D or C, and the distance to the
  /// next one (null where it is 1).
  std::pair<Value, Value> place(const Fragment &fragment);

  TileBuilder &t;
  ImplicitLocOpBuilder &b;
  int64_t width;
  VectorType vectorType;
  Value thread, scale;
};
} // namespace

//===----------------------------------------------------------------------===//
// Memory
//===----------------------------------------------------------------------===//

Value EpilogueBuilder::widen(Value values) {
  auto type = cast<VectorType>(values.getType());
  if (type.getElementType().isF32())
    return values;
  return arith::ExtFOp::create(b, type.clone(b.getF32Type()), values);
}

Value EpilogueBuilder::loadScalar(Value memory, Value index, Value count) {
  Type element = cast<GlobalType>(memory.getType()).getElementType();
  Value loaded = LoadRowOp::create(b, VectorType::get({1}, element), memory,
                                   t.extend(index), count, Value());
  return vector::ExtractOp::create(b, widen(loaded), 0);
}

std::pair<Value, Value> EpilogueBuilder::place(const Fragment &fragment) {
  Value n = t.extend(t.op.getN()), m = t.extend(t.op.getM());
  Value row = t.extend(t.swap ? fragment.column : fragment.row);
  Value column = t.extend(t.swap ? fragment.row : fragment.column);
  Value firstRow = t.add(t.mul(t.extend(fragment.batch), m), row);
  Value offset = t.add(t.mul(firstRow, n), column);
  return {offset, t.swap ? n : Value()};
}

void EpilogueBuilder::store(Value value, const Fragment &fragment) {
  Type element = cast<GlobalType>(t.op.getD().getType()).getElementType();
  if (!element.isF32())
    value = arith::TruncFOp::create(b, vectorType.clone(element), value);
  auto [offset, stride] = place(fragment);
  StoreRowOp::create(b, value, t.op.getD(), offset, fragment.count, stride);
}

//===----------------------------------------------------------------------===//
// Arithmetic
//===----------------------------------------------------------------------===//

void EpilogueBuilder::loadScale(Value batch) {
  scale = t.op.getAlpha();
  for (Value memory : t.op.getTensorScales()) {
    Value factor = loadScalar(memory, batch, t.constant(1));
    scale = scale ? arith::MulFOp::create(b, scale, factor) : factor;
  }
}

/// The bias runs along the fragment or is one number for it.
Value EpilogueBuilder::loadBias(const Fragment &fragment) {
  Value bias = t.op.getBias();
  bool perColumn = t.op.getBiasKind() == BiasKind::Column;
  if (perColumn == t.swap) {
    Value inside = b.createOrFold<arith::CmpIOp>(arith::CmpIPredicate::slt,
                                                 fragment.row, t.rows);
    Value count = arith::ExtUIOp::create(b, b.getI32Type(), inside);
    return splat(loadScalar(bias, fragment.row, count));
  }
  Type element = cast<GlobalType>(bias.getType()).getElementType();
  return widen(LoadRowOp::create(b, vectorType.clone(element), bias,
                                 t.extend(fragment.column), fragment.count,
                                 Value()));
}

Value EpilogueBuilder::activate(Value x) {
  switch (*t.op.getActivation()) {
  case Activation::ReLU:
    return arith::MaximumFOp::create(b, x, splat(0.0));
  case Activation::SiLU: {
    // x * sigmoid(x); exp(-x) overflows to infinity and then x / inf is 0.
    Value decay = math::ExpOp::create(b, arith::NegFOp::create(b, x));
    Value sum = arith::AddFOp::create(b, decay, splat(1.0));
    return arith::DivFOp::create(b, x, sum);
  }
  case Activation::GELU: {
    Value scaled = arith::MulFOp::create(b, x, splat(std::sqrt(0.5)));
    Value erf = math::ErfOp::create(b, scaled);
    Value sum = arith::AddFOp::create(b, erf, splat(1.0));
    Value half = arith::MulFOp::create(b, x, splat(0.5));
    return arith::MulFOp::create(b, half, sum);
  }
  }
  return x;
}

Value EpilogueBuilder::finish(Value sum, const Fragment &fragment) {
  if (scale)
    sum = arith::MulFOp::create(b, sum, splat(scale));
  if (Value c = t.op.getC()) {
    Type element = cast<GlobalType>(c.getType()).getElementType();
    auto [offset, stride] = place(fragment);
    Value loaded = widen(LoadRowOp::create(b, vectorType.clone(element), c,
                                           offset, fragment.count, stride));
    Value scaled = arith::MulFOp::create(b, loaded, splat(t.op.getBeta()));
    sum = arith::AddFOp::create(b, sum, scaled);
  }
  if (t.op.getBias())
    sum = arith::AddFOp::create(b, sum, loadBias(fragment));
  return t.op.getActivation() ? activate(sum) : sum;
}

//===----------------------------------------------------------------------===//
// The role
//===----------------------------------------------------------------------===//

/// Lets the MMA overwrite the accumulator once chunk `lastChunk` is loaded.
void EpilogueBuilder::releaseAfter(int64_t lastChunk, Value index,
                                   RingPosition copy) {
  auto isLast = scf::IfOp::create(b, t.isEqual(index, lastChunk));
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(isLast.thenBlock());
  TensorFenceOp::create(b, FenceSide::Before);
  Value slot = t.geometry.overlap ? t.constant(0) : copy.slot;
  ArriveOp::create(b, t.accumulatorEmpty, slot);
}

void EpilogueBuilder::chunk(TilePosition position, RingPosition copy,
                            Value index) {
  int64_t chunks = t.geometry.tileN / width;
  int64_t lastChunk = chunks - 1;
  Value ordered = index;
  if (t.geometry.overlap) {
    // The columns that both accumulators share come first: the last ones of
    // accumulator 0, the first ones of accumulator 1.
    lastChunk = llvm::divideCeil(t.geometry.overlap, width) - 1;
    Value reversed = t.sub(t.constant(chunks - 1), index);
    ordered = b.createOrFold<arith::SelectOp>(t.isEqual(copy.slot, 0),
                                              reversed, index);
  }
  Value column = t.mul(ordered, t.constant(width));
  Value sum = LoadAccumulatorOp::create(b, vectorType, t.accumulator,
                                        copy.slot, column);
  releaseAfter(lastChunk, index, copy);

  Fragment fragment;
  fragment.batch = position.batch;
  fragment.row =
      t.add(t.mul(position.row, t.constant(t.geometry.tileM)), thread);
  fragment.column =
      t.add(t.mul(position.column, t.constant(t.geometry.tileN)), column);
  Value inside = b.createOrFold<arith::CmpIOp>(arith::CmpIPredicate::slt,
                                               fragment.row, t.rows);
  fragment.count = b.createOrFold<arith::SelectOp>(
      inside, t.sub(t.columns, fragment.column), t.constant(0));
  store(finish(sum, fragment), fragment);
}

SmallVector<Value> EpilogueBuilder::tile(TilePosition position,
                                         ValueRange carried) {
  RingPosition copy{carried[0], carried[1]};
  WaitOp::create(b, t.accumulatorFull, copy.slot, copy.parity);
  TensorFenceOp::create(b, FenceSide::After);
  auto loop = scf::ForOp::create(b, t.constant(0),
                                 t.constant(t.geometry.tileN / width),
                                 t.constant(1));
  {
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToStart(loop.getBody());
    chunk(position, copy, loop.getInductionVar());
  }
  copy = t.next(copy, t.geometry.accumulators);
  return {copy.slot, copy.parity};
}

void EpilogueBuilder::build() {
  t.warps("epilogue", 0, kEpilogueThreads / 32, [&] {
    Value index = gpu::ThreadIdOp::create(b, gpu::Dimension::x);
    thread = arith::IndexCastUIOp::create(b, b.getI32Type(), index);
    // Batches have tensor scales of their own.
    bool oneBatch = matchPattern(t.op.getBatch(), m_One());
    if (oneBatch)
      loadScale(t.constant(0));
    Value zero = t.constant(0);
    t.tileLoop({zero, zero}, [&](TilePosition position, ValueRange carried) {
      if (!oneBatch)
        loadScale(position.batch);
      return tile(position, carried);
    });
  });
}

void blockscale::buildEpilogue(TileBuilder &t) { EpilogueBuilder(t).build(); }
