//===- Data.h - inputs that show mistakes -----------------------*- C++ -*-===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Exact data make the result independent of the order and the width in which a
// kernel sums, so that it must agree bit for bit:
//
//   every scaled element of A is an integer multiple of a power of two uA, at
//   most cA * uA in magnitude, and those of B likewise; so every product is a
//   multiple of u = uA * uB, and every partial sum, in any order, is a multiple
//   of u of at most K * cA * cB * u. With K * cA * cB <= 2^23 each of them is
//   an f32 number, and adding C and a bias of small multiples of u keeps it so.
//
// Random data use every finite code and need a tolerance (Compare.h).
//
//===----------------------------------------------------------------------===//

#ifndef BLOCKSCALE_REFERENCE_DATA_H
#define BLOCKSCALE_REFERENCE_DATA_H

#include "blockscale/Formats/Result.h"
#include "blockscale/Reference/Matmul.h"

namespace blockscale::reference {

/// Bounds of exact data: integers in units of a power of two.
struct ExactBounds {
  /// Largest magnitude of an element in its units (elementUnit).
  unsigned element = 0;
  /// Largest scale in units of 2^0; a power of two. 1 without scales.
  unsigned scale = 0;
};

/// The bounds for sums of `k` products: k * (element * scale)^2 <= 2^23, both
/// as large as possible. Nothing for k > 2^19, where too little would be left.
std::optional<ExactBounds> exactBounds(uint64_t k, bool scaled);

/// The unit of exact elements: 1/2 for fp4 and fp6, 1/64 and 1/4 for the
/// formats int8 and int4, else 1.
double elementUnit(const Operand &operand);

/// Is called with the rows that have their codes, now and then.
using RowProgress = std::function<void(uint64_t)>;

/// Fills codes (batch x rows x k) and, if `blockSize` is not 0, scales, of an
/// operand whose formats and blockSize are set. A scale differs from the scales
/// of the previous block, of the previous row and of the row 32 before, so that
/// a kernel that takes a neighbour's scale cannot be right. Equal seeds give
/// equal data on every host. Returns why not: k too large, or a format
/// without exact data.
std::optional<Reason> fillExact(Operand &operand, uint64_t batch, uint64_t rows,
                                uint64_t k, uint64_t seed,
                                const RowProgress &progress = {});

/// Fills the operand with random finite codes (of bf16 and tf32 those of
/// magnitudes from 2^-8 to 2^8) and random scales: ue8m0 bytes within 2^-8 ..
/// 2^8, positive finite codes of other formats.
void fillRandom(Operand &operand, uint64_t batch, uint64_t rows, uint64_t k,
                uint64_t seed, const RowProgress &progress = {});

/// `count` integers of at most 256 in magnitude, times `unit`: C or a bias for
/// exact data, with unit = alpha * elementUnit(a) * elementUnit(b).
std::vector<float> exactVector(uint64_t count, double unit, uint64_t seed);

/// `count` numbers between -1 and 1 that bf16 represents.
std::vector<float> randomVector(uint64_t count, uint64_t seed);

/// Structured sparsity: half of the units of each group are dropped.
struct Groups {
  /// Units of a group, 2 or 4, and elements of a unit: {4, 1} is 2:4, {4, 2}
  /// is 4:8 in pairs, {2, 1} is 1:2.
  unsigned units, width;
};

/// Drops elements along k until the operand has that sparsity. k must be a
/// multiple of the group; a rest is left as it is.
void sparsify(Operand &operand, uint64_t k, Groups groups, uint64_t seed);

} // namespace blockscale::reference

#endif // BLOCKSCALE_REFERENCE_DATA_H
