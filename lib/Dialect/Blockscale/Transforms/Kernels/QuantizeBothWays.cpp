//===- QuantizeBothWays.cpp - a matrix and its transpose ------------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

// A CTA has a tile of 128 x 128 numbers. Its threads take blocks of rows first:
// they load them, put what they loaded into shared memory, and store codes and
// scales. Then each takes blocks of columns, which it reads from there. So
// memory is read once.
//
// Of either way a tile has one or two atoms of scales, of which a thread has a
// byte each. Rows of the tile in shared memory are 16 bytes longer than their
// numbers, so that those of neighbouring rows lie in different banks.
//
// Where there are two atoms a thread has two blocks one behind the other, as
// their addresses and what they are random by have most in common. Where it has
// two columns, which it reads from shared memory at once, it has two rows, too,
// half of a tile apart.

#include "QuantizeBothWays.h"
#include "GridMaxima.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;
using namespace blockscale;

/// Atoms of scales that blocks along K have in a tile.
static int64_t atomsOf(const QuantizedStorage &storage) {
  return kTileExtent / (storage.block * hw::kAtomScales);
}

/// Whether a thread has two neighbouring blocks of a way, and not one in each
/// atom.
static bool hasTwo(const QuantizedStorage &storage) {
  return storage.scale && storage.rowTile == 1 && storage.tileBlocks == 1 &&
         atomsOf(storage) == 2;
}

/// The same where both are inside or none is.
static bool hasTwoTogether(const QuantizedStorage &storage) {
  auto k = dyn_cast<AffineConstantExpr>(storage.k);
  return hasTwo(storage) && k && k.getValue() % (2 * storage.block) == 0;
}

namespace {
/// The tile in shared memory, and where it begins: i32 values.
struct Tile {
  Value shared, matrix, row, column;
  int64_t pitch;
  /// Columns that a thread has, and rows.
  int64_t columnsOfThread;
};

/// Blocks of rows, which leave in shared memory what they were loaded as.
class RowsOfTile : QuantizeBody {
public:
  RowsOfTile(const QuantizedWay &way, ImplicitLocOpBuilder &b, Tile tile)
      : QuantizeBody(way.what, way.storage, b, way.arguments), tile(tile) {}

  void quantizeTile(Value thread);

private:
  BlockPlace placeOf(Value thread, int64_t atom);
  void quantizeTwoOfTile(Value thread);
  BlockPlace firstOfTwo(Value thread);
  void quantizeRows(const BlockPlace &place, int64_t blocks, bool hasAtoms);
  QuantizedBlocks quantizeRowsInside(const BlockPlace &place, int64_t blocks);
  void storeCodes(const BlockPlace &place, ArrayRef<Value> words) override;

  Tile tile;
};

/// Blocks of columns.
class ColumnsOfTile : QuantizeColumns {
public:
  ColumnsOfTile(const QuantizedWay &way, ImplicitLocOpBuilder &b, Tile tile)
      : QuantizeColumns(
            way.what, way.storage, b, way.arguments,
            {tile.columnsOfThread, hasTwo(way.storage) ? 2 : int64_t(1)}),
        tile(tile) {}

  void quantizeTile();

private:
  void quantizeTwoOfTile(Value first);
  void finishTwo(const BlockPlace &origin);
  void quantizeShareOfTile(Value first);
  Value hasNextBlock(const BlockPlace &place);
  Value numberOf(const BlockPlace &place);
  SmallVector<Value> load(const BlockPlace &place, Value first) override;
  std::array<SmallVector<Value>, 2> loadPair(const BlockPlace &place,
                                             Value hasNext) override;

  Tile tile;
};
} // namespace

//===----------------------------------------------------------------------===//
// Rows
//===----------------------------------------------------------------------===//

/// Neighbouring lanes have the blocks of a row, or of a column of tiles of
/// several rows where these need neighbours, or of tiles of several rows and
/// blocks.
BlockPlace RowsOfTile::placeOf(Value thread, int64_t atom) {
  bool isTall = storage.rowTile > 1 && order() == TileOrder::Together;
  int64_t extent = isTall ? hw::kAtomRows : hw::kAtomScales;
  Value fast = arith::RemUIOp::create(e, thread, e.i32(extent));
  Value slow = arith::DivUIOp::create(e, thread, e.i32(extent));
  Value first = arith::DivUIOp::create(e, tile.column, e.i32(storage.block));
  Value block = add(first, e.i32(atom * hw::kAtomScales));
  if (isTall && storage.tileBlocks > 1) {
    BlockPlace inAtom = placeBy(ArrayRef(tileDigits()).drop_back(2), thread);
    fast = inAtom.row;
    slow = inAtom.block;
  }
  return {tile.matrix, add(tile.row, isTall ? fast : slow),
          add(block, isTall ? slow : fast)};
}

void RowsOfTile::storeCodes(const BlockPlace &place, ArrayRef<Value> words) {
  Value column = sub(mul(place.block, e.i32(storage.block)), tile.column);
  Value first = add(mul(sub(place.row, tile.row), e.i32(tile.pitch)), column);
  int64_t number = 0;
  for (Value piece : pieces) {
    StoreSharedOp::create(e, piece, tile.shared, add(first, e.i32(number)));
    number += cast<VectorType>(piece.getType()).getDimSize(0);
  }
  QuantizeBody::storeCodes(place, words);
}

BlockPlace RowsOfTile::firstOfTwo(Value thread) {
  constexpr int64_t kTwo = 2;
  BlockPlace place = placeOf(thread, 0);
  Value first = arith::DivUIOp::create(e, tile.column, e.i32(storage.block));
  Value pair = arith::RemUIOp::create(e, thread, e.i32(hw::kAtomScales));
  place.block = add(first, mul(pair, e.i32(kTwo)));
  return place;
}

void RowsOfTile::quantizeTwoOfTile(Value thread) {
  constexpr int64_t kTwo = 2;
  BlockPlace place = firstOfTwo(thread);
  Value codes = quantizeTwo(place, /*hasNext=*/Value());
  auto condition = scf::IfOp::create(e, isInMemory(place));
  OpBuilder::InsertionGuard guard(e);
  e.setInsertionPointToStart(condition.thenBlock());
  Value byte = quantizer.scaleOffset(place, e.getI32Type());
  quantizer.storeBytes(arguments.scales, wide(byte), codes, kTwo);
}

/// Blocks of two rows, one or two of each. Where the lower row is not there the
/// thread does the upper one twice.
QuantizeBody::QuantizedBlocks
RowsOfTile::quantizeRowsInside(const BlockPlace &place, int64_t blocks) {
  BlockPlace lower = place;
  lower.row = add(place.row, e.i32(kTileExtent / 2));
  Value hasLower = below(lower.row, arguments.rows);
  lower.row = select(e, hasLower, lower.row, place.row);
  SmallVector<LoadedBlock> list;
  SmallVector<SmallVector<Value>> piecesOfRows;
  const std::array<BlockPlace, 2> rows{place, lower};
  for (const BlockPlace &row : rows) {
    SmallVector<Value> loaded;
    for (int64_t i = 0; i < blocks; ++i) {
      Value first = add(firstElement(row), wide(i * storage.block));
      list.push_back(
          {load(row, first), first, piecesOfRows.empty() ? Value() : hasLower});
      loaded.append(pieces);
    }
    piecesOfRows.push_back(loaded);
  }
  QuantizedBlocks quantized = quantizeLoaded(place, list);
  ArrayRef<SmallVector<Value>> rest = quantized.words;
  for (auto [i, row] : llvm::enumerate(rows)) {
    SmallVector<Value> words;
    for (const SmallVector<Value> &each : rest.take_front(blocks))
      words.append(each);
    rest = rest.drop_front(blocks);
    pieces = piecesOfRows[i];
    storeCodes(row, words);
  }
  return quantized;
}

void RowsOfTile::quantizeRows(const BlockPlace &place, int64_t blocks,
                              bool hasAtoms) {
  constexpr int64_t kScaleBits = 8;
  Value codes =
      ifInside(place, [&] { return quantizeRowsInside(place, blocks).scales; });
  OpBuilder::InsertionGuard guard(e);
  if (hasAtoms) {
    auto condition = scf::IfOp::create(e, isInMemory(place));
    e.setInsertionPointToStart(condition.thenBlock());
  }
  BlockPlace lower = place;
  lower.row = add(place.row, e.i32(kTileExtent / 2));
  Value below = arith::ShRUIOp::create(e, codes, e.i32(blocks * kScaleBits));
  for (auto [row, bytes] : {std::pair(place, codes), {lower, below}})
    quantizer.storeBytes(arguments.scales,
                         wide(quantizer.scaleOffset(row, e.getI32Type())),
                         bytes, blocks);
}

void RowsOfTile::quantizeTile(Value thread) {
  quantizer.setOrder(order());
  findFactor(tile.matrix);
  if (tile.columnsOfThread > 1) {
    if (hasTwoTogether(storage))
      return quantizeRows(firstOfTwo(thread), /*blocks=*/2, /*hasAtoms=*/true);
    for (int64_t atom = 0; atom < atomsOf(storage); ++atom)
      quantizeRows(placeOf(thread, atom), /*blocks=*/1, atomsOf(storage) > 1);
    return;
  }
  if (hasTwoTogether(storage))
    return quantizeTwoOfTile(thread);
  for (int64_t atom = 0; atom < atomsOf(storage); ++atom) {
    BlockPlace place = placeOf(thread, atom);
    Value code = quantize(place);
    OpBuilder::InsertionGuard guard(e);
    if (atomsOf(storage) > 1) {
      auto condition = scf::IfOp::create(e, isInMemory(place));
      e.setInsertionPointToStart(condition.thenBlock());
    }
    if (!storage.scale) {
      storePlain(place, code);
      continue;
    }
    Value byte = quantizer.scaleOffset(place, e.getI32Type());
    quantizer.storeByte(arguments.scales, wide(byte), i8(code));
  }
}

//===----------------------------------------------------------------------===//
// Columns
//===----------------------------------------------------------------------===//

/// That of the first number of a block in shared memory.
Value ColumnsOfTile::numberOf(const BlockPlace &place) {
  Value row = sub(mul(place.block, e.i32(storage.block)), tile.row);
  return add(mul(row, e.i32(tile.pitch)), sub(place.row, tile.column));
}

std::array<SmallVector<Value>, 2>
ColumnsOfTile::loadPair(const BlockPlace &place, Value) {
  Type type = cast<SharedType>(tile.shared.getType()).getElementType();
  Value first = numberOf(place);
  std::array<SmallVector<Value>, 2> columns;
  for (int64_t i = 0; i < storage.block; ++i) {
    Value loaded =
        LoadSharedOp::create(e, VectorType::get({2}, type), tile.shared,
                             add(first, e.i32(i * tile.pitch)));
    for (int64_t k = 0; k < 2; ++k)
      columns[k].push_back(vector::ExtractOp::create(e, loaded, k));
  }
  return columns;
}

SmallVector<Value> ColumnsOfTile::load(const BlockPlace &place, Value) {
  Type type = cast<SharedType>(tile.shared.getType()).getElementType();
  Value first = numberOf(place);
  SmallVector<Value> values;
  for (int64_t i = 0; i < storage.block; ++i) {
    Value loaded =
        LoadSharedOp::create(e, VectorType::get({1}, type), tile.shared,
                             add(first, e.i32(i * tile.pitch)));
    values.push_back(vector::ExtractOp::create(e, loaded, 0));
  }
  return values;
}

/// Whether the block behind that of `place` is inside; null if it always is.
Value ColumnsOfTile::hasNextBlock(const BlockPlace &place) {
  if (hasTwoTogether(storage))
    return {};
  BlockPlace next = place;
  next.block = add(next.block, e.i32(1));
  return isInside(next);
}

void ColumnsOfTile::finishTwo(const BlockPlace &origin) {
  gpu::BarrierOp::create(e);
  copyCodes(origin);
  // Of the atom that the thread copies a part of.
  BlockPlace copied = origin;
  copied.block =
      add(origin.block,
          mul(arith::DivUIOp::create(e, thread, e.i32(copiesOfAtom())),
              e.i32(hw::kAtomScales)));
  copyScales(quantizer.scaleOffset(origin, e.getI32Type()), isInMemory(copied));
}

void ColumnsOfTile::quantizeTwoOfTile(Value first) {
  BlockPlace inAtoms{e.i32(0), line(), blockInAtom()};
  BlockPlace origin{tile.matrix, tile.column, first};
  BlockPlace place{origin.matrix, add(origin.row, inAtoms.row),
                   add(origin.block, inAtoms.block)};
  storeScales(inAtoms, quantizeTwo(place, hasNextBlock(place)));
  finishTwo(origin);
}

void ColumnsOfTile::quantizeShareOfTile(Value first) {
  BlockPlace origin{tile.matrix, tile.column, first};
  BlockPlace place{origin.matrix, add(origin.row, line()),
                   add(origin.block, blockInAtom())};
  storeShare(
      quantizeShare(place, share.blocks > 1 ? hasNextBlock(place) : Value()));
  if (share.blocks > 1)
    return finishTwo(origin);
  gpu::BarrierOp::create(e);
  copyCodes(origin);
  copyScales(quantizer.scaleOffset(origin, e.getI32Type()), /*there=*/Value());
}

void ColumnsOfTile::quantizeTile() {
  findFactor(tile.matrix);
  Value first = arith::DivUIOp::create(e, tile.row, e.i32(storage.block));
  if (share.columns > 1)
    return quantizeShareOfTile(first);
  if (hasTwo(storage))
    return quantizeTwoOfTile(first);
  for (int64_t atom = 0; atom < atomsOf(storage); ++atom) {
    // The codes of the one before are stored.
    if (atom > 0)
      gpu::BarrierOp::create(e);
    BlockPlace origin{tile.matrix, tile.column,
                      add(first, e.i32(atom * hw::kAtomScales))};
    BlockPlace place{tile.matrix, add(origin.row, line()),
                     add(origin.block, blockInAtom())};
    Value code = quantize(place);
    Value byte =
        storage.scale ? quantizer.scaleOffset(origin, e.getI32Type()) : Value();
    finish(place, code, byte,
           atomsOf(storage) > 1 ? isInMemory(origin) : Value());
  }
}

//===----------------------------------------------------------------------===//
// Both
//===----------------------------------------------------------------------===//

AffineExpr blockscale::tilesOf(const QuantizedStorage &storage) {
  return storage.rows.ceilDiv(kTileExtent) * storage.k.ceilDiv(kTileExtent) *
         storage.batch;
}

int64_t blockscale::columnsOfThread(const QuantizedWay &rows,
                                    const QuantizedWay &columns,
                                    bool isTogether) {
  return std::min(columnsOfThread(rows.what, rows.storage, isTogether),
                  columnsOfThread(columns.what, columns.storage, isTogether));
}

/// CTAs have numbers along rows of tiles, then along columns and matrices.
static Tile tileOf(Emitter &e, const QuantizeArguments &arguments,
                   Value number) {
  Type element = cast<GlobalType>(arguments.x.getType()).getElementType();
  int64_t bits = element.getIntOrFloatBitWidth();
  constexpr int64_t kPaddingBits = 128;
  Tile tile;
  tile.pitch = kTileExtent + kPaddingBits / bits;
  tile.shared = SharedAllocOp::create(
      e,
      SharedType::get(e.getContext(), {1, kTileExtent, tile.pitch}, element,
                      bits, hw::Swizzle::None),
      /*offset=*/IntegerAttr());
  Value extent = e.i32(kTileExtent);
  auto tiles = [&](Value size) -> Value {
    return arith::AddIOp::create(
        e,
        arith::DivUIOp::create(e, arith::AddIOp::create(e, size, e.i32(-1)),
                               extent),
        e.i32(1));
  };
  auto next = [&](Value size) -> Value {
    Value count = tiles(size);
    Value place = arith::RemUIOp::create(e, number, count);
    number = arith::DivUIOp::create(e, number, count);
    return arith::MulIOp::create(e, place, extent);
  };
  tile.column = next(arguments.k);
  tile.row = next(arguments.rows);
  tile.matrix = number;
  return tile;
}

static void buildCta(ImplicitLocOpBuilder &b, const QuantizedWay &rows,
                     const QuantizedWay &columns, Value number) {
  Emitter e(b.getLoc(), b);
  Tile tile = tileOf(e, rows.arguments, number);
  tile.columnsOfThread =
      columnsOfThread(rows, columns, bool(rows.arguments.workspace));
  Value thread = arith::IndexCastUIOp::create(
      e, e.getI32Type(), gpu::ThreadIdOp::create(e, gpu::Dimension::x));
  RowsOfTile(rows, b, tile).quantizeTile(thread);
  gpu::BarrierOp::create(e);
  ColumnsOfTile(columns, b, tile).quantizeTile();
}

void blockscale::buildBothWays(ImplicitLocOpBuilder &b,
                               const QuantizedWay &rows,
                               const QuantizedWay &columns) {
  Emitter e(b.getLoc(), b);
  const QuantizeArguments &arguments = rows.arguments;
  if (!arguments.workspace) {
    Value number = arith::IndexCastUIOp::create(
        e, e.getI32Type(), gpu::BlockIdOp::create(e, gpu::Dimension::x));
    return buildCta(b, rows, columns, number);
  }
  BlockQuantizer quantizer(
      e, rows.what, rows.storage,
      {arguments.rows, Value(), arguments.k, arguments.batch},
      getTarget(b.getInsertionBlock()->getParentOp()));
  GridMaxima maxima(e, arguments, kColumnThreads);
  maxima.find(quantizer);
  Value tiles = quantizer.extentOf(tilesOf(rows.storage), e.getI32Type());
  maxima.forEachCta(tiles, /*usesShared=*/true, [&](Value number) {
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPoint(number.getParentBlock()->getTerminator());
    buildCta(b, rows, columns, number);
  });
  maxima.leave();
}
