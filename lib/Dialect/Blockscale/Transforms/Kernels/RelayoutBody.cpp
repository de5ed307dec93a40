//===- RelayoutBody.cpp - the body of a kernel that moves bytes -----------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

// Scales, or metadata. Each thread owns a piece of a line of the result: a
// word, the scales of four blocks of a row, or 16 bytes of metadata, or its
// padding. All layouts have a piece together, so that a thread reads and writes
// whole ones, but where lines of layout 'plain' are no whole words. Zero
// points, of which there are as many as scales, have a thread each.

#include "RelayoutSource.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;
using namespace blockscale;

static_assert(kElementwiseThreads == 128, "rows of a tile of scales");
static_assert(kElementwiseThreads == kConversionThreads, "threads of a CTA");

namespace {

class Body {
public:
  Body(const MovedBytes &moved, Emitter &e, Value fromMemory, Value toMemory,
       const LaunchSizes &sizes)
      : moved(moved), e(e), fromMemory(fromMemory), toMemory(toMemory),
        sizes(sizes),
        from(e, moved.from, {sizes.rows, Value(), sizes.k, sizes.batch}),
        to(e, moved.to, {sizes.rows, Value(), sizes.k, sizes.batch}),
        blocks(to.extentOf(moved.bytes, e.getI32Type())),
        lines(moved.lines == moved.to.rows
                  ? sizes.rows
                  : to.extentOf(moved.lines, e.getI32Type())) {}

  /// `number` is that of the thread, i32.
  void build(Value number);

private:
  Value add(Value x, int64_t y) {
    return arith::AddIOp::create(e, x, e.i32(y));
  }
  Value below(Value x, Value y) {
    return arith::CmpIOp::create(e, arith::CmpIPredicate::ult, x, y);
  }
  int64_t wordsOfPiece() const { return piece / kWordBytes; }
  /// Blocks of a line, if the types tell.
  std::optional<int64_t> constantBlocks() const;
  bool hasWholePieces(ScaleLayout layout) const;
  Value offset(StorageAccess &access, const BlockPlace &place);
  BlockPlace placeOf(Value number);
  Value isThere(const BlockPlace &place);
  SmallVector<Value> loadPiece(const BlockPlace &place);
  Value loadBytes(const BlockPlace &place);
  Value withPadding(const BlockPlace &place, Value word);
  void store(const BlockPlace &place, ArrayRef<Value> words);
  void storeBytes(const BlockPlace &place, Value word);

  static constexpr int64_t kWordBytes = 4;
  const MovedBytes &moved;
  Emitter &e;
  Value fromMemory, toMemory;
  const LaunchSizes &sizes;
  StorageAccess from, to;
  Value blocks, lines;
  int64_t piece = bytesOfPiece(moved);
  /// Pieces and lines of the result, with padding.
  Value pieces, paddedLines;
};

} // namespace

std::optional<int64_t> Body::constantBlocks() const {
  auto count = dyn_cast<AffineConstantExpr>(moved.bytes);
  return count ? std::optional(count.getValue()) : std::nullopt;
}

/// Whether the bytes from a multiple of a piece on are one of memory.
bool Body::hasWholePieces(ScaleLayout layout) const {
  if (layout != ScaleLayout::Plain)
    return true;
  std::optional<int64_t> count = constantBlocks();
  return count && *count % piece == 0;
}

Value Body::offset(StorageAccess &access, const BlockPlace &place) {
  return access.scaleOffset(place, e.getI64Type());
}

/// The bytes of a block and of those behind it, which are there or padding, as
/// words.
SmallVector<Value> Body::loadPiece(const BlockPlace &place) {
  auto bytes = VectorType::get({piece}, e.getI8Type());
  Value loaded = LoadRowOp::create(e, bytes, fromMemory, offset(from, place),
                                   e.i32(piece), /*stride=*/Value(),
                                   /*aligned=*/true);
  auto type = VectorType::get({wordsOfPiece()}, e.getI32Type());
  loaded = vector::BitCastOp::create(e, type, loaded);
  SmallVector<Value> words;
  for (int64_t i = 0; i < wordsOfPiece(); ++i)
    words.push_back(vector::ExtractOp::create(e, loaded, i));
  return words;
}

/// A word byte by byte; behind the last one that comes again, and for shorter
/// tiles each does.
Value Body::loadBytes(const BlockPlace &place) {
  Value word, last = add(blocks, -1);
  for (int64_t i = 0; i < kWordBytes; ++i) {
    Value block = arith::MinUIOp::create(e, add(place.block, i), last);
    if (int64_t times = moved.from.block / moved.to.block; times > 1)
      block = arith::DivUIOp::create(e, block, e.i32(times));
    Value byte = from.loadNumber(
        fromMemory, offset(from, {place.matrix, place.row, block}));
    byte = arith::ExtUIOp::create(e, e.getI32Type(), byte);
    byte = arith::ShLIOp::create(e, byte, e.i32(8 * i));
    word = word ? arith::OrIOp::create(e, word, byte).getResult() : byte;
  }
  return word;
}

/// The padding where there is no block or no line.
Value Body::withPadding(const BlockPlace &place, Value word) {
  Value padding = e.i32(moved.padding() * 0x01010101),
        isLine = below(place.row, lines);
  if (hasWholePieces(ScaleLayout::Plain)) {
    Value isInside =
        arith::AndIOp::create(e, isLine, below(place.block, blocks));
    return select(e, isInside, word, padding);
  }
  Value zero = e.i32(0), mask = zero;
  for (int64_t i = 0; i < kWordBytes; ++i) {
    auto bits = int32_t(uint32_t(0xff) << 8 * i);
    Value one =
        select(e, below(add(place.block, i), blocks), e.i32(bits), zero);
    mask = arith::OrIOp::create(e, mask, one);
  }
  Value kept = arith::AndIOp::create(e, word, mask);
  if (moved.padding()) {
    Value rest = arith::XOrIOp::create(e, mask, e.i32(-1));
    kept =
        arith::OrIOp::create(e, kept, arith::AndIOp::create(e, padding, rest));
  }
  return select(e, isLine, kept, padding);
}

void Body::storeBytes(const BlockPlace &place, Value word) {
  // Lines have no word more than they need, so that its first byte is there.
  int64_t certain = 1;
  if (std::optional<int64_t> count = constantBlocks())
    certain = *count % kWordBytes;
  for (int64_t i = 0; i < kWordBytes; ++i) {
    BlockPlace one{place.matrix, place.row, add(place.block, i)};
    OpBuilder::InsertionGuard guard(e);
    if (i >= certain) {
      auto condition = scf::IfOp::create(e, below(one.block, blocks));
      e.setInsertionPointToStart(condition.thenBlock());
    }
    Value byte = arith::ShRUIOp::create(e, word, e.i32(8 * i));
    to.storeByte(toMemory, offset(to, one),
                 arith::TruncIOp::create(e, e.getI8Type(), byte));
  }
}

void Body::store(const BlockPlace &place, ArrayRef<Value> words) {
  if (!hasWholePieces(moved.toLayout))
    return storeBytes(place, words.front());
  Value value = vector::FromElementsOp::create(
      e, VectorType::get({wordsOfPiece()}, e.getI32Type()), words);
  value = vector::BitCastOp::create(e, VectorType::get({piece}, e.getI8Type()),
                                    value);
  StoreRowOp::create(e, value, toMemory, offset(to, place), e.i32(piece),
                     /*stride=*/Value(), /*aligned=*/true);
}

/// Line after line; of metadata the pieces of a sector, line after line.
BlockPlace Body::placeOf(Value number) {
  int64_t together = piecesTogether(moved);
  Value inSector, rest = number;
  if (together > 1) {
    inSector = arith::RemUIOp::create(e, number, e.i32(together));
    rest = arith::DivUIOp::create(e, number, e.i32(together));
  }
  BlockPlace place;
  if (inSector) {
    place.row = arith::RemUIOp::create(e, rest, paddedLines);
    rest = arith::DivUIOp::create(e, rest, paddedLines);
    Value sectors =
        to.extentOf(piecesOfLine(moved).ceilDiv(together), e.getI32Type());
    Value sector = arith::RemUIOp::create(e, rest, sectors);
    place.matrix = arith::DivUIOp::create(e, rest, sectors);
    place.block = arith::AddIOp::create(
        e, arith::MulIOp::create(e, sector, e.i32(together)), inSector);
  } else {
    Value line = arith::DivUIOp::create(e, number, pieces);
    place.block = arith::RemUIOp::create(e, number, pieces);
    place.matrix = arith::DivUIOp::create(e, line, paddedLines);
    place.row = arith::RemUIOp::create(e, line, paddedLines);
  }
  return place;
}

/// What a thread has to ask before it moves a piece; null if all do. The lines
/// of tiles, 128 or a multiple of it, fill CTAs.
Value Body::isThere(const BlockPlace &place) {
  Value is;
  if (moved.toLayout == ScaleLayout::Plain)
    is = below(place.matrix, sizes.batch);
  AffineExpr count = piecesOfLine(moved);
  auto isConstant = dyn_cast<AffineConstantExpr>(count % piecesTogether(moved));
  if (isConstant && isConstant.getValue() == 0)
    return is;
  Value isPiece =
      below(place.block, to.extentOf(count * piece, e.getI32Type()));
  return is ? arith::AndIOp::create(e, is, isPiece) : isPiece;
}

void Body::build(Value number) {
  Type i32 = e.getI32Type();
  pieces = to.extentOf(piecesOfLine(moved), i32);
  paddedLines = to.extentOf(linesOfMatrix(moved), i32);
  BlockPlace place = placeOf(number);
  place.block = arith::MulIOp::create(e, place.block, e.i32(piece));
  Value condition = isThere(place);
  OpBuilder::InsertionGuard guard(e);
  if (condition)
    e.setInsertionPointToStart(scf::IfOp::create(e, condition).thenBlock());
  // The padding reads what is there and leaves it out.
  Value lastPiece = arith::AndIOp::create(e, add(blocks, -1), e.i32(-piece));
  BlockPlace inside{place.matrix,
                    arith::MinUIOp::create(e, place.row, add(lines, -1)),
                    arith::MinUIOp::create(e, place.block, lastPiece)};
  bool isPiece =
      hasWholePieces(moved.fromLayout) && moved.from.block == moved.to.block;
  SmallVector<Value> words =
      isPiece ? loadPiece(inside) : SmallVector<Value>{loadBytes(inside)};
  for (Value &word : words)
    word = withPadding(place, word);
  store(place, words);
}

void blockscale::buildMovedBytes(const MovedBytes &moved,
                                 ImplicitLocOpBuilder &b, Value from, Value to,
                                 const LaunchSizes &sizes, Value number) {
  Emitter e(b.getLoc(), b);
  Body(moved, e, from, to, sizes).build(number ? number : threadNumber(e));
}

//===----------------------------------------------------------------------===//
// Zero points
//===----------------------------------------------------------------------===//

void blockscale::buildMovedZeros(const MovedBytes &scales, IntegerType type,
                                 ImplicitLocOpBuilder &b, Value fromMemory,
                                 Value toMemory, const LaunchSizes &sizes,
                                 Value number) {
  Emitter e(b.getLoc(), b);
  Type i32 = e.getI32Type(), i64 = e.getI64Type();
  SmallVector<Value> all{sizes.rows, Value(), sizes.k, sizes.batch};
  StorageAccess from(e, scales.from, all), to(e, scales.to, all);
  Value blocks = to.extentOf(scales.bytes, i32),
        lines = to.extentOf(scales.lines, i32),
        places = to.extentOf(piecesOfLine(scales) * kScalesOfWord, i32),
        paddedLines = to.extentOf(linesOfMatrix(scales), i32);
  auto below = [&](Value x, Value y) -> Value {
    return arith::CmpIOp::create(e, arith::CmpIPredicate::ult, x, y);
  };
  Value line = arith::DivUIOp::create(e, number, places);
  BlockPlace place{arith::DivUIOp::create(e, line, paddedLines),
                   arith::RemUIOp::create(e, line, paddedLines),
                   arith::RemUIOp::create(e, number, places)};
  Value isBlock = below(place.block, blocks), isLine = below(place.row, lines);
  OpBuilder::InsertionGuard guard(e);
  // The lines of tiles, 128 or a multiple of it, fill CTAs, and all of their
  // places are written.
  if (scales.toLayout == ScaleLayout::Plain) {
    Value isThere =
        arith::AndIOp::create(e, isBlock, below(place.matrix, sizes.batch));
    e.setInsertionPointToStart(scf::IfOp::create(e, isThere).thenBlock());
  }
  int64_t bytes = type.getWidth() / 8;
  auto byteOf = [&](StorageAccess &access, const BlockPlace &at) -> Value {
    Value width = arith::ConstantIntOp::create(e, i64, bytes);
    return arith::MulIOp::create(e, access.scaleOffset(at, i64), width);
  };
  auto inside = [&](Value index, Value count) -> Value {
    Value last = arith::SubIOp::create(e, count, e.i32(1));
    return arith::MinUIOp::create(e, index, last);
  };
  BlockPlace source{place.matrix, inside(place.row, lines),
                    inside(place.block, blocks)};
  Value zero = LoadRowOp::create(e, VectorType::get({bytes}, e.getI8Type()),
                                 fromMemory, byteOf(from, source), e.i32(bytes),
                                 /*stride=*/Value(), /*aligned=*/true);
  zero = vector::BitCastOp::create(e, VectorType::get({1}, type), zero);
  zero = vector::ExtractOp::create(e, zero, 0);
  if (type != i32)
    zero = arith::ExtUIOp::create(e, i32, zero);
  zero = select(e, arith::AndIOp::create(e, isLine, isBlock), zero, e.i32(0));
  to.storeBytes(toMemory, byteOf(to, place), zero, bytes);
}
