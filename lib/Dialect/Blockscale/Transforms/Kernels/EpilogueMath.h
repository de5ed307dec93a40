//===- EpilogueMath.h - what becomes of the sums of a product ---*- C++ -*-===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef BLOCKSCALE_LIB_DIALECT_BLOCKSCALE_TRANSFORMS_KERNELS_EPILOGUEMATH_H
#define BLOCKSCALE_LIB_DIALECT_BLOCKSCALE_TRANSFORMS_KERNELS_EPILOGUEMATH_H

#include "KernelFrame.h"

namespace blockscale {

/// Which rows the fragments of an epilogue are of: those of the instruction, or
/// those of D where sums of swapped operands were brought to them.
enum class SumRows { OfInstruction, OfResult };

/// One thread's part of a tile: `count` elements from `column` on of `row`,
/// both in the whole product as the instruction sees it, or in D.
struct EpilogueFragment {
  mlir::Value row, column, count, batch;
  /// The row behind the last one that `row` may be.
  mlir::Value rowEnd;
  /// The elements of K that it sums up, where K is in groups.
  KGroup kGroup;
};

/// Emits D = epilogue(factors * sum, beta * C, bias) for vectors of `width`
/// sums. Each thread finishes sums of one row after another. With pairs even
/// and odd sums part here, so that there is half a vector of everything behind
/// them.
class EpilogueMath {
public:
  EpilogueMath(KernelFrame &frame, int64_t width,
               SumRows rows = SumRows::OfInstruction);

  /// Numbers that are kept for each sum at once, at most.
  static unsigned mostValues(KernelFrame &frame);
  /// Sums that a thread finishes at once; the box of D's tensor map has as many
  /// columns.
  static int64_t widthOf(KernelFrame &frame);

  /// Loads what all sums of the kernel have in common, before its first tile.
  void prepareKernel();
  /// C of the sums at `fragment`, as it lies in memory, and its type.
  mlir::VectorType typeOfC();
  mlir::Value loadCodesOfC(const EpilogueFragment &fragment);
  /// Takes C of the sums that are finished next, as it lies in memory, from
  /// whoever has loaded it.
  void provideC(mlir::Value loaded) { providedC = loaded; }
  /// Loads what all sums of a tile have in common.
  void prepareTile(TilePosition tile);
  /// Loads what all sums of a row of it have in common.
  void prepareRow(TilePosition tile, mlir::Value row);
  /// The place of `width` sums of a tile that start at `row` and `column` of
  /// it.
  EpilogueFragment fragmentAt(TilePosition position, mlir::Value row,
                              mlir::Value column);
  /// The place `distance` columns behind `first` in the same tile.
  static EpilogueFragment behind(KernelBuilder &b, EpilogueFragment first,
                                 int64_t distance);
  /// `fragment`, of `columns`, known from here on: a value each is kept and not
  /// all that they are made of.
  EpilogueFragment known(EpilogueFragment fragment, Extent columns);
  mlir::Value finish(mlir::Value sum, const EpilogueFragment &fragment);
  /// The same of sums that `load` has from one of the fragment's columns on, a
  /// piece after the other where a thread that keeps `kept` elements of D has
  /// no registers for what becomes of all of them at once.
  using LoadSums =
      llvm::function_ref<mlir::Value(int64_t first, int64_t count)>;
  mlir::Value finishPieces(LoadSums load, const EpilogueFragment &fragment,
                           int64_t kept);
  /// The same place counted in elements of D, of which a pair of sums is one.
  EpilogueFragment inResult(EpilogueFragment fragment);
  /// Scales of tiles along K that belong to promoted sums of a thread: where
  /// those of the first block lie. `memory` is null if there are none.
  struct TileScales {
    mlir::Value memory;
    /// The number of the first one and the distance to the next row's, i64; how
    /// many are there; how many a row has along K.
    mlir::Value first, pitch, count, length;
    /// Rows of scales that are loaded at once, and columns that share one.
    int64_t rows = 1, share = 1;
    /// Blocks of K that follow each other under one scale.
    int64_t blocks = 1;
  };
  /// Whether rows have such, and whether columns do.
  bool hasTileScalesOfRow() { return scalesOf(!isSwapped).block != 0; }
  bool hasTileScalesAlong() { return scalesOf(isSwapped).block != 0; }
  /// The one of the thread's row.
  TileScales tileScalesOfRow(TilePosition tile, mlir::Value row);
  TileScales tileScalesOfRow(const EpilogueFragment &fragment);
  /// Those of `width` columns of a tile, from `column` on.
  TileScales tileScalesAlong(TilePosition tile, mlir::Value column);
  TileScales tileScalesAlong(const EpilogueFragment &fragment);
  /// Those of block number `block`, a number if it is one and else a vector, as
  /// f32; zeros unless `isThere`.
  mlir::Value loadTileScales(const TileScales &scales, mlir::Value block,
                             mlir::Value isThere);
  /// What memory has of `size` of them that follow each other along K from
  /// number `number` on, of one row or column, zeros where there are none and
  /// unless `isThere`; and the f32 that these are.
  llvm::SmallVector<mlir::Value> loadTileCodes(const TileScales &scales,
                                               mlir::Value number, int64_t size,
                                               mlir::Value isThere);
  llvm::SmallVector<mlir::Value> tileScalesOfCodes(const TileScales &scales,
                                                   mlir::ValueRange codes);
  /// As elements of D.
  mlir::Value converted(mlir::Value value);
  void store(mlir::Value value, const EpilogueFragment &fragment);

  /// The type of `width` sums in f32.
  mlir::VectorType getVectorType() const { return vectorType; }
  int64_t getWidth() const { return width; }

private:
  /// Whether fragments have rows of D although instructions have columns of it.
  bool isTurned() { return frame.isSwapped() && !isSwapped; }
  /// What the frame knows of rows and columns, of those that fragments have.
  Extent rowsAround(TilePosition tile) {
    return isTurned() ? frame.columnsAround(tile) : frame.rowsAround(tile);
  }
  Extent columnsAround(TilePosition tile) {
    return isTurned() ? frame.rowsAround(tile) : frame.columnsAround(tile);
  }
  mlir::Value firstRow(TilePosition tile) {
    return isTurned() ? frame.firstColumn(tile) : frame.firstRow(tile);
  }
  mlir::Value firstColumn(TilePosition tile) {
    return isTurned() ? frame.firstRow(tile) : frame.firstColumn(tile);
  }
  mlir::Value rowsOfMatrix() { return isTurned() ? frame.columns : frame.rows; }
  mlir::Value columnsOfMatrix() {
    return isTurned() ? frame.rows : frame.columns;
  }
  /// Sums of such a piece.
  int64_t columnsOfPiece(int64_t kept);
  /// The same of `columns` sums of the prepared row.
  EpilogueMath ofColumns(int64_t columns);
  /// The factor of all sums of a batch: alpha and the tensor scales.
  void loadScale(mlir::Value batch);
  /// Batches have tensor scales of their own.
  bool hasOneBatch() { return b.known(frame.op.getBatch()) == 1; }
  /// Scales of the rows of A or of those of B. Threads own rows of A and have
  /// those of B along their vectors, or the other way round where they are
  /// swapped.
  struct RowScales {
    mlir::Value memory;
    /// Rows that share one.
    int64_t group = 1;
    /// Elements of K that share one; 0 if all do.
    int64_t block = 0;
    /// Whether all matrices of the batch have the same: those of the rows that
    /// are in groups, and those of tiles along K that is.
    bool isOfAll = false;
  };
  RowScales scalesOf(bool isA);
  /// The row of A that is gathered as `row` of the product, and whether there
  /// is one, as `row` `isThere`; both i1.
  std::pair<mlir::Value, mlir::Value> gatheredRow(mlir::Value row,
                                                  mlir::Value isThere);
  /// Elements from the fragment's place on, of `columns`.
  mlir::Value countOf(const EpilogueFragment &fragment, Extent columns);
  /// Whether each gathered row has one of `scales`, which are those of the rows
  /// that threads own: of A, unless operands are swapped.
  bool isGathered(const RowScales &scales) {
    return frame.isGathered() && !frame.isSwapped() &&
           scales.group != kMaxProductSize;
  }
  /// The number of the scale of `row`, of `rows` rows of a matrix.
  mlir::Value scaleIndex(const RowScales &scales, mlir::Value batch,
                         mlir::Value row, mlir::Value rows);
  /// The scales of a fragment's elements; null if they have none of their own.
  mlir::Value loadScalesAlong(const EpilogueFragment &fragment);
  /// Sums as numbers of f32 and with their factors.
  mlir::Value scaled(mlir::Value sum, const EpilogueFragment &fragment);
  /// x less the terms of zero points.
  mlir::Value lessTerms(mlir::Value x, const EpilogueFragment &fragment);
  /// x less term number `term`, which is i64.
  mlir::Value lessTerm(mlir::Value x, mlir::Value term,
                       const EpilogueFragment &fragment);
  /// The place of a term of `row`, of `rows` rows of a matrix.
  mlir::Value termIndex(bool isA, mlir::Value batch, mlir::Value term,
                        mlir::Value row, mlir::Value rows);
  /// x * y, or the one that is there; null if neither is.
  mlir::Value product(mlir::Value x, mlir::Value y);
  /// The first, or the second, of each pair of `values`; without pairs all.
  mlir::Value part(mlir::Value values, bool isSecond);
  /// C with its factor.
  mlir::Value loadC(const EpilogueFragment &fragment);
  EpilogueFragment apart(EpilogueFragment fragment);
  mlir::Value loadBias(const EpilogueFragment &fragment);
  /// A vector of equal elements for sums; null for null.
  mlir::Value splat(mlir::Value scalar);
  /// Those of `row`, of `rows` rows of a matrix.
  TileScales tileScales(const RowScales &scales,
                        const EpilogueFragment &fragment, mlir::Value row,
                        mlir::Value rows);
  /// A vector of the width in which each of `values` stands `share` times.
  mlir::Value spread(mlir::Value values, int64_t share);
  std::pair<mlir::Value, mlir::Value>
  placeOf(const TileScales &scales, mlir::Value block, mlir::Value isThere);
  mlir::Value loadScalar(mlir::Value memory, mlir::Value index,
                         mlir::Value count);
  /// Offset of the fragment's first element in D or C, and the distance to the
  /// next one (null where it is 1).
  std::pair<mlir::Value, mlir::Value> place(const EpilogueFragment &fragment);

  KernelFrame &frame;
  KernelBuilder &b;
  int64_t width;
  /// Whether rows of fragments are columns of D.
  bool isSwapped;
  /// Of sums, and of elements of D.
  mlir::VectorType vectorType, resultType;
  /// The factor of all sums, and that of the prepared row; null where there is
  /// none.
  mlir::Value scale, rowScale;
  /// C of the sums that are finished next; null if it is loaded for them.
  mlir::Value providedC;
};

} // namespace blockscale

#endif // BLOCKSCALE_LIB_DIALECT_BLOCKSCALE_TRANSFORMS_KERNELS_EPILOGUEMATH_H
