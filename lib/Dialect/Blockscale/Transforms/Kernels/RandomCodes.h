//===- RandomCodes.h - codes rounded at random ------------------*- C++ -*-===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef BLOCKSCALE_LIB_DIALECT_BLOCKSCALE_TRANSFORMS_KERNELS_RANDOMCODES_H
#define BLOCKSCALE_LIB_DIALECT_BLOCKSCALE_TRANSFORMS_KERNELS_RANDOMCODES_H

#include "NumberParts.h"

namespace blockscale {

/// Codes of f4E2M1FN as the rounding `stochastic` makes them of `values` times
/// `inverse`: eight in each i32, the first in its low bits. Of each two of them
/// `pairs` has the random bits in an i32. `byInstruction` says whether the chip
/// has `cvt.rs`.
///
/// An infinity becomes the largest magnitude, `byInstruction` of either sign;
/// what becomes of a NaN is not said.
llvm::SmallVector<mlir::Value> randomCodes(Emitter &emitter, NumberParts parts,
                                           llvm::ArrayRef<mlir::Value> values,
                                           mlir::Value inverse,
                                           llvm::ArrayRef<mlir::Value> pairs,
                                           bool byInstruction);

/// Words of such codes with the signs of the numbers that they are of.
llvm::SmallVector<mlir::Value> orSigns(Emitter &emitter,
                                       llvm::ArrayRef<mlir::Value> words,
                                       llvm::ArrayRef<mlir::Value> values);

/// Integers between -127 and 127, likewise, four in each i32. A NaN is 0 if
/// there may be one, as `hasNaN` says.
llvm::SmallVector<mlir::Value> randomBytes(Emitter &emitter, NumberParts parts,
                                           llvm::ArrayRef<mlir::Value> values,
                                           mlir::Value inverse,
                                           llvm::ArrayRef<mlir::Value> pairs,
                                           bool hasNaN);

} // namespace blockscale

#endif // BLOCKSCALE_LIB_DIALECT_BLOCKSCALE_TRANSFORMS_KERNELS_RANDOMCODES_H
