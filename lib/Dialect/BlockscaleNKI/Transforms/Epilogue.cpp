//===- Epilogue.cpp - from the sum in PSUM to the result ------------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Each step is one instruction over a tile, in f32. The first reads PSUM; the
// others work in place on a tile of SBUF.
//
//===----------------------------------------------------------------------===//

#include "KernelBuilder.h"

using namespace mlir;
using namespace blockscale;
using namespace blockscale::nki;

namespace {
class Epilogue {
public:
  Epilogue(KernelBuilder &b, const EpilogueSteps &steps, Value sum,
           const ResultTile &tile)
      : b(b), steps(steps), tile(tile), value(sum) {}

  /// The tile with all steps done: `sum` itself if there are none.
  Value run(int64_t m);

private:
  /// A tile in SBUF for the next step's result.
  Value target() {
    if (!work)
      work = b.alloc("y", {tile.rows, tile.columns}, b.f32(), Buffer::Sbuf);
    return work;
  }
  void multiply(Value from, const EpilogueSteps::Factor &factor, Value to);
  void add(Value other);
  void addC(int64_t m);
  void addBias();
  void activate();

  KernelBuilder &b;
  const EpilogueSteps &steps;
  const ResultTile &tile;
  Value value, work;
};
} // namespace

void Epilogue::multiply(Value from, const EpilogueSteps::Factor &factor,
                        Value to) {
  Value column = factor.column;
  if (column)
    column = b.slice(column, {b.constant(0), b.constant(0)}, {tile.rows, 1});
  TensorScalarOp::create(b.builder, b.loc, Arithmetic::Multiply, from, column,
                         factor.constant, to);
}

void Epilogue::add(Value other) {
  TensorTensorOp::create(b.builder, b.loc, Arithmetic::Add, value, other,
                         target());
  value = work;
}

void Epilogue::addC(int64_t m) {
  auto type = cast<BufferType>(steps.c.getType());
  Value loaded = b.alloc("c_tile", {tile.rows, tile.columns},
                         type.getElementType(), Buffer::Sbuf);
  Index row = b.add(b.multiply(tile.matrix, m), tile.row);
  b.copy(b.slice(steps.c, {row, tile.column}, {tile.rows, tile.columns}),
         loaded);
  if (steps.beta) {
    Value scaled =
        b.alloc("c_scaled", {tile.rows, tile.columns}, b.f32(), Buffer::Sbuf);
    multiply(loaded, *steps.beta, scaled);
    loaded = scaled;
  }
  add(loaded);
}

void Epilogue::addBias() {
  Type element = cast<BufferType>(steps.bias.getType()).getElementType();
  if (steps.biasPerRow) {
    Value column = b.alloc("bias_tile", {tile.rows, 1}, element, Buffer::Sbuf);
    b.copy(b.slice(steps.bias, {tile.row, b.constant(0)}, {tile.rows, 1}),
           column);
    TensorScalarOp::create(b.builder, b.loc, Arithmetic::Add, value, column,
                           FloatAttr(), target());
    value = work;
    return;
  }
  // The same row in every partition: a stride of 0.
  Value loaded =
      b.alloc("bias_tile", {tile.rows, tile.columns}, element, Buffer::Sbuf);
  b.copy(b.access(steps.bias, tile.column, {0, 1}, {tile.rows, tile.columns},
                  element),
         loaded);
  add(loaded);
}

void Epilogue::activate() {
  Value to = target();
  switch (*steps.activation) {
  case Activation::ReLU:
    TensorScalarOp::create(b.builder, b.loc, Arithmetic::Maximum, value,
                           Value(), b.builder.getF32FloatAttr(0), to);
    break;
  case Activation::GELU:
    ActivationOp::create(b.builder, b.loc, Function::GELU, value, to);
    break;
  case Activation::SiLU:
    ActivationOp::create(b.builder, b.loc, Function::SiLU, value, to);
    break;
  }
  value = to;
}

Value Epilogue::run(int64_t m) {
  for (const EpilogueSteps::Factor &factor : steps.factors) {
    multiply(value, factor, target());
    value = work;
  }
  if (steps.c)
    addC(m);
  if (steps.bias)
    addBias();
  if (steps.activation)
    activate();
  return value;
}

void blockscale::nki::emitEpilogue(KernelBuilder &b, const EpilogueSteps &steps,
                                   Value sum, const ResultTile &tile, int64_t m,
                                   Value result) {
  Value value = Epilogue(b, steps, sum, tile).run(m);
  auto type = cast<BufferType>(result.getType());
  // DMA does not read PSUM, and casts nothing.
  if (value == sum || cast<BufferType>(value.getType()).getElementType() !=
                          type.getElementType()) {
    Value cast = b.alloc("d_tile", {tile.rows, tile.columns},
                         type.getElementType(), Buffer::Sbuf);
    TensorCopyOp::create(b.builder, b.loc, value, cast);
    value = cast;
  }
  Index row = b.add(b.multiply(tile.matrix, m), tile.row);
  b.copy(value, b.slice(result, {row, tile.column}, {tile.rows, tile.columns}));
}
