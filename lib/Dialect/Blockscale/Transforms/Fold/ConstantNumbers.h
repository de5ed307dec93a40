//===- ConstantNumbers.h - narrow numbers of constants ----------*- C++ -*-===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

//
// Codes and values of narrow numbers, one at a time, of what is constant while
// compiling. Written from the docs of `blockscale.quantize` and
// `blockscale.dequantize` on APFloat; shares nothing with the conversion to
// linalg, whose results it equals bit for bit.
//
//===----------------------------------------------------------------------===//

#ifndef BLOCKSCALE_LIB_DIALECT_BLOCKSCALE_TRANSFORMS_FOLD_CONSTANTNUMBERS_H
#define BLOCKSCALE_LIB_DIALECT_BLOCKSCALE_TRANSFORMS_FOLD_CONSTANTNUMBERS_H

#include "blockscale/Dialect/Blockscale/IR/Blockscale.h"

namespace blockscale {

/// What an integer means.
enum class IntegerMeaning : uint8_t {
  /// Its value; the most negative code is used too.
  Whole,
  /// Its value, but the most negative code is not made.
  Symmetric,
  /// A fraction: i8 counts in 1/64, i4 in 1/4. The most negative code is not
  /// made.
  Fraction
};

/// What integers mean as elements of a tensor of that type.
IntegerMeaning meaningOfElements(ScaledTensorType type);

/// How a number is rounded.
struct NumberRounding {
  /// Not `StochasticRS`, which is stochastic rounding by random numbers of its
  /// own.
  ElementRounding mode = ElementRounding::Even;
  /// Of stochastic rounding: what is added to the rest, in [0, 1).
  double random = 0;
};

/// The random number of the element with that index, a multiple of 2^-16.
double randomOf(uint64_t seed, uint64_t index);

/// That of the rounding `stochastic_rs`, of elements of that many bits.
double sharedRandomOf(uint64_t seed, uint64_t index, unsigned bits);

/// The value of a code of `type`, at most 32 bits; a tf32 without its low bits.
float decodeNumber(mlir::Type type, uint32_t code, IntegerMeaning meaning);

/// The code of `value`, saturating. NaN becomes NaN, the largest number of a
/// float without NaN, or integer 0.
uint32_t encodeNumber(mlir::Type type, float value, IntegerMeaning meaning,
                      NumberRounding rounding = {});

/// The code of the nearest number to `value`, which is not negative, or of the
/// one above it where that is smaller; saturating.
uint32_t encodeNumberUpwards(mlir::Type type, float value);

/// `value` in a float: a finite one stays finite, all others stay.
uint32_t encodeFinite(mlir::Type type, float value);

/// The largest finite number.
float largestNumber(mlir::Type type, IntegerMeaning meaning);

/// The ue8m0 scale of a tile whose largest magnitude is `largest`.
uint32_t exponentScaleOf(ScaleRule rule, mlir::Type element, float largest);

/// The integer next to `value`, at most 2^22 - 1 in magnitude; 0 for NaN.
int64_t roundToInteger(float value, NumberRounding rounding);

/// x * y and x - y, at most the largest f32 if both are finite.
float finiteProduct(float x, float y);
float finiteDifference(float x, float y);

} // namespace blockscale

#endif // BLOCKSCALE_LIB_DIALECT_BLOCKSCALE_TRANSFORMS_FOLD_CONSTANTNUMBERS_H
