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

namespace blockscale {

/// Threads of a CTA, one for each byte of an atom of scales.
inline constexpr int64_t kColumnThreads = hw::kAtomBytes;

/// Blocks lie along columns of what memory holds, and so along rows of the
/// result. A CTA has an atom of scales: blocks of as many columns.
class QuantizeColumns : public QuantizeBody {
public:
  /// `blocksOfThread` says how many a thread has, one behind the other.
  QuantizeColumns(QuantizationAttr what, const QuantizedStorage &storage,
                  mlir::ImplicitLocOpBuilder &b,
                  const QuantizeArguments &arguments,
                  int64_t blocksOfThread = 1);

protected:
  llvm::SmallVector<Digit> digits() const override;
  int64_t threads() const override { return kColumnThreads; }
  TileOrder order() const override { return TileOrder::RowsFirst; }
  bool usesShared() const override { return true; }
  llvm::SmallVector<mlir::Value> load(const BlockPlace &place,
                                      mlir::Value first) override;
  void storeCodes(const BlockPlace &place,
                  llvm::ArrayRef<mlir::Value> words) override;
  void storeScale(const BlockPlace &place, mlir::Value number,
                  mlir::Value code) override;

  /// Where the first block of the thread lies in the CTA's atom, or atoms.
  mlir::Value line();
  mlir::Value blockInAtom();
  /// Stores codes and scales of the CTA; those of the atom begin at byte
  /// `atom`, i32, where it is `there`, which null always is.
  void finish(const BlockPlace &place, mlir::Value code, mlir::Value atom,
              mlir::Value there = {});
  /// The same of the bytes of the scales of a thread, which all are there.
  void storeScales(const BlockPlace &inAtom, mlir::Value bytes);
  void copyCodes(const BlockPlace &origin);
  void copyScales(mlir::Value atom, mlir::Value there);
  /// Threads that copy the scales of an atom.
  static constexpr int64_t copiesOfAtom() {
    return hw::kAtomBytes / kScaleAccess;
  }

  mlir::Value thread;

private:
  /// Bytes of the scales of an atom that a thread copies at once.
  static constexpr int64_t kScaleAccess = 16;

  /// Bytes of a line of the atom's blocks in shared memory.
  int64_t pitch() const { return (perLine() + 1) * access; }
  /// Accesses to such a line.
  int64_t perLine() const {
    return hw::kAtomScales * blocksOfThread * perBlock;
  }
  mlir::Value allocate(int64_t bytes);

  int64_t blocksOfThread;
  /// Bytes that a thread moves at once, and how many of them are a block.
  int64_t access, perBlock;
  mlir::Value codes, scales;
};

} // namespace blockscale

#endif // BLOCKSCALE_LIB_DIALECT_BLOCKSCALE_TRANSFORMS_KERNELS_QUANTIZECOLUMNS_H
