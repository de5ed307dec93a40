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

/// One scale for all of a row, which a warp has.
class QuantizeRows : public QuantizeBody {
public:
  using QuantizeBody::QuantizeBody;

  void build();

private:
  void quantizeRow(mlir::Value number, mlir::Value lane);
  /// Calls `body` with each block of the row that is the lane's, and with what
  /// it gave back for the one before, `start` for the first; null if nothing.
  mlir::Value forBlocks(
      const BlockPlace &row, mlir::Value start,
      llvm::function_ref<mlir::Value(const BlockPlace &, mlir::Value)> body);
};

} // namespace blockscale

#endif // BLOCKSCALE_LIB_DIALECT_BLOCKSCALE_TRANSFORMS_KERNELS_QUANTIZEROWS_H
