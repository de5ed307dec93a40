//===- KernelFrame.h - what all parts of a kernel know ----------*- C++ -*-===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef BLOCKSCALE_LIB_DIALECT_BLOCKSCALE_TRANSFORMS_KERNELS_KERNELFRAME_H
#define BLOCKSCALE_LIB_DIALECT_BLOCKSCALE_TRANSFORMS_KERNELS_KERNELFRAME_H

#include "Cluster.h"
#include "blockscale/Dialect/Blockscale/IR/StreamK.h"

namespace blockscale {

/// Rows of the source matmul that a tile counts from: of a group the first one,
/// the first row of its scales, and the row behind its last one.
struct RowGroup {
  mlir::Value firstRow, firstScaleRow, end;
};

/// Elements of K that a tile sums up: `first` and how many. Of an empty group
/// some that lie behind all of K, where loads find zeros. Its scales begin at
/// tile `firstTile` along K of those of all groups, and are `tiles` of them;
/// null without scales.
struct KGroup {
  mlir::Value first, size, firstTile, tiles;
};

/// Which output tile: its number along rows and columns of D. Where K is split
/// also which part of K, and the number of the cluster's tile in the grid;
/// where tiles are shared out `part` is the share, and has the units of the
/// tile's K from `firstUnit` to before `endUnit`. Of a grouped product the
/// numbers count from the start of a group, and `batch` is the group.
struct TilePosition {
  mlir::Value row, column, batch;
  mlir::Value part, number;
  mlir::Value firstUnit, endUnit;
  RowGroup group;
  /// Null where K is not in groups.
  KGroup kGroup;
};

/// How the K of tiles is shared out, as code: all tiles of clusters and those
/// that are shared out, the first ones, units of a share, and how many shares
/// have one more.
struct SharedTiles {
  mlir::Value all, shared, unitsOfShare, longerShares;
};

/// From `begin`, null for 0, to before `end`.
struct Extent {
  mlir::Value begin, end;
};

/// A part of K in units of `splitUnit`, from `begin` to before `end`, and
/// whether it is the last one, i1: the one that has what is left over after
/// whole units. Both are null where K is not split. `size` is the K of the
/// tile. Units behind a K that only the host knows are zeros.
struct KPart {
  mlir::Value begin, end, isLast, size;
};

/// KernelFrame::promotionBlock() of a product.
int64_t promotionBlockOf(KernelMatmulOp op);

/// The product that a kernel computes, as the instruction sees it: `rows` of D
/// go to the lanes. Emits the sizes and counts of tiles.
class KernelFrame {
public:
  explicit KernelFrame(KernelMatmulOp op);

  KernelBuilder b;
  KernelMatmulOp op;
  const MmaAttr mma;
  const ScheduleAttr schedule;
  const TileGeometry geometry;
  const WarpPlan warps;

  /// Sizes of D, and what a cluster computes at once, counted along rows, along
  /// columns and altogether.
  mlir::Value rows, columns, rowTiles, columnTiles, tiles;
  ClusterPlace place;

  bool isPair() const { return place.isPair(); }
  bool isCluster() const { return place.isCluster(); }
  bool isSplit() const { return schedule.splits() > 1; }
  /// Whether the parts of K are those of one cluster, or else of several.
  bool isSplitInCluster() const { return geometry.clusterK > 1; }
  bool isSplitOverGrid() const { return isSplit() && !isSplitInCluster(); }
  /// Whether clusters have shares of some tiles, which begin and end inside of
  /// them; units of K that a tile has then, and the most shares with a part of
  /// one, which is not known where groups have the tiles.
  bool isStreamed() const { return schedule.shares() > 1; }
  int64_t unitsOfTile();
  std::optional<int64_t> mostPartsOfTile();
  /// The most tiles that are shared out, and how they are: of groups as found
  /// by `shareOut`, in which `tiles` are all there are.
  int64_t mostSharedTiles();
  SharedTiles sharedTiles();
  void shareOut(mlir::Value tiles);
  /// Elements of K that have scales in registers of their own; 0 where sums
  /// over all of K are taken in tensor memory.
  int64_t promotionBlock() { return promotionBlockOf(op); }
  /// Whether D is stored as codes and scales.
  bool quantizes() { return op.getQuantization().has_value(); }
  /// Whether a pair of columns of the product makes one of D.
  bool hasPairs() { return op.getPairs(); }
  /// Sums that an element of D is made of.
  int64_t sumsOfElement() { return hasPairs() ? 2 : 1; }
  /// Columns of the product that a thread needs together: those of a block of
  /// D, or of an element where that is not quantised.
  int64_t columnsOfBlock();
  /// Whether a thread of the epilogue keeps all that it has of a tile of a
  /// quantised D until its scale is chosen: a float, or one of several blocks.
  bool keepsTiles();
  /// Whether memory holds D transposed.
  bool isSwapped() const { return schedule.getSwapOperands().getValue(); }
  /// Whether sums of swapped operands are brought to threads that have several
  /// columns of a row of D.
  bool bringsRows() { return isSwapped() && (quantizes() || hasPairs()); }
  /// Whether CTAs of a cluster have parts of a tile of a quantised D.
  bool choosesScalesInCluster() {
    return quantizes() && isSwapped() && columnsOfBlock() > hw::kTmemLanes;
  }
  /// Whether the operands have scales in memory, one of them at least.
  bool isScaled() { return op.getSfa() || op.getSfb(); }
  /// Whether one of them has scales of 1 that the kernel stores itself.
  bool hasScalesOfOne() { return isScaled() && !(op.getSfa() && op.getSfb()); }
  bool isSparse() { return static_cast<bool>(op.getMetadata()); }
  /// Whether runs of rows of the source matmul have matrices of their own.
  bool isGrouped() { return static_cast<bool>(op.getOffsets()); }
  /// Whether memory says how many rows of each matrix of the source's A are
  /// there.
  bool isMasked() { return static_cast<bool>(op.getRowCounts()); }
  /// Whether its rows are rows of its A by number.
  bool isGathered() { return static_cast<bool>(op.getRowNumbers()); }
  /// Whether only memory says which rows a matrix of B is for.
  bool hasGroupsOfRows() { return isGrouped() || isMasked(); }
  /// Whether runs of its columns have a matrix of D each.
  bool isGroupedAlongK() { return static_cast<bool>(op.getKOffsets()); }
  /// Elements that these end at multiples of; whether the kernel sees to that,
  /// as it does where that is more than an instruction, and so has whole parts
  /// of `unit` elements in each.
  int64_t stepAlongK();
  bool roundsEnds() { return isGroupedAlongK() && stepAlongK() > mma.getK(); }
  bool hasWhole(int64_t unit) {
    return roundsEnds() && stepAlongK() % unit == 0;
  }
  /// Parts of `unit` elements in a K of `size`, of all of it or of a group.
  mlir::Value partsOfK(mlir::Value size, int64_t unit);

  /// Instruction `number` of a row of them, counted from the left.
  MmaAttr instruction(unsigned number) const {
    return mma.with(&MmaAttr::Fields::n, geometry.columns.columnsOf(number));
  }

  /// The part of an output tile that its instruction `number`, counted from
  /// above, computes: a tile of one instruction.
  TilePosition partOf(TilePosition tile, int64_t number);

  /// The first lane of tensor memory that warp number `warp` of the epilogue
  /// reaches: as many share it as the schedule says.
  mlir::Value firstLane(mlir::Value warp);

  /// Of such a part: the first row, or column, of the CTA's part of an output
  /// tile, and of the rows of B that it holds.
  mlir::Value firstRow(TilePosition tile);
  mlir::Value firstColumn(TilePosition tile);
  /// Of B for instruction `number` from the left.
  mlir::Value firstRowOfB(TilePosition tile, unsigned number);

  /// The rows, or columns, of D among which a tile lies: those of its group, or
  /// all.
  Extent rowsAround(TilePosition tile);
  Extent columnsAround(TilePosition tile);
  /// `number`, which counts from the start of `extent`, counted from 0.
  mlir::Value within(Extent extent, mlir::Value number) {
    return extent.begin ? b.add(extent.begin, number) : number;
  }

  /// The part of K that belongs to a tile; without a split all of it.
  KPart partOfK(TilePosition tile);
  /// Whether K is split that only the host knows, so that parts may lie behind
  /// it.
  bool isSplitLate() { return isSplit() && !b.known(op.getK()); }

  /// A barrier of all threads that can reach this CTA's memory.
  void synchronize();

  /// Before all roles: lets warps that do not store pass on registers to those
  /// that do, where these need them.
  void passRegisters();
  /// In the role that stores: takes them.
  void takeRegisters();
  /// Registers that a thread has that stores.
  int64_t registersOfStorer() const;

  /// Whether what a CTA of a cluster does reaches the others with its sums
  /// only, so that nobody but its epilogue has to know that they run.
  bool meetsLate();
  /// Lets all warps of the CTA, and of those that loads reach, know what was
  /// initialised before.
  void begin();
  /// Behind begin(): waits for the other CTAs where that did not.
  void awaitCluster();
  /// Whether the epilogue lets the cluster end when it has read its last sums,
  /// and stores them meanwhile.
  bool leavesEarly();
  /// In the epilogue, behind its last sums, where it does.
  void leave();
  /// Behind the last use of what other warps and CTAs read and write.
  void end();

private:
  /// Of a product without groups.
  StreamedTiles streamedTiles();
  /// Part number `part` of such a K, in units of `unit` elements.
  KPart partOfLateK(mlir::Value part, int64_t unit);

  /// Of groups, behind shareOut().
  std::optional<SharedTiles> sharedTilesOfGroups;
};

} // namespace blockscale

#endif // BLOCKSCALE_LIB_DIALECT_BLOCKSCALE_TRANSFORMS_KERNELS_KERNELFRAME_H
