//===- QuantizeColumns.h - quantising the transpose -------------*- C++ -*-===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef BLOCKSCALE_LIB_DIALECT_BLOCKSCALE_TRANSFORMS_KERNELS_QUANTIZECOLUMNS_H
#define BLOCKSCALE_LIB_DIALECT_BLOCKSCALE_TRANSFORMS_KERNELS_QUANTIZECOLUMNS_H

#include "QuantizeBody.h"
#include "blockscale/HW/ScaleLayout.h"

#include <array>

namespace blockscale {

/// Threads of a CTA, one for each byte of an atom of scales.
inline constexpr int64_t kColumnThreads = hw::kAtomBytes;

/// Blocks that a thread has: of neighbouring columns, and of each one behind
/// the other.
struct ColumnShare {
  int64_t columns = 1, blocks = 1;
};

/// How many columns a thread has: two of numbers of 16 bits, which it loads at
/// once. It has one of tiles of several rows or blocks, where all CTAs find
/// something together, and of long blocks that are rounded at random, for two
/// of which ptxas would spill.
int64_t columnsOfThread(QuantizationAttr what, const QuantizedStorage &storage,
                        bool isTogether);

/// Blocks lie along columns of what memory holds, and so along rows of the
/// result. A CTA has an atom of scales: blocks of as many columns.
class QuantizeColumns : public QuantizeBody {
public:
  QuantizeColumns(QuantizationAttr what, const QuantizedStorage &storage,
                  mlir::ImplicitLocOpBuilder &b,
                  const QuantizeArguments &arguments, ColumnShare share = {});

protected:
  llvm::SmallVector<Digit> digits() const override;
  int64_t threads() const override { return kColumnThreads / share.columns; }
  void buildCta() override;
  TileOrder order() const override { return TileOrder::RowsFirst; }
  bool usesShared() const override { return true; }
  llvm::SmallVector<mlir::Value> load(const BlockPlace &place,
                                      mlir::Value first) override;
  void storeCodes(const BlockPlace &place,
                  llvm::ArrayRef<mlir::Value> words) override;
  void storeScale(const BlockPlace &place, mlir::Value number,
                  mlir::Value code) override;
  /// The numbers of a block of each of two neighbouring columns, of which the
  /// second one is read as the first where `hasNext`, unless null, says that it
  /// is not there.
  virtual std::array<llvm::SmallVector<mlir::Value>, 2>
  loadPair(const BlockPlace &place, mlir::Value hasNext);

  /// Quantises the blocks of the thread, of which `place` is the first one,
  /// puts their codes into shared memory and gives back a byte for each scale,
  /// those of a column behind each other. `hasNextBlock` is null if all are
  /// inside.
  mlir::Value quantizeShare(const BlockPlace &place, mlir::Value hasNextBlock);
  /// Puts these bytes into shared memory.
  void storeShare(mlir::Value scales);

  /// Where the first block of the thread lies in the CTA's atom, or atoms.
  mlir::Value line();
  mlir::Value blockInAtom();
  /// Stores codes and scales of the CTA; those of the atom begin at byte
  /// `atom`, i32, where it is `there`, which null always is.
  void finish(const BlockPlace &place, mlir::Value code, mlir::Value atom,
              mlir::Value there = {});
  /// Puts the bytes of the scales of a column into shared memory.
  void storeScales(const BlockPlace &inAtom, mlir::Value bytes);
  void copyCodes(const BlockPlace &origin);
  void copyScales(mlir::Value atom, mlir::Value there);
  /// Threads that copy the scales of an atom.
  static constexpr int64_t copiesOfAtom() {
    return hw::kAtomBytes / kScaleAccess;
  }

  mlir::Value thread;
  ColumnShare share;

private:
  using Words = llvm::SmallVector<mlir::Value>;

  /// Bytes of the scales of an atom that a thread copies at once.
  static constexpr int64_t kScaleAccess = 16;

  /// Bytes of a line of the atom's blocks in shared memory.
  int64_t pitch() const { return (perLine() + 1) * access; }
  /// Accesses to such a line.
  int64_t perLine() const { return hw::kAtomScales * share.blocks * perBlock; }
  mlir::Value allocate(int64_t bytes);
  mlir::Value nextColumn(const BlockPlace &place);
  Words loadPairs(const BlockPlace &place);
  Words loadApart(const BlockPlace &place, mlir::Value hasNext);
  /// Puts codes of a column of the tile into shared memory.
  void storeLine(mlir::Value line, llvm::ArrayRef<mlir::Value> words);

  /// Bytes that a thread moves at once, and how many of them are a block.
  int64_t access, perBlock;
  mlir::Value codes, scales;
};

} // namespace blockscale

#endif // BLOCKSCALE_LIB_DIALECT_BLOCKSCALE_TRANSFORMS_KERNELS_QUANTIZECOLUMNS_H
