//===- Contraction.cpp - a sum of products over loops ---------------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Contraction.h"
#include "Product.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

using namespace mlir;
using namespace blockscale;
using namespace blockscale::importer;

//===----------------------------------------------------------------------===//
// Operands
//===----------------------------------------------------------------------===//

/// Cuts `value`, the dimensions of which are groups of these sizes, to one
/// dimension for each group that is there.
static Value joinGroups(ImplicitLocOpBuilder &b, Value value,
                        ArrayRef<size_t> groups) {
  SmallVector<ReassociationIndices> joined;
  int64_t next = 0;
  bool isPlain = true;
  for (size_t size : groups) {
    if (size == 0)
      continue;
    isPlain &= size == 1;
    joined.emplace_back();
    while (size--)
      joined.back().push_back(next++);
  }
  if (isPlain)
    return value;
  return tensor::CollapseShapeOp::create(b, value, joined);
}

namespace {
/// The dimensions of a factor in the order in which the tensor core wants them.
struct Order {
  SmallVector<int64_t> dimensions;
  size_t batch = 0, rows = 0, reduction = 0;
  bool kFirst = false;
};
} // namespace

/// Where `factor` has these loops, in this order, if it has them.
static SmallVector<int64_t> positions(const Factor &factor,
                                      ArrayRef<unsigned> loops) {
  SmallVector<int64_t> found;
  for (unsigned loop : loops)
    for (auto [i, place] : llvm::enumerate(factor.places))
      if (place.loop == loop)
        found.push_back(int64_t(i));
  return found;
}

/// The order of a factor's dimensions: as it is if K lies whole before the rows
/// or behind them, else with K last.
static Order orderOf(const Factor &factor, const Loops &loops,
                     ArrayRef<unsigned> rows) {
  SmallVector<int64_t> batch = positions(factor, loops.batch),
                       row = positions(factor, rows),
                       k = positions(factor, loops.reduction);
  Order order;
  order.batch = batch.size();
  order.rows = row.size();
  order.reduction = k.size();
  SmallVector<int64_t> kFirst(batch);
  llvm::append_range(kFirst, k);
  llvm::append_range(kFirst, row);
  order.kFirst = llvm::is_sorted(kFirst) && !k.empty() && !row.empty();
  order.dimensions = batch;
  llvm::append_range(order.dimensions, order.kFirst ? k : row);
  llvm::append_range(order.dimensions, order.kFirst ? row : k);
  return order;
}

/// A factor as a matrix, or a batch of them.
static Value asMatrix(ImplicitLocOpBuilder &b, const Factor &factor,
                      const Order &order) {
  Value value = transpose(b, factor.build(b), order.dimensions);
  size_t second = order.kFirst ? order.reduction : order.rows;
  size_t third = order.kFirst ? order.rows : order.reduction;
  return joinGroups(b, value, {order.batch, second, third});
}

/// Elements along `loops` that share a scale, 0 for all of them. A reason where
/// scales change faster than elements that they share, or sizes are not known.
static Result<int64_t> sharedAlong(const Factor &scales,
                                   ArrayRef<unsigned> loops,
                                   ArrayRef<int64_t> ranges) {
  if (positions(scales, loops).empty())
    return int64_t(0);
  int64_t shared = 1;
  bool isTileOver = false;
  for (unsigned loop : llvm::reverse(loops)) {
    auto place = llvm::find_if(scales.places,
                               [&](Place each) { return each.loop == loop; });
    bool has = place != scales.places.end();
    if (has && !isTileOver) {
      shared *= place->divisor;
      isTileOver = true;
      continue;
    }
    if (has && place->divisor == 1)
      continue;
    if (has || isTileOver)
      return Reason("has scales that change within a block of elements that "
                    "share them");
    if (ShapedType::isDynamic(ranges[loop]))
      return Reason("has blocks of a size that is not known before run time; "
                    "the extent of their loop must be static");
    shared *= ranges[loop];
  }
  return shared;
}

namespace {
/// What one scale, or zero point, is for; 0 for all there are.
struct Tile {
  int64_t rows = 1, columns = 0;
};
} // namespace

static Result<Tile> tileOf(const Factor &scales, const Contraction &found,
                           ArrayRef<unsigned> rows) {
  const Loops &loops = found.loops;
  Result<int64_t> ofRows = sharedAlong(scales, rows, found.ranges);
  Result<int64_t> ofK = sharedAlong(scales, loops.reduction, found.ranges);
  for (const Result<int64_t> *part : {&ofRows, &ofK})
    if (!*part)
      return part->why();
  if (positions(scales, loops.batch).size() != loops.batch.size())
    return Reason("has scales that all matrices share; each of them has scales "
                  "of its own");
  return Tile{*ofRows, *ofK};
}

/// Zero points in memory, as wide as those of the dialect.
static Type zeroType(const Factor &zeros) {
  Type element = getElementTypeOrSelf(zeros.base);
  return IntegerType::get(element.getContext(),
                          2 * element.getIntOrFloatBitWidth());
}

Result<ScaleSpec> importer::specOf(const Contraction &found, const Side &side,
                                   ArrayRef<unsigned> rows) {
  if (side.hasZeros() && !side.hasScales())
    return Reason("has zero points and one scale, or none, for all elements; "
                  "each row, or each block of it, has both");
  if (!side.hasScales())
    return ScaleSpec();
  Result<Tile> tile = tileOf(side.scales, found, rows);
  if (!tile)
    return tile.why();
  Type zeros;
  if (side.hasZeros()) {
    Result<Tile> ofZeros = tileOf(side.zeros, found, rows);
    if (!ofZeros)
      return ofZeros.why();
    if (ofZeros->rows != tile->rows || ofZeros->columns != tile->columns)
      return Reason("has zero points of other elements than its scales");
    zeros = zeroType(side.zeros);
  }
  return tileSpec(getElementTypeOrSelf(side.scales.base), tile->columns,
                  tile->rows, zeros);
}

/// Scales or zero points as a matrix of tiles, in the order of their data.
static Value tilesAsMatrix(ImplicitLocOpBuilder &b, const Factor &factor,
                           const Loops &loops, ArrayRef<unsigned> rows,
                           bool kFirst) {
  Order order = orderOf(factor, loops, rows);
  Value value = asMatrix(b, factor, order);
  auto type = cast<RankedTensorType>(value.getType());
  int64_t rank = type.getRank();
  // One for all is one row, or one block.
  if (order.reduction == 0 || order.rows == 0) {
    SmallVector<int64_t> shape(type.getShape());
    shape.insert(order.rows == 0 ? shape.end() - 1 : shape.end(), 1);
    SmallVector<ReassociationIndices> groups;
    for (int64_t i = 0; i < rank; ++i)
      groups.push_back({i});
    groups.back().push_back(rank++);
    value = tensor::ExpandShapeOp::create(
        b, RankedTensorType::get(shape, type.getElementType()), value, groups);
  }
  return order.kFirst == kFirst ? value
                                : transpose(b, value, exchangeLast(rank));
}

static FailureOr<importer::Operand>
buildSide(ImplicitLocOpBuilder &b, Operation *op, const Contraction &found,
          const Side &side, ArrayRef<unsigned> rows) {
  const Loops &loops = found.loops;
  if (rows.empty())
    return op->emitError("has a vector for an operand; a product has rows on "
                         "both sides");
  Order order = orderOf(side.data, loops, rows);
  importer::Operand operand;
  operand.data = asMatrix(b, side.data, order);
  operand.kFirst = order.kFirst;
  operand.isUnsigned = side.data.isUnsigned;
  Result<ScaleSpec> spec = specOf(found, side, rows);
  if (!spec)
    return op->emitError() << spec.why().text;
  if (!side.hasScales())
    return operand;
  operand.block = spec->columns->size;
  operand.rowBlock = spec->rows ? spec->rows->size : 1;
  operand.scales = tilesAsMatrix(b, side.scales, loops, rows, order.kFirst);
  if (side.hasZeros()) {
    Value zeros = tilesAsMatrix(b, side.zeros, loops, rows, order.kFirst);
    auto type = cast<RankedTensorType>(zeros.getType());
    operand.zeros =
        arith::ExtUIOp::create(b, type.clone(zeroType(side.zeros)), zeros);
  }
  return operand;
}

//===----------------------------------------------------------------------===//
// The product
//===----------------------------------------------------------------------===//

/// The product of the factors that are one number each; null if there are none.
static Value buildAlpha(ImplicitLocOpBuilder &b, ArrayRef<Factor> numbers) {
  Value alpha;
  for (const Factor &factor : numbers) {
    Value number = factor.build(b);
    if (isa<RankedTensorType>(number.getType()))
      number = tensor::ExtractOp::create(b, number, ValueRange{});
    if (!number.getType().isF32())
      number = arith::ExtFOp::create(b, b.getF32Type(), number);
    alpha = alpha ? arith::MulFOp::create(b, alpha, number) : number;
  }
  return alpha;
}

/// The size of a loop: that of the dimension of the data that it runs over.
static OpFoldResult sizeOf(ImplicitLocOpBuilder &b, const Factor &data,
                           unsigned loop) {
  Value value = data.build(b);
  for (auto [i, place] : llvm::enumerate(data.places))
    if (place.loop == loop)
      return tensor::getMixedSize(b, b.getLoc(), value, int64_t(i));
  llvm_unreachable("data change with the loops of their side");
}

/// `matrix` with a dimension for each loop.
static Value splitGroups(ImplicitLocOpBuilder &b, Value matrix,
                         const Contraction &found, RankedTensorType type) {
  const Loops &loops = found.loops;
  if (cast<RankedTensorType>(matrix.getType()).getRank() == type.getRank())
    return tensor::CastOp::create(b, type, matrix);
  SmallVector<ReassociationIndices> groups;
  SmallVector<OpFoldResult> sizes;
  auto add = [&](ArrayRef<unsigned> group, const Factor &data) {
    if (group.empty())
      return;
    groups.emplace_back();
    for (unsigned loop : group) {
      groups.back().push_back(int64_t(sizes.size()));
      sizes.push_back(sizeOf(b, data, loop));
    }
  };
  add(loops.batch, found.a.data);
  add(loops.rows, found.a.data);
  add(loops.columns, found.b.data);
  return tensor::ExpandShapeOp::create(b, type, matrix, groups, sizes);
}

FailureOr<Value> importer::buildContraction(ImplicitLocOpBuilder &b,
                                            Operation *op,
                                            const Contraction &found,
                                            RankedTensorType type, Value c) {
  const Loops &loops = found.loops;
  auto left = buildSide(b, op, found, found.a, loops.rows);
  auto right = buildSide(b, op, found, found.b, loops.columns);
  if (failed(left) || failed(right))
    return failure();
  Product product;
  product.a = *left;
  product.b = *right;
  product.alpha = buildAlpha(b, found.numbers);
  if (c)
    product.c = joinGroups(
        b, c, {loops.batch.size(), loops.rows.size(), loops.columns.size()});
  product.resultElement = type.getElementType();
  FailureOr<Value> matrix = buildProduct(b, op, product);
  if (failed(matrix))
    return failure();
  return splitGroups(b, *matrix, found, type);
}
