//===- KernelBuilder.cpp - ops of a kernel, with less typing --------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "KernelBuilder.h"
#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace mlir;
using namespace blockscale;
using namespace blockscale::nki;

Value KernelBuilder::materialize(Index index) {
  if (auto value = dyn_cast<Value>(index))
    return value;
  return arith::ConstantIndexOp::create(builder, loc,
                                        *getConstantIntValue(index));
}

Index KernelBuilder::add(Index lhs, Index rhs) {
  std::optional<int64_t> left = getConstantIntValue(lhs);
  std::optional<int64_t> right = getConstantIntValue(rhs);
  if (left && right)
    return constant(*left + *right);
  if (left == 0)
    return rhs;
  if (right == 0)
    return lhs;
  return arith::AddIOp::create(builder, loc, materialize(lhs), materialize(rhs))
      .getResult();
}

Index KernelBuilder::multiply(Index lhs, int64_t factor) {
  if (std::optional<int64_t> left = getConstantIntValue(lhs))
    return constant(*left * factor);
  if (factor == 1)
    return lhs;
  // k * 128 * 64 is easier to read as k * 8192.
  if (auto product = cast<Value>(lhs).getDefiningOp<arith::MulIOp>())
    if (std::optional<int64_t> known = getConstantIntValue(product.getRhs()))
      return multiply(product.getLhs(), *known * factor);
  return arith::MulIOp::create(builder, loc, materialize(lhs),
                               materialize(constant(factor)))
      .getResult();
}

Index KernelBuilder::remainder(Index lhs, int64_t divisor) {
  if (std::optional<int64_t> left = getConstantIntValue(lhs))
    return constant(*left % divisor);
  if (divisor == 1)
    return constant(0);
  return arith::RemUIOp::create(builder, loc, materialize(lhs),
                                materialize(constant(divisor)))
      .getResult();
}

void KernelBuilder::loop(StringRef name, int64_t count, int64_t step,
                         function_ref<void(Index)> body) {
  if (count == 0)
    return;
  if (count == 1)
    return body(constant(0));
  auto op = LoopOp::create(
      builder, loc, builder.getStringAttr(name), builder.getI64IntegerAttr(0),
      builder.getI64IntegerAttr(count * step), builder.getI64IntegerAttr(step));
  OpBuilder::InsertionGuard guard(builder);
  Block *block =
      builder.createBlock(&op.getBody(), {}, {builder.getIndexType()}, {loc});
  body(Index(block->getArgument(0)));
}

Value KernelBuilder::alloc(StringRef name, ArrayRef<int64_t> shape,
                           Type element, Buffer memory) {
  return AllocOp::create(builder, loc, BufferType::get(shape, element, memory),
                         name,
                         /*address=*/IntegerAttr());
}

Value KernelBuilder::slice(Value buffer, ArrayRef<Index> offsets,
                           ArrayRef<int64_t> shape) {
  auto type = cast<BufferType>(buffer.getType());
  if (type.getShape() == shape)
    return buffer;
  SmallVector<int64_t> fixed;
  SmallVector<Value> values;
  dispatchIndexOpFoldResults(offsets, values, fixed);
  return SliceOp::create(builder, loc, type.withShape(shape), buffer, values,
                         fixed);
}

Value KernelBuilder::access(Value buffer, Index offset,
                            ArrayRef<int64_t> strides, ArrayRef<int64_t> shape,
                            Type element) {
  return AccessOp::create(builder, loc,
                          BufferType::get(shape, element, Buffer::Hbm), buffer,
                          materialize(offset), strides);
}

void KernelBuilder::copy(Value from, Value to) {
  DmaCopyOp::create(builder, loc, from, to);
}

void KernelBuilder::forEachQuadrant(const ContractionGeometry &k, Index matrix,
                                    Index tile, int64_t partitions,
                                    int64_t firstPartition,
                                    function_ref<void(Index, int64_t)> piece) {
  constexpr int64_t kRowsPerTile = kPartitions / kGroupPartitions;
  constexpr int64_t kRowsPerQuadrant = kQuadrant / kGroupPartitions;
  Index row = add(multiply(matrix, k.packedRows() / kGroupPartitions),
                  multiply(tile, kRowsPerTile));
  for (int64_t group = 0; group < partitions / kGroupPartitions;
       group += kRowsPerQuadrant)
    piece(add(row, constant(group)), firstPartition + scalePartition(group));
}

void KernelBuilder::loadTile(const PackedMatrix &from,
                             const ContractionGeometry &k, Index matrix,
                             Index tile, int64_t partitions, Index column,
                             int64_t columns, const TilePlace &place) {
  Index row = add(multiply(matrix, k.packedRows()),
                  multiply(tile, int64_t(kPartitions)));
  // The host's tensor holds plain integers: read its bits as packed values.
  Value source = access(from.data, add(multiply(row, from.columns), column),
                        {from.columns, 1}, {partitions, columns}, from.element);
  copy(source, slice(place.data, {constant(place.partition), place.column},
                     {partitions, columns}));
  constexpr int64_t kRows = kQuadrant / kGroupPartitions;
  forEachQuadrant(
      k, matrix, tile, partitions, place.partition,
      [&](Index scaleRow, int64_t partition) {
        copy(slice(from.scales, {scaleRow, column}, {kRows, columns}),
             slice(place.scales, {constant(partition), place.column},
                   {kRows, columns}));
      });
}

void KernelBuilder::storeTile(const TilePlace &place,
                              const ContractionGeometry &k, Index matrix,
                              Index tile, int64_t partitions, Index column,
                              int64_t columns, const PackedMatrix &to) {
  Index row = add(multiply(matrix, k.packedRows()),
                  multiply(tile, int64_t(kPartitions)));
  copy(slice(place.data, {constant(0), place.column}, {partitions, columns}),
       access(to.data, add(multiply(row, to.columns), column), {to.columns, 1},
              {partitions, columns}, to.element));
  constexpr int64_t kRows = kQuadrant / kGroupPartitions;
  forEachQuadrant(
      k, matrix, tile, partitions, 0, [&](Index scaleRow, int64_t partition) {
        copy(slice(place.scales, {constant(partition), place.column},
                   {kRows, columns}),
             slice(to.scales, {scaleRow, column}, {kRows, columns}));
      });
}
