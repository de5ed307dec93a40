//===- NumberParts.h - f32 one by one or in pairs ---------------*- C++ -*-===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef BLOCKSCALE_LIB_DIALECT_BLOCKSCALE_TRANSFORMS_KERNELS_NUMBERPARTS_H
#define BLOCKSCALE_LIB_DIALECT_BLOCKSCALE_TRANSFORMS_KERNELS_NUMBERPARTS_H

#include "blockscale/Dialect/Blockscale/IR/Numbers.h"

namespace blockscale {

/// Numbers of f32 in the parts that the chip computes with at once: one number,
/// or two.
class NumberParts {
public:
  using Part = mlir::Value;

  /// `isPacked` says whether the chip multiplies two numbers at once.
  NumberParts(Emitter &emitter, bool isPacked)
      : e(emitter), isPacked(isPacked) {}

  int64_t lanes() const { return isPacked ? 2 : 1; }
  /// The part of `lanes()` numbers.
  Part join(llvm::ArrayRef<mlir::Value> numbers);
  Part splat(mlir::Value number);
  mlir::Value number(Part part, int64_t lane);
  llvm::SmallVector<mlir::Value> numbers(Part part);
  Part times(Part part, mlir::Value factor);
  /// The numbers of a part each times `factor`.
  Part times(llvm::ArrayRef<mlir::Value> numbers, mlir::Value factor) {
    return times(join(numbers), factor);
  }

private:
  Emitter &e;
  bool isPacked;
};

} // namespace blockscale

#endif // BLOCKSCALE_LIB_DIALECT_BLOCKSCALE_TRANSFORMS_KERNELS_NUMBERPARTS_H
