//===- QuantizeParts.cpp - what quantizing consists of --------------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "QuantizeParts.h"
#include "mlir/Dialect/Arith/Utils/Utils.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

using namespace mlir;
using namespace blockscale;

// The window of a reduction that would pass the end of a dimension stays at the
// last element.
Value blockscale::reduceTiles(
    Emitter &e, ScaledTensorType type, Value input,
    function_ref<Value(Emitter &, Value, Value)> combine) {
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
  Value empty = tensor::EmptyOp::create(e, counts, e.getF32Type());
  Value zeros = linalg::FillOp::create(e, e.f32(0), empty).getResult(0);
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
        SmallVector<Value> position;
        for (unsigned i = 0; i < rank; ++i)
          position.push_back(linalg::IndexOp::create(body, i));
        for (unsigned i = 0; i < 2; ++i) {
          Value &index = position[rank - 2 + i];
          Value inside = linalg::IndexOp::create(body, rank + i);
          if (tiles[i] != 0)
            inside = arith::AddIOp::create(
                body, inside,
                arith::MulIOp::create(body, index, body.index(tiles[i])));
          index = arith::MinUIOp::create(body, inside, last[i]);
        }
        Value value =
            body.widen(tensor::ExtractOp::create(body, input, position));
        linalg::YieldOp::create(body, combine(body, arguments.back(), value));
      });
  return generic.getResult(0);
}

ElementRounder blockscale::rounderAt(Emitter &e, QuantizeOp op,
                                     ArrayRef<OpFoldResult> sizes,
                                     ValueRange position) {
  ElementRounder rounder{op.getRounding(), Value()};
  if (rounder.mode != ElementRounding::Stochastic)
    return rounder;
  Value number = e.index(0);
  for (auto [size, at] : llvm::zip_equal(sizes, position)) {
    Value whole = getValueOrCreateConstantIndexOp(e, e.getLoc(), size);
    number =
        arith::AddIOp::create(e, arith::MulIOp::create(e, number, whole), at);
  }
  rounder.random = randomFraction(e, *op.getSeed(), number);
  return rounder;
}
