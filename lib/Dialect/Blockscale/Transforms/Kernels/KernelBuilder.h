//===- KernelBuilder.h - small pieces of code of kernels --------*- C++ -*-===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef BLOCKSCALE_LIB_DIALECT_BLOCKSCALE_TRANSFORMS_KERNELS_KERNELBUILDER_H
#define BLOCKSCALE_LIB_DIALECT_BLOCKSCALE_TRANSFORMS_KERNELS_KERNELBUILDER_H

#include "WarpPlan.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"

namespace blockscale {

/// A place in a ring and the parity of the round: two i32 values.
struct RingPosition {
  mlir::Value slot, parity;
};

/// A place in the rings of stages: that of operands, and that of scales where
/// they have one of their own.
struct StagePosition {
  mlir::Value slot, parity;
  std::optional<RingPosition> scales;

  mlir::Value scaleSlot() const { return scales ? scales->slot : slot; }
  /// The place of A and B alone.
  RingPosition operands() const { return {slot, parity}; }
  /// All of it as values, and back.
  llvm::SmallVector<mlir::Value> values() const;
  static StagePosition of(mlir::ValueRange values);
};

/// A builder that knows arithmetic on i32 values, rings and conditions. What
/// can be folded is.
class KernelBuilder : public mlir::ImplicitLocOpBuilder {
public:
  using ImplicitLocOpBuilder::ImplicitLocOpBuilder;

  mlir::Value constant(int64_t value);
  mlir::Value always();
  /// The value where it is known.
  static std::optional<int64_t> known(mlir::Value value);

  mlir::Value add(mlir::Value x, mlir::Value y);
  mlir::Value sub(mlir::Value x, mlir::Value y);
  mlir::Value mul(mlir::Value x, mlir::Value y);
  mlir::Value mul(mlir::Value x, int64_t factor);
  mlir::Value div(mlir::Value x, mlir::Value divisor);
  mlir::Value div(mlir::Value x, int64_t divisor);
  mlir::Value rem(mlir::Value x, int64_t divisor);
  mlir::Value ceilDiv(mlir::Value x, int64_t divisor);
  mlir::Value shiftLeft(int64_t bits, mlir::Value distance);
  mlir::Value compare(mlir::arith::CmpIPredicate predicate, mlir::Value x,
                      mlir::Value y);
  mlir::Value isEqual(mlir::Value x, int64_t value);
  mlir::Value isNotZero(mlir::Value x);
  mlir::Value select(mlir::Value condition, mlir::Value x, mlir::Value y);
  mlir::Value flip(mlir::Value parity);
  /// Of an index.
  mlir::Value toI32(mlir::Value index);
  mlir::Value toI64(mlir::Value x);

  /// The position that follows in a ring of `size`.
  RingPosition next(RingPosition position, int64_t size);

  /// A ring in shared memory, and barriers that `arrivals` arrivals complete.
  mlir::Value shared(SharedType type);
  mlir::Value barriers(int64_t count, int64_t arrivals);

  /// A role: code of some warps.
  void warps(llvm::StringRef role, WarpRange range,
             llvm::function_ref<void()> body);
  /// Calls `body` where `condition` holds.
  void onlyIf(mlir::Value condition, llvm::function_ref<void()> body);
  /// One of two ways to go on in the rings of stages, in which one is at
  /// `from`.
  StagePosition choose(mlir::Value condition, StagePosition from,
                       llvm::function_ref<StagePosition()> then,
                       llvm::function_ref<StagePosition()> otherwise);
  /// Calls `body` with `begin`, `begin` + 1, ... `end` - 1 and the position in
  /// the rings of stages, of which it returns the next one; `from` is the
  /// first.
  using StageBody =
      llvm::function_ref<StagePosition(mlir::Value, StagePosition)>;
  StagePosition repeat(mlir::Value begin, mlir::Value end, StagePosition from,
                       StageBody body);
  /// The same from 0 on.
  StagePosition repeat(mlir::Value count, StagePosition from, StageBody body) {
    return repeat(constant(0), count, from, body);
  }
};

/// `words`, i32, known from here on: what they are made of is not computed
/// later, where all of that would have to be kept.
llvm::SmallVector<mlir::Value> knownFromHere(KernelBuilder &b,
                                             mlir::ValueRange words);
/// The same of a vector of whole words: these, and the vector.
llvm::SmallVector<mlir::Value> wordsKnownFromHere(KernelBuilder &b,
                                                  mlir::Value value);
mlir::Value vectorKnownFromHere(KernelBuilder &b, mlir::Value value);

} // namespace blockscale

#endif // BLOCKSCALE_LIB_DIALECT_BLOCKSCALE_TRANSFORMS_KERNELS_KERNELBUILDER_H
