//===- Numbers.h - numbers in element-wise code ---------------- -*- C++
//-*-===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Decoding of narrow numbers, one at a time, in `arith`; how they are encoded
// stands in IR/Numbers.h.
//
//===----------------------------------------------------------------------===//

#ifndef BLOCKSCALE_LIB_CONVERSION_BLOCKSCALETOLINALG_NUMBERS_H
#define BLOCKSCALE_LIB_CONVERSION_BLOCKSCALETOLINALG_NUMBERS_H

#include "blockscale/Dialect/Blockscale/IR/Numbers.h"

namespace blockscale {

/// Turns codes of one type into f32. Made outside the code that decodes, where
/// it puts the table of the type's values.
class Decoder {
public:
  Decoder(Emitter &emitter, mlir::Type type, bool useExtf);

  /// For the elements of a tensor, whose integers count in fractions only under
  /// scales that are powers of two.
  static Decoder ofElements(Emitter &emitter, ScaledTensorType type,
                            bool useExtf);
  /// For the scales of a tensor, which are bytes of ue5m3 where no type has
  /// their numbers.
  static Decoder ofScales(Emitter &emitter, ScaledTensorType type,
                          mlir::Type scales, bool useExtf);
  /// For zero points, a tensor; integers mean their integer value.
  static Decoder ofZeros(Emitter &emitter, mlir::Type zeros, bool useExtf);
  /// For integers that are decoded to i32.
  static Decoder ofIntegers(ScaledTensorType type);

  /// The value of a code of the type (of codebooks an i32 that has the number
  /// of the table, too), as f32 (ofIntegers: i32).
  mlir::Value decode(Emitter &emitter, mlir::Value code) const;
  /// The type of the value.
  mlir::Type numberType() const;

private:
  explicit Decoder(mlir::Type type) : type(type) {}

  mlir::Type type;
  /// Whether integers mean their integer value, and stay integers.
  bool plainIntegers = false, toIntegers = false;
  /// Null where codes are decoded without one; of integers, codes of a format
  /// that no type has, there is none otherwise.
  mlir::Value table;
};

/// The f32 `value`, which is not negative, in `type`: the nearest number, or
/// the one above it where that is smaller than `value`; saturating.
mlir::Value encodeUpwards(Emitter &emitter, mlir::Value value, mlir::Type type);

} // namespace blockscale

#endif // BLOCKSCALE_LIB_CONVERSION_BLOCKSCALETOLINALG_NUMBERS_H
