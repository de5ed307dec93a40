//===- QuantizeRows.h - quantising whole rows -------------------*- C++ -*-===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef BLOCKSCALE_LIB_DIALECT_BLOCKSCALE_TRANSFORMS_KERNELS_QUANTIZEROWS_H
#define BLOCKSCALE_LIB_DIALECT_BLOCKSCALE_TRANSFORMS_KERNELS_QUANTIZEROWS_H

#include "QuantizeBody.h"

namespace blockscale {

/// One scale for all of a row, which a warp has, or several.
class QuantizeRows : public QuantizeBody {
public:
  using QuantizeBody::QuantizeBody;

  void build();

protected:
  /// The bits of the largest magnitude, i32, of each `step`th block from
  /// `first` on.
  mlir::Value largestOfBlocks(const BlockPlace &first, int64_t step);
  /// Stores the codes of these.
  void encodeBlocks(const BlockPlace &first, int64_t step,
                    const BlockScaling &scaling);

private:
  /// Whether each thread has one block at most, which it keeps.
  bool readsOnce() const;
  mlir::Value blocksOfRow() {
    return extentOf(storage.k.floorDiv(storage.block), e.getI32Type());
  }
  void inCase(mlir::Value condition, llvm::function_ref<void()> body);
  /// What thread `lane` of a row does; `stores` says whether there is such a
  /// row, null if nobody else comes.
  void quantizeRow(mlir::Value number, mlir::Value lane, mlir::Value stores);
  /// Calls `body` with each of these, and with what it gave back for the one
  /// before, `start` for the first; null if nothing.
  mlir::Value forBlocks(
      const BlockPlace &row, int64_t step, mlir::Value start,
      llvm::function_ref<mlir::Value(const BlockPlace &, mlir::Value)> body);
};

} // namespace blockscale

#endif // BLOCKSCALE_LIB_DIALECT_BLOCKSCALE_TRANSFORMS_KERNELS_QUANTIZEROWS_H
