//===- ErrorSum.h - how far a block of codes is off -------------*- C++ -*-===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef BLOCKSCALE_LIB_DIALECT_BLOCKSCALE_TRANSFORMS_KERNELS_ERRORSUM_H
#define BLOCKSCALE_LIB_DIALECT_BLOCKSCALE_TRANSFORMS_KERNELS_ERRORSUM_H

#include "NumberParts.h"

#include <array>

namespace blockscale {

/// What the rule `min_error` compares: the sum of what the elements of a block
/// add to the error of its tile under one scale, as `squaredError` has it.
///
/// floor(x^2) of each element is added to an f32 whose last bit is worth 1, and
/// rounded towards zero: so that one instruction takes the floor and adds, and
/// the sum stands in the low bits. Eight of at most 2^20 fit between 2^23 and
/// 2^24. A power of two in x moves that f32 instead of being multiplied by.
class ErrorSum {
public:
  /// Of the elements of `type`; `isPacked` says whether the chip multiplies two
  /// numbers at once.
  ErrorSum(Emitter &emitter, ScaledTensorType type, bool isPacked);

  /// A scale whose errors are added up.
  struct Candidate {
    /// What elements are multiplied by.
    mlir::Value inverse;
    /// The scale over the first one: a power of two, or that of a float scale,
    /// which is null for the first one itself.
    float power = 1;
    mlir::Value ratio = {};
    /// The largest magnitude of the tile, if an error may be beyond the bound.
    mlir::Value largest = {};
  };

  /// The sum, an i32, and the codes to nearest even: those of two elements
  /// each, of 4 bits those of eight.
  struct Found {
    mlir::Value sum;
    llvm::SmallVector<mlir::Value> codes;
  };
  Found find(llvm::ArrayRef<mlir::Value> values, const Candidate &candidate);

  /// Whether the second of two float scales of 8 bits has the smaller sum, an
  /// i1, and the codes under both. `scales` are the two, of which the first is
  /// not the larger one; under a first scale of 0 any answer will do.
  struct Comparison {
    mlir::Value isSecond;
    llvm::SmallVector<mlir::Value> first, second;
  };
  Comparison compare(llvm::ArrayRef<mlir::Value> values, const Candidate &first,
                     const Candidate &second,
                     std::array<mlir::Value, 2> scales);

private:
  using Part = NumberParts::Part;

  llvm::SmallVector<mlir::Value> quotientsOf(llvm::ArrayRef<mlir::Value> values,
                                             mlir::Value inverse);
  /// Codes, and errors in parts.
  llvm::SmallVector<Part> errorsOf(llvm::ArrayRef<mlir::Value> values,
                                   mlir::Value inverse,
                                   llvm::SmallVectorImpl<mlir::Value> &codes);
  mlir::Value squaresOf(llvm::ArrayRef<Part> errors, mlir::Value factor);
  mlir::Value sumOf(llvm::ArrayRef<Part> errors, const Candidate &candidate);
  mlir::Value boundedSumOf(llvm::ArrayRef<Part> errors,
                           const Candidate &candidate);
  mlir::Value total(llvm::SmallVector<mlir::Value> counts);

  Emitter &e;
  mlir::Type element;
  float largestElement, factor;
  NumberParts parts;
};

} // namespace blockscale

#endif // BLOCKSCALE_LIB_DIALECT_BLOCKSCALE_TRANSFORMS_KERNELS_ERRORSUM_H
