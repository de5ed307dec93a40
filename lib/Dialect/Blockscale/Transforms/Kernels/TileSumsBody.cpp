//===- TileSumsBody.cpp - the body of a kernel that adds up tiles ---------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

// Neighbouring lanes have the partial sums of one tile, whose pieces they read
// side by side, a piece with as wide accesses as there are; at the end they add
// them to each other. All lanes of a warp come to that: those behind the last
// tile repeat it and store nothing.

#include "NarrowNumbers.h"
#include "TileSumsSource.h"
#include "blockscale/Dialect/Blockscale/IR/Promotion.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;
using namespace blockscale;

namespace {

class SumsBody : StorageAccess {
public:
  SumsBody(TileSumsOp op, const SumStorage &sums, Emitter &emitter,
           const ScaledOperandArguments &arguments)
      : StorageAccess(emitter, sums.storage,
                      {arguments.sizes.rows, Value(), arguments.sizes.k,
                       arguments.sizes.batch}),
        type(op.getInput().getType()), sums(sums), arguments(arguments),
        lanes(sums.partialSums) {}

  void build();

private:
  /// A tile of a row, by i32 numbers.
  struct Tile {
    Value matrix, row, number;
  };

  Tile tileOf(Value number);
  Value sumOfTile(const Tile &tile, Value lane);
  Value sumOfPiece(const Tile &tile, Value piece);
  SmallVector<Value> valuesOf(const Tile &tile, Value piece);
  SmallVector<Value> wordsOf(const Tile &tile, Value piece);
  SmallVector<Value> decode(ArrayRef<Value> words);
  Value scaleOf(const Tile &tile, Value piece);
  void store(const Tile &tile, Value sum);

  int64_t bits() const { return storage.data->globalBits; }
  Value extent(AffineExpr expression) {
    return extentOf(expression, e.getI32Type());
  }
  Value below(Value x, Value y) {
    return arith::CmpIOp::create(e, arith::CmpIPredicate::ult, x, y);
  }
  Value quotient(Value x, Value y) { return arith::DivUIOp::create(e, x, y); }
  Value remainder(Value x, Value y) { return arith::RemUIOp::create(e, x, y); }
  /// Whether K is known to be whole pieces.
  bool isWhole() const {
    auto k = dyn_cast<AffineConstantExpr>(storage.k);
    return k && k.getValue() % kPiece == 0;
  }

  static constexpr int64_t kPiece = TileSumsOp::kPiece;

  ScaledTensorType type;
  const SumStorage &sums;
  const ScaledOperandArguments &arguments;
  int64_t lanes;
  /// Of elements under one scale for all of K, and the tensor scale.
  Value scaleOfRow, tensorScale;
};

} // namespace

//===----------------------------------------------------------------------===//
// Numbers
//===----------------------------------------------------------------------===//

/// The words of a piece. Lines are padded to whole accesses; one that begins
/// behind K repeats the first, so that none leaves its line.
SmallVector<Value> SumsBody::wordsOf(const Tile &tile, Value piece) {
  int64_t bytes = kPiece * bits() / 8, access = std::min(bytes, kAccessBytes);
  Value line = lineOffset({tile.matrix, tile.row, Value()});
  Value first = add(line, mul(wide(piece), wide(bytes)));
  if (isWhole() || bytes <= kAccessBytes)
    return loadWords(arguments.data, first, bytes);
  SmallVector<Value> words;
  for (int64_t i = 0; i < bytes; i += access) {
    Value offset = add(first, wide(i));
    if (i > 0) {
      Value element = add(mul(piece, e.i32(kPiece)), e.i32(i * 8 / bits()));
      offset = select(e, below(element, arguments.sizes.k), offset, first);
    }
    llvm::append_range(words, loadWords(arguments.data, offset, access));
  }
  return words;
}

SmallVector<Value> SumsBody::decode(ArrayRef<Value> words) {
  auto element = cast<FloatType>(type.getElementType());
  if (bits() <= 8)
    return decodeWords(e, words, element, bits(), kPiece);
  SmallVector<Value> values;
  for (Value word : words) {
    if (bits() == 32) {
      // What tf32 does not have is ignored.
      Value kept = arith::AndIOp::create(e, word, e.i32(kTF32Bits));
      values.push_back(e.fromBits(kept));
      continue;
    }
    Value pair = vector::FromElementsOp::create(
        e, VectorType::get({1}, e.getI32Type()), word);
    pair = vector::BitCastOp::create(e, VectorType::get({2}, element), pair);
    for (int64_t i = 0; i < 2; ++i)
      values.push_back(e.widen(vector::ExtractOp::create(e, pair, i)));
  }
  return values;
}

/// The elements of a piece, 0 behind K.
SmallVector<Value> SumsBody::valuesOf(const Tile &tile, Value piece) {
  SmallVector<Value> values = decode(wordsOf(tile, piece));
  if (isWhole())
    return values;
  Value first = mul(piece, e.i32(kPiece));
  for (auto [i, value] : llvm::enumerate(values))
    if (i > 0)
      value = select(e, below(add(first, e.i32(int64_t(i))), arguments.sizes.k),
                     value, e.f32(0));
  return values;
}

/// The scale of the piece, or of the row if `piece` is null, as f32.
Value SumsBody::scaleOf(const Tile &tile, Value piece) {
  Value number = mul(wide(tile.matrix),
                     extentOf(sums.scalesOfMatrix(type), e.getI64Type()));
  if (int64_t rows = type.getRowTile()) {
    Value group = rows == 1 ? tile.row : quotient(tile.row, e.i32(rows));
    number = add(number, mul(wide(group),
                             extentOf(sums.scalesOfRow(type), e.getI64Type())));
  }
  if (piece)
    number =
        add(number, wide(quotient(piece, e.i32(type.getKTile() / kPiece))));
  Value scale = loadNumber(arguments.scales, number);
  const ScaleSpec &spec = type.getSpec().getValue();
  if (std::optional<ElementFormat> format = byteFactor(*spec.scale))
    return scaleOfByte(e, scale, *format);
  return e.widen(scale);
}

Value SumsBody::sumOfPiece(const Tile &tile, Value piece) {
  SmallVector<Value> values = valuesOf(tile, piece);
  Value sum = values.front();
  for (Value value : llvm::drop_begin(values))
    sum = arith::AddFOp::create(e, sum, value);
  Value scale = scaleOfRow;
  if (arguments.scales && !scale)
    scale = scaleOf(tile, piece);
  for (Value factor : {scale, tensorScale})
    if (factor)
      sum = arith::MulFOp::create(e, sum, factor);
  return sum;
}

//===----------------------------------------------------------------------===//
// Tiles
//===----------------------------------------------------------------------===//

SumsBody::Tile SumsBody::tileOf(Value number) {
  Value tiles = extent(sums.tiles);
  Value line = quotient(number, tiles);
  return {quotient(line, arguments.sizes.rows),
          remainder(line, arguments.sizes.rows), remainder(number, tiles)};
}

/// The partial sum of the lane.
Value SumsBody::sumOfTile(const Tile &tile, Value lane) {
  Value pieces = extent(storage.k.ceilDiv(kPiece)), first = lane;
  if (sums.tile) {
    Value begin = mul(tile.number, e.i32(sums.tile / kPiece));
    Value end = add(begin, e.i32(sums.tile / kPiece));
    first = add(begin, lane);
    pieces = arith::MinUIOp::create(e, end, pieces);
  }
  if (arguments.scales && !type.getKTile())
    scaleOfRow = scaleOf(tile, /*piece=*/Value());
  if (arguments.tensorScale)
    tensorScale = loadNumber(arguments.tensorScale, wide(tile.matrix));
  auto loop =
      scf::ForOp::create(e, first, pieces, e.i32(lanes), ValueRange(e.f32(0)));
  OpBuilder::InsertionGuard guard(e);
  e.setInsertionPointToStart(loop.getBody());
  Value sum = sumOfPiece(tile, loop.getInductionVar());
  scf::YieldOp::create(
      e, arith::AddFOp::create(e, loop.getRegionIterArg(0), sum).getResult());
  return loop.getResult(0);
}

void SumsBody::store(const Tile &tile, Value sum) {
  Value line =
      add(mul(wide(tile.matrix), wide(extent(sums.tiles))), wide(tile.number));
  Value place = add(mul(line, wide(arguments.sizes.rows)), wide(tile.row));
  StoreRowOp::create(e,
                     vector::FromElementsOp::create(
                         e, VectorType::get({1}, e.getF32Type()), sum),
                     arguments.result, place, e.i32(1), /*stride=*/Value(),
                     /*aligned=*/true);
}

void SumsBody::build() {
  Value thread = threadNumber(e), size = e.i32(lanes);
  Value number = quotient(thread, size), lane = remainder(thread, size);
  Value count = extent(sums.tiles * storage.rows * storage.batch);
  Value isInside = below(number, count);
  Value last = arith::SubIOp::create(e, count, e.i32(1));
  Tile tile = tileOf(arith::MinUIOp::create(e, number, last));
  Value sum = sumOfTile(tile, lane);
  for (int64_t distance = lanes / 2; distance > 0; distance /= 2)
    sum = arith::AddFOp::create(
        e, sum,
        gpu::ShuffleOp::create(e, sum, int32_t(distance), hw::kWarpSize,
                               gpu::ShuffleMode::XOR)
            .getShuffleResult());
  Value isFirst =
      arith::CmpIOp::create(e, arith::CmpIPredicate::eq, lane, e.i32(0));
  auto condition = scf::IfOp::create(
      e, arith::AndIOp::create(e, isInside, isFirst).getResult());
  OpBuilder::InsertionGuard guard(e);
  e.setInsertionPointToStart(condition.thenBlock());
  store(tile, sum);
}

void blockscale::buildTileSumsBody(TileSumsOp op, const SumStorage &sums,
                                   ImplicitLocOpBuilder &b,
                                   const ScaledOperandArguments &arguments) {
  Emitter e(b.getLoc(), b);
  SumsBody(op, sums, e, arguments).build();
}
