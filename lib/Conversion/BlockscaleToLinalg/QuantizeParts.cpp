//===- QuantizeParts.cpp - what quantizing consists of --------------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "QuantizeParts.h"
#include "blockscale/Dialect/Blockscale/IR/RandomBits.h"
#include "mlir/Dialect/Arith/Utils/Utils.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

using namespace mlir;
using namespace blockscale;

// The window of a reduction that would pass the end of a dimension stays at the
// last element.
/// A place of a reduction over tiles.
struct TilePlace {
  SmallVector<Value> element, tile;
  /// Whether it is there; if not, `element` is the last one, and counted
  /// already.
  Value isInside;
};

/// Reduces tiles to `zero`, its elements one after the other.
static Value
reducePlaces(Emitter &e, ScaledTensorType type, Value input, Value zero,
             function_ref<Value(Emitter &, Value, const TilePlace &)> combine) {
  SmallVector<OpFoldResult> sizes = tensor::getMixedSizes(e, e.getLoc(), input);
  SmallVector<OpFoldResult> counts = tileCounts(e, type, sizes);
  auto rank = static_cast<unsigned>(sizes.size());
  SmallVector<int64_t> tiles = {type.getRowTile(), type.getKTile()};
  SmallVector<OpFoldResult> window;
  SmallVector<Value> last;
  for (auto [i, tile] : llvm::enumerate(tiles)) {
    OpFoldResult size = sizes[rank - 2 + i];
    window.push_back(tile == 0 ? size : OpFoldResult(e.getIndexAttr(tile)));
    Value whole = getValueOrCreateConstantIndexOp(e, e.getLoc(), size);
    last.push_back(arith::SubIOp::create(e, whole, e.index(1)));
  }
  Value windowShape = tensor::EmptyOp::create(e, window, e.getF32Type());
  Value empty = tensor::EmptyOp::create(e, counts, zero.getType());
  Value zeros = linalg::FillOp::create(e, zero, empty).getResult(0);
  AffineMap identity = e.getMultiDimIdentityMap(rank + 2);
  SmallVector<utils::IteratorType> iterators(rank,
                                             utils::IteratorType::parallel);
  iterators.append(2, utils::IteratorType::reduction);
  auto generic = linalg::GenericOp::create(
      e, zeros.getType(), windowShape, zeros,
      ArrayRef<AffineMap>{identity.getMinorSubMap(2),
                          identity.getMajorSubMap(rank)},
      iterators, [&](OpBuilder &builder, Location loc, ValueRange arguments) {
        Emitter body(loc, builder);
        TilePlace place;
        for (unsigned i = 0; i < rank; ++i)
          place.tile.push_back(linalg::IndexOp::create(body, i));
        place.element = place.tile;
        for (unsigned i = 0; i < 2; ++i) {
          Value &index = place.element[rank - 2 + i];
          Value inside = linalg::IndexOp::create(body, rank + i);
          if (tiles[i] != 0)
            inside = arith::AddIOp::create(
                body, inside,
                arith::MulIOp::create(body, index, body.index(tiles[i])));
          Value isInside = arith::CmpIOp::create(
              body, arith::CmpIPredicate::ule, inside, last[i]);
          place.isInside =
              i == 0 ? isInside
                     : arith::AndIOp::create(body, place.isInside, isInside);
          index = arith::MinUIOp::create(body, inside, last[i]);
        }
        linalg::YieldOp::create(body, combine(body, arguments.back(), place));
      });
  return generic.getResult(0);
}

Value blockscale::reduceTiles(
    Emitter &e, ScaledTensorType type, Value input,
    function_ref<Value(Emitter &, Value, Value)> combine) {
  return reducePlaces(e, type, input, e.f32(0),
                      [&](Emitter &body, Value sofar, const TilePlace &place) {
                        Value value = body.widen(tensor::ExtractOp::create(
                            body, input, place.element));
                        return combine(body, sofar, value);
                      });
}

Value blockscale::sumErrors(
    Emitter &e, ScaledTensorType type, Value input,
    function_ref<Value(Emitter &, ValueRange, ValueRange)> error) {
  Type wide = e.getI64Type();
  Value zero = arith::ConstantIntOp::create(e, wide, 0);
  return reducePlaces(
      e, type, input, zero,
      [&](Emitter &body, Value sum, const TilePlace &place) -> Value {
        Value own = error(body, place.element, place.tile);
        own = select(body, place.isInside, own, body.i32(0));
        return arith::AddIOp::create(body, sum,
                                     arith::ExtUIOp::create(body, wide, own));
      });
}

ElementRounder blockscale::rounderAt(Emitter &e, QuantizeOp op,
                                     ArrayRef<OpFoldResult> sizes,
                                     ValueRange position) {
  ElementRounder rounder{op.getRounding(), Value()};
  bool isByInstruction = rounder.mode == ElementRounding::StochasticRS;
  if (!isByInstruction && rounder.mode != ElementRounding::Stochastic)
    return rounder;
  Value number = e.index(0);
  for (auto [size, at] : llvm::zip_equal(sizes, position)) {
    Value whole = getValueOrCreateConstantIndexOp(e, e.getLoc(), size);
    number =
        arith::AddIOp::create(e, arith::MulIOp::create(e, number, whole), at);
  }
  // Both round alike, by random numbers of their own.
  rounder.mode = ElementRounding::Stochastic;
  rounder.random = isByInstruction
                       ? sharedRandomFraction(e, *op.getSeed(), number,
                                              op.getType().getElementType())
                       : randomFraction(e, *op.getSeed(), number);
  return rounder;
}
