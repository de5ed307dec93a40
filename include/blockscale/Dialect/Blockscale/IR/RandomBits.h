//===- RandomBits.h - random bits as cvt.rs takes them ----------*- C++ -*-===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What the rounding `stochastic_rs` of `blockscale.quantize` is random by, as
// ops of `arith`: 32 bits for each group of four elements. One word of 64 bits
// serves four groups, each by a product of its own.
//
//===----------------------------------------------------------------------===//

#ifndef BLOCKSCALE_DIALECT_BLOCKSCALE_IR_RANDOMBITS_H
#define BLOCKSCALE_DIALECT_BLOCKSCALE_IR_RANDOMBITS_H

#include "blockscale/Dialect/Blockscale/IR/Numbers.h"

namespace blockscale {

/// Elements that share 32 random bits, and groups of them that have those from
/// one word of 64.
inline constexpr int64_t kRandomGroup = 4, kWordGroups = 4;

/// The words, i64, of `count` elements from number `first` on, an i64; both are
/// multiples of the elements of a word.
llvm::SmallVector<mlir::Value> sharedRandomWords(Emitter &emitter,
                                                 uint64_t seed,
                                                 mlir::Value first,
                                                 int64_t count);

/// The bits of the groups of a word with these halves, all i32.
llvm::SmallVector<mlir::Value> randomGroups(Emitter &emitter, mlir::Value upper,
                                            mlir::Value lower);

/// The first of the bits that the element at `place` of a group takes, and how
/// many it takes, where elements have `bits`.
int64_t firstRandomBit(int64_t place, unsigned bits);
inline int64_t takenRandomBits(unsigned bits) { return bits > 4 ? 16 : 8; }

/// The random number in [0, 1) of the element of type `element` with that
/// number, an index: an f32.
mlir::Value sharedRandomFraction(Emitter &emitter, uint64_t seed,
                                 mlir::Value number, mlir::Type element);

} // namespace blockscale

#endif // BLOCKSCALE_DIALECT_BLOCKSCALE_IR_RANDOMBITS_H
