//===- QuantizedStore.h - D as codes and scales -----------------*- C++ -*-===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef BLOCKSCALE_LIB_DIALECT_BLOCKSCALE_TRANSFORMS_KERNELS_QUANTIZEDSTORE_H
#define BLOCKSCALE_LIB_DIALECT_BLOCKSCALE_TRANSFORMS_KERNELS_QUANTIZEDSTORE_H

#include "BlockQuantizer.h"
#include "EpilogueMath.h"

namespace blockscale {

/// Quantises what becomes of a thread's sums, a block of a row of D at a time,
/// and stores codes and scales as the next product reads them. The padding of
/// scales is 0: that below D, or below a group of its rows, is written by the
/// threads that own those rows, the one behind the last block of a row together
/// with that block's scale.
class QuantizedStore {
public:
  explicit QuantizedStore(KernelFrame &frame);

  /// Loads the tensor scale of all of the kernel, and that of a tile.
  void prepareKernel();
  void prepareTile(TilePosition tile);
  /// Stores the block of f32 `value`, of which all or nothing lies in D, at
  /// its place in D.
  void store(mlir::Value value, const EpilogueFragment &fragment);

private:
  void loadFactor(mlir::Value matrix);
  /// Whether D is one matrix: it is of groups of rows.
  bool hasOneBatch() {
    return frame.isGrouped() || b.known(frame.op.getBatch()) == 1;
  }
  /// Sizes of D by the symbols of its storage; null what is static.
  llvm::SmallVector<mlir::Value> sizes(Emitter &e);
  /// Blocks of a row of D, i32.
  mlir::Value blocksOfRow(Emitter &e);
  /// The elements as the quantisation reads them, in f32.
  llvm::SmallVector<mlir::Value> elementsOf(Emitter &e, mlir::Value value);
  /// Quantises a block and stores its codes; the code of its scale.
  mlir::Value storeBlock(Emitter &e, mlir::Value value,
                         const BlockPlace &place);
  void storeScale(Emitter &e, const BlockPlace &place, mlir::Value code);
  void storePadding(Emitter &e, const BlockPlace &last);
  /// The row behind those of D, or of the group, that have scales, padding
  /// included.
  mlir::Value endOfScales(Emitter &e);
  /// The row of scales of a row of D.
  mlir::Value rowOfScales(Emitter &e, mlir::Value row);

  KernelFrame &frame;
  KernelBuilder &b;
  QuantizationAttr what;
  QuantizedStorage storage;
  /// The group of the tile, if there are groups.
  RowGroup group;
  /// The magnitude of the tensor scale; null if there is none.
  mlir::Value factor;
};

} // namespace blockscale

#endif // BLOCKSCALE_LIB_DIALECT_BLOCKSCALE_TRANSFORMS_KERNELS_QUANTIZEDSTORE_H
