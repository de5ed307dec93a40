//===- Geometry.h - sizes that follow from a schedule -----------*- C++ -*-===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef BLOCKSCALE_LIB_DIALECT_BLOCKSCALE_TRANSFORMS_KERNELS_GEOMETRY_H
#define BLOCKSCALE_LIB_DIALECT_BLOCKSCALE_TRANSFORMS_KERNELS_GEOMETRY_H

#include "blockscale/Dialect/Blockscale/IR/Blockscale.h"
#include "blockscale/HW/Memory.h"
#include "blockscale/HW/ScaleLayout.h"
#include "blockscale/HW/Target.h"
#include "blockscale/HW/TensorMap.h"
#include "blockscale/HW/TileColumns.h"

namespace blockscale {

/// One operand's part of a CTA's stage, in the operand's own terms.
struct OperandGeometry {
  /// The canonical tile of one stage in shared memory.
  hw::OperandTile tile;
  hw::TensorMapDataType dataType;
  /// Boxes that fill a stage: 128 bytes of rows of an MN-major operand,
  /// 128-byte columns of a K-major one.
  int64_t boxes = 1;
  /// CTAs that share the part, and slices that they load it in, a box of each
  /// group being a slice.
  int64_t sharers = 1, slices = 1;
  /// Boxes above each other of a K-major operand: the first ones of all groups
  /// come before the second ones.
  int64_t rowBoxes = 1;
  /// Rows in a box, and elements along K.
  int64_t boxRows = 0;
  int64_t boxK = 0;
  /// Bytes that TMA reports for one stage.
  int64_t countedBytes = 0;
  /// Groups of 128 rows of scales; 0 without scales. A box has so many.
  int64_t scaleGroups = 0, groupsOfScaleBox = 0;
  /// Whether a stage has them, or else they are all 1.
  bool loadsScales = true;
};

/// Everything about a kernel's tiles that is not a free choice: it follows
/// from a complete instruction and schedule, and the tensor memory of a chip.
struct TileGeometry {
  /// `a` is the part of one instruction of a row of them, `b` that of the first
  /// one, with the scales of all.
  OperandGeometry a, b;
  /// The parts of B of all instructions beside each other.
  llvm::SmallVector<OperandGeometry, 2> partsOfB;
  /// Groups of 128 rows of B's scales in each of their regions: one region for
  /// all instructions, or one for each where the hardware says how far apart
  /// words lie, or where they are copied by halves.
  llvm::SmallVector<int64_t, 2> scaleGroupsOfB;
  /// Rows of one instruction, columns of a tile, and instructions above each
  /// other that share B: together they have the rows of the schedule's
  /// 'tile_m'.
  int64_t tileM, tileN, rowInstructions;
  /// Columns of instructions beside each other that share A.
  hw::TileColumns columns;
  /// Whether each of them has an accumulator of its own.
  bool hasHalves;
  /// Accumulators of one instruction each, or of two that are complete
  /// together; a tile takes `accumulatorsOfTile`.
  int64_t tileK, stages, accumulators;
  /// Stages of scales: fewer than those of the operands where they have a ring
  /// of their own.
  int64_t scaleStages;
  /// CTAs that execute an instruction together, CTAs of a cluster along rows
  /// and columns of D, and parts of K that it computes.
  int64_t ctaGroup, clusterM, clusterN, clusterK;
  /// Scales per row in a stage, and 32-bit words of them.
  int64_t scalesPerRow = 0, scaleWords = 0;
  /// Words of scales per row that tensor memory holds: those of a stage, or
  /// with K = 96 so many that the walk over the stages of a group wraps around
  /// to words that have been read.
  int64_t scaleRegionWords = 0;
  /// Columns of tensor memory that the scales of A, of one instruction, and of
  /// B take.
  int64_t sfaColumns = 0, sfbColumns = 0;
  /// Tiles of 128 rows by 16 bytes of sparsity metadata in a stage; 0 if dense.
  int64_t metadataTiles = 0;
  /// Columns of the metadata.
  int64_t metadataColumns = 0;
  /// Columns that neighbouring accumulators share; 0 if there is room, or if
  /// they belong to one tile.
  int64_t overlap;
  /// Whether the scales of A lie one row to a lane, and in memory in tiles of
  /// 128 rows by 16 bytes.
  bool isRowPerLane;

  TileGeometry(MmaAttr mma, ScheduleAttr schedule, hw::Chip chip,
               bool isRowPerLane = false);

  /// Fills in what concerns scales.
  void setScales(MmaAttr mma);

  /// Rows of an instruction in one CTA, and rows of B that it holds.
  int64_t rowsPerCta() const { return tileM / ctaGroup; }
  int64_t columnsPerCta(unsigned instruction) const {
    return columns.columnsOf(instruction) / ctaGroup;
  }
  int64_t clusterSize() const { return clusterM * clusterN * clusterK; }
  /// CTAs of a cluster that compute one part of K.
  int64_t ctasOfPart() const { return clusterM * clusterN; }
  /// Columns of a tile whose sums one of the CTAs that compute it adds up,
  /// which are all of them unless a cluster has several parts of K; and how
  /// many CTAs have some.
  int64_t ownedColumns() const;
  int64_t owners() const { return tileN / ownedColumns(); }
  /// Columns that a CTA has together when it brings swapped sums to rows of D.
  int64_t broughtColumns() const {
    return clusterK > 1 ? ownedColumns() : accumulatorColumns();
  }
  /// Bytes of shared memory that sums of other CTAs come to.
  int64_t inboxBytes() const;
  /// Tiles of rows of A's scales in a stage, if there are such.
  int64_t scaleRowTiles() const { return scalesPerRow / hw::kRowTileScales; }
  /// Rows of the output tile of a CTA or pair.
  int64_t rowsOfTile() const { return tileM * rowInstructions; }
  /// Output tiles of a cluster along the rows of D.
  int64_t clusterTilesM() const { return clusterM / ctaGroup; }
  /// How many MMAs, of this CTA or pair and others, read what a CTA loads.
  int64_t stageReaders() const { return clusterTilesM() + clusterN - 1; }

  bool hasScaleRing() const { return scaleStages != stages; }

  /// Bytes of shared memory of one stage of a CTA, and of the scales in it.
  int64_t stageBytes() const;
  int64_t scaleBytes() const;
  /// Bytes that one stage's barrier expects: those of both CTAs of a pair.
  int64_t countedBytes() const;
  /// Those of one operand in a CTA, without scales.
  int64_t countedBytesOfA() const { return rowInstructions * a.countedBytes; }
  int64_t countedBytesOfB() const;
  /// Bytes of scales and metadata in one stage.
  int64_t sideBytes() const;
  /// Columns of tensor memory that all of it takes, were there columns without
  /// end.
  int64_t tensorColumns() const;
  /// Accumulators that a tile takes, one after the other, and columns of one.
  int64_t accumulatorsOfTile() const {
    return hasHalves ? columns.instructions() : rowInstructions;
  }
  int64_t accumulatorColumns() const {
    return hasHalves ? columns.first : tileN;
  }
  /// Distance in columns from one accumulator to the next.
  int64_t accumulatorStride() const { return accumulatorColumns() - overlap; }
  /// Whether the accumulators that fit lie at least so far apart that those of
  /// instructions beside each other find their places.
  bool hasRoomToOverlap() const { return overlap < tileN; }
  /// Columns that the epilogue loads at once if it needs up to `values` values
  /// for each: fewer where a thread would run out of registers, or owns fewer.
  int64_t epilogueColumns(unsigned values) const;
};

/// Whether a kernel reads scales through `map` in tiles of rows, which have an
/// extent for the bytes and one for the rows of a tile; atoms have one for
/// both.
bool isRowTileMap(TensorMapType map);

/// Bytes of shared memory that a kernel needs besides its stages, rounded up:
/// barriers and the tensor-memory address.
inline constexpr int64_t kBarrierReserve = 1024;

} // namespace blockscale

#endif // BLOCKSCALE_LIB_DIALECT_BLOCKSCALE_TRANSFORMS_KERNELS_GEOMETRY_H
