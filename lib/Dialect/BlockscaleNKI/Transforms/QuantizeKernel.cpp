//===- QuantizeKernel.cpp - values to packed elements in HBM --------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Tiles of K by up to 512 rows are loaded with four consecutive k of a row side
// by side in one partition, so that quantize_mx's groups, 8 partitions by 4
// values, are 32 consecutive k.
//
//===----------------------------------------------------------------------===//

#include "KernelBuilder.h"

using namespace mlir;
using namespace blockscale;
using namespace blockscale::nki;

/// Rows of the source in one tile.
static constexpr int64_t kRows = 512;

namespace {
class QuantizeEmitter {
public:
  QuantizeEmitter(KernelBuilder &b, Value source, int64_t rows,
                  const ContractionGeometry &k, const PackedMatrix &to)
      : b(b), source(source), rows(rows), k(k), to(to) {}

  /// `count` rows of the source into `columns` columns of the result.
  void emitRows(Index matrix, Index row, int64_t count, int64_t columns);

private:
  void emitTile(Index matrix, Index tile, int64_t length, int64_t partitions,
                Index row, int64_t count, int64_t columns);

  KernelBuilder &b;
  Value source;
  int64_t rows;
  const ContractionGeometry &k;
  const PackedMatrix &to;
};
} // namespace

void QuantizeEmitter::emitTile(Index matrix, Index tile, int64_t length,
                               int64_t partitions, Index row, int64_t count,
                               int64_t columns) {
  Type element = cast<BufferType>(source.getType()).getElementType();
  Value values =
      b.alloc("x_tile", {partitions, columns, kPack}, element, Buffer::Sbuf);
  int64_t used = length / kPack;
  if (used != partitions || count != columns)
    MemsetOp::create(b.builder, b.loc, values, 0);
  Index first = b.add(b.multiply(b.add(b.multiply(matrix, rows), row), k.k),
                      b.multiply(tile, ContractionGeometry::kTile));
  b.copy(
      b.access(source, first, {kPack, k.k, 1}, {used, count, kPack}, element),
      b.slice(values, {b.constant(0), b.constant(0), b.constant(0)},
              {used, count, kPack}));
  TilePlace place;
  place.column = b.constant(0);
  place.data =
      b.alloc("x_data", {partitions, columns}, to.element, Buffer::Sbuf);
  place.scales =
      b.alloc("x_scale", {partitions, columns}, b.u8(), Buffer::Sbuf);
  auto flat = BufferType::get({partitions, columns * int64_t(kPack)}, element,
                              Buffer::Sbuf);
  QuantizeMXOp::create(b.builder, b.loc,
                       ReshapeOp::create(b.builder, b.loc, flat, values),
                       place.data, place.scales);
  b.storeTile(place, k, matrix, tile, partitions, row, columns, to);
}

void QuantizeEmitter::emitRows(Index matrix, Index row, int64_t count,
                               int64_t columns) {
  b.loop("k", k.fullTiles(), 1, [&](Index tile) {
    emitTile(matrix, tile, ContractionGeometry::kTile, kPartitions, row, count,
             columns);
  });
  if (k.tail())
    emitTile(matrix, b.constant(k.fullTiles()), k.tail(), k.tailPartitions(),
             row, count, columns);
}

void blockscale::nki::emitQuantize(KernelBuilder &b, Value source,
                                   int64_t batch, int64_t rows,
                                   const ContractionGeometry &k,
                                   const PackedMatrix &to) {
  QuantizeEmitter emitter(b, source, rows, k, to);
  b.loop("matrix", batch, 1, [&](Index matrix) {
    int64_t whole = rows / kRows, rest = rows % kRows;
    b.loop("r", whole, kRows,
           [&](Index row) { emitter.emitRows(matrix, row, kRows, kRows); });
    // The padding of the last tile comes along.
    if (int64_t columns = to.columns - whole * kRows)
      emitter.emitRows(matrix, b.constant(whole * kRows), rest, columns);
  });
}
