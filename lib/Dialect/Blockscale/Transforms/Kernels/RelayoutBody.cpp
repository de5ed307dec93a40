//===- RelayoutBody.cpp - the body of a kernel that moves scales ----------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

// Each thread owns a word of the result: the scales of four blocks of a row, or
// its padding. All layouts have the four together, so that a thread reads and
// writes words, but where rows of layout 'plain' are no whole words.

#include "RelayoutSource.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;
using namespace blockscale;

static_assert(kElementwiseThreads == 128, "rows of a tile of scales");

namespace {

class Body {
public:
  Body(const RelayoutStorage &storage, Emitter &e, Value fromMemory,
       Value toMemory, const LaunchSizes &sizes)
      : storage(storage), e(e), fromMemory(fromMemory), toMemory(toMemory),
        sizes(sizes),
        from(e, storage.from, {sizes.rows, Value(), sizes.k, sizes.batch}),
        to(e, storage.to, {sizes.rows, Value(), sizes.k, sizes.batch}),
        blocks(to.extentOf(storage.to.k.floorDiv(storage.to.block),
                           e.getI32Type())) {}

  /// `number` is that of the thread, i32.
  void build(Value number);

private:
  Value add(Value x, int64_t y) {
    return arith::AddIOp::create(e, x, e.i32(y));
  }
  Value below(Value x, Value y) {
    return arith::CmpIOp::create(e, arith::CmpIPredicate::ult, x, y);
  }
  /// Blocks of a line, if the types tell.
  std::optional<int64_t> constantBlocks() const;
  bool hasWholeWords(ScaleLayout layout) const;
  Value offset(StorageAccess &access, const BlockPlace &place);
  Value loadWord(const BlockPlace &place);
  Value loadBytes(const BlockPlace &place);
  Value withoutPadding(const BlockPlace &place, Value word);
  void store(const BlockPlace &place, Value word);

  const RelayoutStorage &storage;
  Emitter &e;
  Value fromMemory, toMemory;
  const LaunchSizes &sizes;
  StorageAccess from, to;
  Value blocks;
};

} // namespace

std::optional<int64_t> Body::constantBlocks() const {
  auto count =
      dyn_cast<AffineConstantExpr>(storage.to.k.floorDiv(storage.to.block));
  return count ? std::optional(count.getValue()) : std::nullopt;
}

/// Whether four blocks from a multiple of four on are a word of memory.
bool Body::hasWholeWords(ScaleLayout layout) const {
  if (layout != ScaleLayout::Plain)
    return true;
  std::optional<int64_t> count = constantBlocks();
  return count && *count % kScalesOfWord == 0;
}

Value Body::offset(StorageAccess &access, const BlockPlace &place) {
  return access.scaleOffset(place, e.getI64Type());
}

/// The scales of a block and of the three behind it, which are there or
/// padding.
Value Body::loadWord(const BlockPlace &place) {
  auto bytes = VectorType::get({kScalesOfWord}, e.getI8Type());
  Value loaded = LoadRowOp::create(e, bytes, fromMemory, offset(from, place),
                                   e.i32(kScalesOfWord), /*stride=*/Value(),
                                   /*aligned=*/true);
  auto word = VectorType::get({1}, e.getI32Type());
  return vector::ExtractOp::create(
      e, vector::BitCastOp::create(e, word, loaded), 0);
}

/// The same byte by byte; behind the last one that comes again, and for shorter
/// tiles each does.
Value Body::loadBytes(const BlockPlace &place) {
  Value word, last = add(blocks, -1);
  for (int64_t i = 0; i < kScalesOfWord; ++i) {
    Value block = arith::MinUIOp::create(e, add(place.block, i), last);
    if (int64_t times = storage.from.block / storage.to.block; times > 1)
      block = arith::DivUIOp::create(e, block, e.i32(times));
    Value byte = from.loadNumber(
        fromMemory, offset(from, {place.matrix, place.row, block}));
    byte = arith::ExtUIOp::create(e, e.getI32Type(), byte);
    byte = arith::ShLIOp::create(e, byte, e.i32(8 * i));
    word = word ? arith::OrIOp::create(e, word, byte).getResult() : byte;
  }
  return word;
}

/// Zeros where there is no block or no row.
Value Body::withoutPadding(const BlockPlace &place, Value word) {
  Value zero = e.i32(0), isRow = below(place.row, sizes.rows);
  if (hasWholeWords(ScaleLayout::Plain)) {
    Value isInside =
        arith::AndIOp::create(e, isRow, below(place.block, blocks));
    return select(e, isInside, word, zero);
  }
  Value mask = zero;
  for (int64_t i = 0; i < kScalesOfWord; ++i) {
    auto bits = int32_t(uint32_t(0xff) << 8 * i);
    Value one =
        select(e, below(add(place.block, i), blocks), e.i32(bits), zero);
    mask = arith::OrIOp::create(e, mask, one);
  }
  return select(e, isRow, arith::AndIOp::create(e, word, mask), zero);
}

void Body::store(const BlockPlace &place, Value word) {
  if (hasWholeWords(storage.toLayout)) {
    Value value = vector::FromElementsOp::create(
        e, VectorType::get({1}, e.getI32Type()), word);
    value = vector::BitCastOp::create(
        e, VectorType::get({kScalesOfWord}, e.getI8Type()), value);
    StoreRowOp::create(e, value, toMemory, offset(to, place),
                       e.i32(kScalesOfWord), /*stride=*/Value(),
                       /*aligned=*/true);
    return;
  }
  // Lines have no word more than they need, so that its first scale is there.
  int64_t certain = 1;
  if (std::optional<int64_t> count = constantBlocks())
    certain = *count % kScalesOfWord;
  for (int64_t i = 0; i < kScalesOfWord; ++i) {
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

void Body::build(Value number) {
  Type i32 = e.getI32Type();
  Value words = to.extentOf(wordsOfLine(storage.to, storage.toLayout), i32);
  Value lines = to.extentOf(linesOfMatrix(storage.to, storage.toLayout), i32);
  Value line = arith::DivUIOp::create(e, number, words);
  Value word = arith::RemUIOp::create(e, number, words);
  BlockPlace place;
  place.matrix = arith::DivUIOp::create(e, line, lines);
  place.row = arith::RemUIOp::create(e, line, lines);
  place.block = arith::MulIOp::create(e, word, e.i32(kScalesOfWord));
  OpBuilder::InsertionGuard guard(e);
  // The rows of tiles, 128 or a multiple of it, fill CTAs.
  if (storage.toLayout == ScaleLayout::Plain) {
    auto condition = scf::IfOp::create(e, below(place.matrix, sizes.batch));
    e.setInsertionPointToStart(condition.thenBlock());
  }
  // The padding reads what is there and leaves it out.
  Value lastWord =
      arith::AndIOp::create(e, add(blocks, -1), e.i32(-kScalesOfWord));
  BlockPlace inside{place.matrix,
                    arith::MinUIOp::create(e, place.row, add(sizes.rows, -1)),
                    arith::MinUIOp::create(e, place.block, lastWord)};
  bool isWord = hasWholeWords(storage.fromLayout) &&
                storage.from.block == storage.to.block;
  Value loaded = isWord ? loadWord(inside) : loadBytes(inside);
  store(place, withoutPadding(place, loaded));
}

void blockscale::buildRelayoutBody(const RelayoutStorage &storage,
                                   ImplicitLocOpBuilder &b, Value from,
                                   Value to, const LaunchSizes &sizes,
                                   Value number) {
  Emitter e(b.getLoc(), b);
  Body(storage, e, from, to, sizes).build(number ? number : threadNumber(e));
}
