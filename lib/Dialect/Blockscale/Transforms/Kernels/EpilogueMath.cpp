//===- EpilogueMath.cpp - what becomes of the sums of a product -----------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "EpilogueMath.h"
#include "blockscale/Dialect/Blockscale/IR/Epilogue.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;
using namespace blockscale;

EpilogueMath::EpilogueMath(KernelFrame &frame, int64_t width)
    : frame(frame), b(frame.b), width(width),
      vectorType(VectorType::get({width}, b.getF32Type())) {}

EpilogueFragment EpilogueMath::fragmentAt(TilePosition position, Value row,
                                          Value column) {
  EpilogueFragment fragment;
  fragment.batch = position.batch;
  fragment.row = b.add(frame.firstRow(position), row);
  fragment.column = b.add(frame.firstColumn(position), column);
  Value inside = b.compare(arith::CmpIPredicate::slt, fragment.row, frame.rows);
  fragment.count =
      b.select(inside, b.sub(frame.columns, fragment.column), b.constant(0));
  return fragment;
}

Value EpilogueMath::splat(Value scalar) {
  return vector::BroadcastOp::create(b, vectorType, scalar);
}

//===----------------------------------------------------------------------===//
// Memory
//===----------------------------------------------------------------------===//

Value EpilogueMath::widen(Value values) {
  auto type = cast<VectorType>(values.getType());
  if (type.getElementType().isF32())
    return values;
  return arith::ExtFOp::create(b, type.clone(b.getF32Type()), values);
}

Value EpilogueMath::loadScalar(Value memory, Value index, Value count) {
  Type element = cast<GlobalType>(memory.getType()).getElementType();
  Value loaded = LoadRowOp::create(b, VectorType::get({1}, element), memory,
                                   b.toI64(index), count, Value());
  return vector::ExtractOp::create(b, widen(loaded), 0);
}

std::pair<Value, Value> EpilogueMath::place(const EpilogueFragment &fragment) {
  Value n = b.toI64(frame.op.getN()), m = b.toI64(frame.op.getM());
  Value row = b.toI64(frame.isSwapped() ? fragment.column : fragment.row);
  Value column = b.toI64(frame.isSwapped() ? fragment.row : fragment.column);
  Value firstRow = b.add(b.mul(b.toI64(fragment.batch), m), row);
  Value offset = b.add(b.mul(firstRow, n), column);
  return {offset, frame.isSwapped() ? n : Value()};
}

void EpilogueMath::store(Value value, const EpilogueFragment &fragment) {
  Type element = cast<GlobalType>(frame.op.getD().getType()).getElementType();
  if (element != cast<VectorType>(value.getType()).getElementType())
    value = arith::TruncFOp::create(b, vectorType.clone(element), value);
  auto [offset, stride] = place(fragment);
  StoreRowOp::create(b, value, frame.op.getD(), offset, fragment.count, stride);
}

//===----------------------------------------------------------------------===//
// Arithmetic
//===----------------------------------------------------------------------===//

void EpilogueMath::prepareKernel() {
  if (hasOneBatch())
    loadScale(b.constant(0));
}

void EpilogueMath::prepareTile(TilePosition tile) {
  if (!hasOneBatch())
    loadScale(tile.batch);
}

void EpilogueMath::loadScale(Value batch) {
  scale = frame.op.getAlpha();
  for (Value memory : frame.op.getTensorScales()) {
    Value factor = loadScalar(memory, batch, b.constant(1));
    scale = scale ? arith::MulFOp::create(b, scale, factor) : factor;
  }
}

/// The bias runs along the fragment or is one number for it.
Value EpilogueMath::loadBias(const EpilogueFragment &fragment) {
  Value bias = frame.op.getBias();
  bool perColumn = frame.op.getBiasKind() == BiasKind::Column;
  if (perColumn == frame.isSwapped()) {
    Value inside =
        b.compare(arith::CmpIPredicate::slt, fragment.row, frame.rows);
    Value count = arith::ExtUIOp::create(b, b.getI32Type(), inside);
    return splat(loadScalar(bias, fragment.row, count));
  }
  Type element = cast<GlobalType>(bias.getType()).getElementType();
  return widen(LoadRowOp::create(b, vectorType.clone(element), bias,
                                 b.toI64(fragment.column), fragment.count,
                                 Value()));
}

Value EpilogueMath::loadC(const EpilogueFragment &fragment) {
  Value c = frame.op.getC();
  Type element = cast<GlobalType>(c.getType()).getElementType();
  auto [offset, stride] = place(fragment);
  Value loaded = widen(LoadRowOp::create(b, vectorType.clone(element), c,
                                         offset, fragment.count, stride));
  return arith::MulFOp::create(b, loaded, splat(frame.op.getBeta()));
}

Value EpilogueMath::scaled(Value sum) {
  if (sum.getType() != vectorType)
    sum = arith::SIToFPOp::create(b, vectorType, sum);
  return scale ? arith::MulFOp::create(b, sum, splat(scale)) : sum;
}

Value EpilogueMath::finish(Value sum, const EpilogueFragment &fragment) {
  // Exact sums of integers are the result as they are.
  if (frame.op.getD().getType().getElementType().isInteger())
    return sum;
  auto valueOf = [&](EpilogueInput input) {
    switch (input) {
    case EpilogueInput::Product:
      return scaled(sum);
    case EpilogueInput::C:
      return loadC(fragment);
    case EpilogueInput::Bias:
      return loadBias(fragment);
    }
    llvm_unreachable("covered switch");
  };
  return Epilogue(frame.op).inlineAt(b, valueOf, vectorType);
}
