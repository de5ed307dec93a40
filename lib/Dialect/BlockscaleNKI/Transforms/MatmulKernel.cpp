//===- MatmulKernel.cpp - the loops of a product --------------------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// for each matrix, block of rows, block of columns:
//   for each tile of K: load both operands, one product per tile of the block
//   for each tile of the block: epilogue
//
// A block has `block_m` tiles along M, which share the columns loaded, and
// along N as many tiles as instructions run side by side: one, or 2 or 4 where
// K is so short that an instruction takes 64 or 32 rows of the tensor engine.
//
//===----------------------------------------------------------------------===//

#include "KernelBuilder.h"

#include <numeric>

using namespace mlir;
using namespace blockscale;
using namespace blockscale::nki;

namespace {
/// Sizes of the tiles that a range falls into; the last may be smaller.
SmallVector<int64_t> tilesOf(int64_t total, int64_t tile) {
  SmallVector<int64_t> sizes;
  for (int64_t begin = 0; begin < total; begin += tile)
    sizes.push_back(std::min(tile, total - begin));
  return sizes;
}

int64_t sum(ArrayRef<int64_t> sizes) {
  return std::accumulate(sizes.begin(), sizes.end(), int64_t(0));
}

/// One block of the result.
class BlockEmitter {
public:
  BlockEmitter(KernelBuilder &b, const Product &product, Index matrix,
               Index row, int64_t rows, Index column, int64_t columns)
      : b(b), p(product), matrix(matrix), row(row), rows(rows), column(column),
        rowTile(p.config.getRowTile()),
        rowSizes(tilesOf(stationaryColumns(rows), p.config.getTileM())),
        columnSizes(tilesOf(columns, p.config.getTileN())) {}

  void emit();

private:
  void allocate();
  void emitStep(Index tile, int64_t partitions, bool fixed);
  void emitProducts(Index tile, int64_t partitions, Index slot, bool fixed);
  void emitEpilogues();

  KernelBuilder &b;
  const Product &p;
  Index matrix, row;
  int64_t rows;
  Index column;
  int64_t rowTile;
  SmallVector<int64_t> rowSizes, columnSizes;
  TilePlace a, moving;
  /// Two slots, so that one can be loaded while the other is multiplied.
  int64_t slots = 1;
  /// By tile of rows, then of columns.
  SmallVector<SmallVector<Value>> sums;
};
} // namespace

/// Width of one slot of the moving tile: side by side, each row tile has its
/// own columns.
static int64_t movingColumns(ArrayRef<int64_t> sizes) { return sizes.front(); }

void BlockEmitter::allocate() {
  slots = p.k.steps() > 1 ? 2 : 1;
  // All partitions, or those of the instructions that run side by side.
  int64_t partitions =
      p.k.steps() > 1
          ? kPartitions
          : std::max<int64_t>(
                rowTile == kPartitions ? partitionsFor(p.k.k) : rowTile, 1) *
                columnSizes.size();
  int64_t aColumns = slots * sum(rowSizes);
  int64_t bColumns = slots * movingColumns(columnSizes);
  a.data = b.alloc("a_tile", {partitions, aColumns}, p.a.element, Buffer::Sbuf);
  a.scales = b.alloc("a_scale", {partitions, aColumns}, b.u8(), Buffer::Sbuf);
  moving.data =
      b.alloc("b_tile", {partitions, bColumns}, p.b.element, Buffer::Sbuf);
  moving.scales =
      b.alloc("b_scale", {partitions, bColumns}, b.u8(), Buffer::Sbuf);
  for (int64_t m : rowSizes) {
    sums.emplace_back();
    for (int64_t n : columnSizes)
      sums.back().push_back(b.alloc("acc", {m, n}, b.f32(), Buffer::Psum));
  }
}

void BlockEmitter::emitProducts(Index tile, int64_t partitions, Index slot,
                                bool fixed) {
  bool sideBySide = rowTile != kPartitions;
  auto part = [&](Value buffer, int64_t partition, Index offset,
                  int64_t width) {
    return b.slice(buffer, {b.constant(partition), offset},
                   {partitions, width});
  };
  Index aSlot = b.multiply(slot, sum(rowSizes));
  Index bSlot = b.multiply(slot, movingColumns(columnSizes));
  int64_t offset = 0;
  for (auto [i, m] : llvm::enumerate(rowSizes)) {
    Index aColumn = b.add(aSlot, b.constant(offset));
    for (auto [j, n] : llvm::enumerate(columnSizes)) {
      int64_t partition = sideBySide ? j * rowTile : 0;
      IntegerAttr constantStep, tileRows, tileStart;
      Value step;
      if (fixed)
        constantStep = b.builder.getI64IntegerAttr(*getConstantIntValue(tile));
      else
        step = cast<Value>(tile);
      if (sideBySide) {
        tileRows = b.builder.getI64IntegerAttr(rowTile);
        tileStart = b.builder.getI64IntegerAttr(partition);
      }
      MatmulMXOp::create(b.builder, b.loc, part(a.data, partition, aColumn, m),
                         part(a.scales, partition, aColumn, m),
                         part(moving.data, partition, bSlot, n),
                         part(moving.scales, partition, bSlot, n), sums[i][j],
                         step, constantStep,
                         b.builder.getI64IntegerAttr(p.k.steps()), tileRows,
                         tileStart);
    }
    offset += m;
  }
}

void BlockEmitter::emitStep(Index tile, int64_t partitions, bool fixed) {
  Index slot = b.remainder(tile, slots);
  TilePlace aPlace = a, bPlace = moving;
  aPlace.column = b.multiply(slot, sum(rowSizes));
  bPlace.column = b.multiply(slot, movingColumns(columnSizes));
  Index first = column;
  for (auto [j, n] : llvm::enumerate(columnSizes)) {
    // Each row tile reads its operands from its own partitions.
    aPlace.partition = bPlace.partition =
        rowTile != kPartitions ? j * rowTile : 0;
    b.loadTile(p.a, p.k, matrix, tile, partitions, row, sum(rowSizes), aPlace);
    b.loadTile(p.b, p.k, matrix, tile, partitions, first, n, bPlace);
    first = b.add(first, b.constant(n));
  }
  emitProducts(tile, partitions, slot, fixed);
}

void BlockEmitter::emitEpilogues() {
  int64_t rowOffset = 0;
  for (auto [i, m] : llvm::enumerate(rowSizes)) {
    int64_t columnOffset = 0;
    // The last tile may have a row more than the result.
    int64_t stored = std::min(m, rows - rowOffset);
    for (auto [j, n] : llvm::enumerate(columnSizes)) {
      ResultTile tile{matrix, b.add(row, b.constant(rowOffset)),
                      b.add(column, b.constant(columnOffset)), stored, n};
      Value sum =
          b.slice(sums[i][j], {b.constant(0), b.constant(0)}, {stored, n});
      emitEpilogue(b, p.epilogue, sum, tile, p.m, p.result);
      columnOffset += n;
    }
    rowOffset += m;
  }
}

void BlockEmitter::emit() {
  allocate();
  // A single whole tile of K is code of its own, as is the rest.
  int64_t whole = rowTile == kPartitions ? p.k.fullTiles() : 0;
  b.loop("k", whole, 1, [&](Index tile) {
    emitStep(tile, kPartitions, /*fixed=*/whole == 1);
  });
  if (int64_t rest = p.k.k - whole * ContractionGeometry::kTile)
    emitStep(b.constant(whole),
             rowTile == kPartitions ? partitionsFor(rest) : rowTile,
             /*fixed=*/true);
  emitEpilogues();
}

/// Calls `body` for each block of a range: with an offset and a size that is
/// the same in all turns of the loop.
static void forEachBlock(KernelBuilder &b, StringRef name, int64_t total,
                         int64_t block,
                         function_ref<void(Index, int64_t)> body) {
  int64_t whole = total / block;
  b.loop(name, whole, block, [&](Index offset) { body(offset, block); });
  if (int64_t rest = total % block)
    body(b.constant(whole * block), rest);
}

void blockscale::nki::emitProduct(KernelBuilder &b, const Product &product) {
  int64_t rows = product.config.getTileM() * product.config.getBlockM();
  int64_t columns =
      product.config.getTileN() * (kPartitions / product.config.getRowTile());
  b.loop("matrix", product.batch, 1, [&](Index matrix) {
    forEachBlock(b, "m", product.m, rows, [&](Index row, int64_t blockRows) {
      forEachBlock(b, "n", product.n, columns,
                   [&](Index column, int64_t blockColumns) {
                     BlockEmitter(b, product, matrix, row, blockRows, column,
                                  blockColumns)
                         .emit();
                   });
    });
  });
}
