//===- Numbers.h - narrow numbers in arith ----------------------*- C++ -*-===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// How numbers become narrow ones, one at a time, as ops of `arith`: what
// `blockscale.quantize` means for any target, and what kernels compute.
//
//===----------------------------------------------------------------------===//

#ifndef BLOCKSCALE_DIALECT_BLOCKSCALE_IR_NUMBERS_H
#define BLOCKSCALE_DIALECT_BLOCKSCALE_IR_NUMBERS_H

#include "blockscale/Dialect/Blockscale/IR/Blockscale.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"

namespace blockscale {

/// Short names for the arithmetic that element-wise code is made of.
struct Emitter : mlir::ImplicitLocOpBuilder {
  using ImplicitLocOpBuilder::ImplicitLocOpBuilder;

  mlir::Value index(int64_t value);
  mlir::Value i32(int64_t value);
  mlir::Value f32(float value);
  /// Bits of an f32, and back.
  mlir::Value bits(mlir::Value value);
  mlir::Value fromBits(mlir::Value value);
  /// Quotient and remainder of an index by a positive constant.
  mlir::Value quotient(mlir::Value value, int64_t divisor);
  mlir::Value remainder(mlir::Value value, int64_t divisor);
  mlir::Value ceilQuotient(mlir::Value value, int64_t divisor);
  /// `value`, an f32, f16 or bf16, as f32; and f32 rounded to such a type.
  mlir::Value widen(mlir::Value value);
  mlir::Value narrow(mlir::Value value, mlir::Type type);
};

/// The bits of an f32 that are those of a tf32.
inline constexpr int64_t kTF32Bits = ~int64_t(0x1fff);

/// The largest finite value of a float or of a fixed-point integer type.
float largestValue(mlir::Type type);

/// How an element is rounded.
struct ElementRounder {
  ElementRounding mode = ElementRounding::Even;
  /// Of stochastic rounding: the f32 in [0, 1) that is added to a fraction.
  mlir::Value random;
};

/// Bits of the random number of an element, and how many neighbours have theirs
/// from one word of 64 bits, the first in its low bits.
inline constexpr int64_t kRandomBits = 16, kSharedRandom = 4;

/// The random number, a multiple of 2^-16 in [0, 1), that `blockscale.quantize`
/// describes, of the number of an element, an index.
mlir::Value randomFraction(Emitter &emitter, uint64_t seed, mlir::Value number);

/// The words, i64, of `count` groups of such neighbours from number `group`, an
/// i64, on.
llvm::SmallVector<mlir::Value> randomWords(Emitter &emitter, uint64_t seed,
                                           mlir::Value group, int64_t count);

/// The f32 `value` in `type`, rounded and saturating. NaN becomes NaN, or the
/// largest value of a float without NaN, or integer 0. Types of more than 8
/// bits are rounded to nearest, ties to even.
mlir::Value encode(Emitter &emitter, mlir::Value value, mlir::Type type,
                   const ElementRounder &rounder = {});

/// What an MX integer counts in: the step below its sign and integer bit.
float fixedPointStep(mlir::Type type);

/// Of f32: whether `value` is NaN; one of two values; `value` between -limit
/// and limit, where NaN becomes a limit.
mlir::Value isNaN(Emitter &emitter, mlir::Value value);
mlir::Value select(Emitter &emitter, mlir::Value condition, mlir::Value yes,
                   mlir::Value no);
mlir::Value clamp(Emitter &emitter, mlir::Value value, float limit);

/// `encode` of a float of at most 8 bits, the code in the low bits of an i32.
mlir::Value encodeBits(Emitter &emitter, mlir::Value value,
                       mlir::FloatType type,
                       const ElementRounder &rounder = {});

/// The low bits of an i32 as a number of `type`.
mlir::Value fromCode(Emitter &emitter, mlir::Value code, mlir::FloatType type);

/// The largest value of an element of a tensor with scales, and such an element
/// of the f32 `value` as `encode` gives it: integers count in 1 but under
/// powers of two.
float largestElement(ScaledTensorType type);
/// The largest one but for that.
float secondLargestElement(ScaledTensorType type);
mlir::Value encodeElement(Emitter &emitter, mlir::Value value,
                          ScaledTensorType type,
                          const ElementRounder &rounder = {});

/// What the square of an element's error counts in, and is at most; and the
/// factor of the error under the first scale that makes it count so.
inline constexpr float kErrorUnits = 1 << 20;
float errorFactor(ScaledTensorType type);

/// Whether of a tile under `min_error` the largest magnitude alone decides, as
/// by the rule `mid_max`: so it is under powers of two where elements have so
/// many binades that the errors of subnormals do not count. All but those that
/// saturate under the smaller scale err alike under both.
bool largestDecides(ScaledTensorType type);

/// What an element adds, as i32, to the error that the rule `min_error` of
/// `blockscale.quantize` compares: `quotient` is the f32 |x / s| and `ratio`
/// the scale `s` over the first scale.
mlir::Value squaredError(Emitter &emitter, mlir::Value quotient,
                         mlir::Value ratio, ScaledTensorType type);

/// The integer next to the f32 `value`, as i32; at most 2^22 in magnitude, 0
/// for NaN.
mlir::Value roundToInteger(Emitter &emitter, mlir::Value value,
                           const ElementRounder &rounder);

/// x * y and x - y of f32; finite ones give the largest f32 where the result is
/// beyond it.
mlir::Value saturatedProduct(Emitter &emitter, mlir::Value x, mlir::Value y);
mlir::Value saturatedDifference(Emitter &emitter, mlir::Value x, mlir::Value y);

/// The f32 `value` rounded to f16 or bf16; a finite one stays finite.
mlir::Value narrowSaturating(Emitter &emitter, mlir::Value value,
                             mlir::Type type);

/// The f32 `value` as an element in memory of a tensor without scales: as
/// encode(), but integers mean their integer value and use their whole range,
/// and a tf32 is an f32 with low bits of zero.
mlir::Value encodeUnscaled(Emitter &emitter, mlir::Value value, mlir::Type type,
                           const ElementRounder &rounder = {});

} // namespace blockscale

#endif // BLOCKSCALE_DIALECT_BLOCKSCALE_IR_NUMBERS_H
