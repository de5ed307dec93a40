//===- RowGroups.cpp - groups of rows, one after another ------------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "RowGroups.h"
#include "blockscale/HW/ScaleLayout.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

using namespace mlir;
using namespace blockscale;

static Value endOf(Emitter &e, Value offsets, Value rows, Value group,
                   Value first) {
  Value offset = tensor::ExtractOp::create(e, offsets, group);
  Value end = arith::IndexCastOp::create(e, e.getIndexType(), offset);
  end = arith::MinSIOp::create(e, end, rows);
  return arith::MaxSIOp::create(e, end, first);
}

Value blockscale::forEachGroup(
    Emitter &e, Value offsets, Value rows, Value init,
    function_ref<Value(GroupRows, Value, Value)> body) {
  Value zero = e.index(0), one = e.index(1);
  Value groups = tensor::DimOp::create(e, offsets, 0);
  auto loop =
      scf::ForOp::create(e, zero, groups, one, ValueRange{init, zero, zero});
  OpBuilder::InsertionGuard guard(e);
  e.setInsertionPointToStart(loop.getBody());
  Value group = loop.getInductionVar(), first = loop.getRegionIterArg(1);
  Value end = endOf(e, offsets, rows, group, first);
  Value count = arith::SubIOp::create(e, end, first);
  Value atoms = e.ceilQuotient(count, hw::kAtomRows);
  Value firstAtom = loop.getRegionIterArg(2);
  Value result =
      body({first, count, firstAtom, atoms}, group, loop.getRegionIterArg(0));
  scf::YieldOp::create(
      e, ValueRange{result, end, arith::AddIOp::create(e, firstAtom, atoms)});
  return loop.getResult(0);
}

Value blockscale::forEachCount(
    Emitter &e, Value counts, Value rows, Value init,
    function_ref<Value(GroupRows, Value, Value)> body) {
  Value zero = e.index(0), one = e.index(1);
  Value groups = tensor::DimOp::create(e, counts, 0);
  auto loop = scf::ForOp::create(e, zero, groups, one, init);
  OpBuilder::InsertionGuard guard(e);
  e.setInsertionPointToStart(loop.getBody());
  Value group = loop.getInductionVar();
  Value count = endOf(e, counts, rows, group, zero);
  Value result =
      body({zero, count, Value(), Value()}, group, loop.getRegionIterArg(0));
  scf::YieldOp::create(e, result);
  return loop.getResult(0);
}

Value blockscale::entryOf(Emitter &e, Value tensor, Value number) {
  if (!tensor)
    return {};
  SmallVector<OpFoldResult> sizes =
      tensor::getMixedSizes(e, e.getLoc(), tensor);
  SmallVector<OpFoldResult> starts(sizes.size(), e.getIndexAttr(0));
  SmallVector<OpFoldResult> strides(sizes.size(), e.getIndexAttr(1));
  starts[0] = number;
  sizes[0] = e.getIndexAttr(1);
  auto type = cast<RankedTensorType>(tensor.getType());
  auto reduced = RankedTensorType::get(type.getShape().drop_front(),
                                       type.getElementType());
  return tensor::ExtractSliceOp::create(e, reduced, tensor, starts, sizes,
                                        strides);
}

Value blockscale::slice(Emitter &e, Value tensor, int64_t dimension,
                        Value first, Value count) {
  SmallVector<OpFoldResult> sizes =
      tensor::getMixedSizes(e, e.getLoc(), tensor);
  SmallVector<OpFoldResult> starts(sizes.size(), e.getIndexAttr(0));
  SmallVector<OpFoldResult> strides(sizes.size(), e.getIndexAttr(1));
  starts[dimension] = first;
  sizes[dimension] = count;
  return tensor::ExtractSliceOp::create(e, tensor, starts, sizes, strides);
}

Value blockscale::zeroOf(Emitter &e, Type element) {
  if (auto type = dyn_cast<FloatType>(element);
      type && !APFloat::semanticsHasZero(type.getFloatSemantics()))
    return arith::ConstantOp::create(
        e,
        FloatAttr::get(type, APFloat::getSmallest(type.getFloatSemantics())));
  return arith::ConstantOp::create(e, e.getZeroAttr(element));
}

Value blockscale::groupedScaleRows(Emitter &e, Value rows, Value offsets) {
  Value groups = tensor::DimOp::create(e, offsets, 0);
  Value padding = arith::MulIOp::create(e, groups, e.index(hw::kAtomRows - 1));
  Value all = arith::AddIOp::create(e, rows, padding);
  return arith::MulIOp::create(e, e.quotient(all, hw::kAtomRows),
                               e.index(hw::kAtomRows));
}

//===----------------------------------------------------------------------===//
// Quantisations
//===----------------------------------------------------------------------===//

/// Plain scales with each group's at the next multiple of 128 rows, in tiles.
static Value movedScales(Emitter &e, Value scales, QuantizeOp op) {
  Value rows = tensor::DimOp::create(e, scales, 0);
  Type element = cast<RankedTensorType>(scales.getType()).getElementType();
  SmallVector<OpFoldResult> counts{
      groupedScaleRows(e, rows, op.getOffsets()),
      tensor::getMixedSize(e, e.getLoc(), scales, 1)};
  Value empty = tensor::EmptyOp::create(e, counts, element);
  Value zeros =
      linalg::FillOp::create(e, zeroOf(e, element), empty).getResult(0);
  auto move = [&](GroupRows group, Value, Value result) -> Value {
    SmallVector<OpFoldResult> sizes{group.count, counts.back()};
    Value first =
        arith::MulIOp::create(e, group.firstAtom, e.index(hw::kAtomRows));
    SmallVector<OpFoldResult> starts{first, e.getIndexAttr(0)};
    SmallVector<OpFoldResult> strides(2, e.getIndexAttr(1));
    return tensor::InsertSliceOp::create(
        e, slice(e, scales, 0, group.first, group.count), result, starts, sizes,
        strides);
  };
  Value moved = forEachGroup(e, op.getOffsets(), rows, zeros, move);
  return convertScales(e, moved, ScaleLayout::Plain, ScaleLayout::Tiled128x4,
                       counts);
}

Value blockscale::quantizeGroups(QuantizeOp op) {
  OpBuilder builder(op);
  Emitter e(op.getLoc(), builder);
  ScaledTensorType type = op.getType();
  auto plain = ScaledTensorType::get(type.getShape(), type.getElementType(),
                                     type.getSpec(), ScaleLayout::Plain,
                                     type.getOrder());
  auto quantized = QuantizeOp::create(
      e, plain, op.getInput(), op.getTensorScale(), /*offsets=*/Value(),
      op.getRule(), op.getRounding(), op.getSeedAttr());
  Parts parts(plain, DisassembleOp::create(e, quantized)->getResults());
  Value scales =
      castTo(e, movedScales(e, parts.scales, op), getTensorParts(type)->scales);
  return AssembleOp::create(e, type, parts.data, scales, parts.zeros,
                            parts.tensorScale, /*metadata=*/Value());
}
