//===- Sizes.h - what a plan says of the sizes of one launch ----*- C++ -*-===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Binds the names of a plan's formulas to numbers, and says how much memory
// each parameter then stands for.
//
//===----------------------------------------------------------------------===//

#ifndef BLOCKSCALE_PLAN_SIZES_H
#define BLOCKSCALE_PLAN_SIZES_H

#include "blockscale/Formats/Result.h"
#include "blockscale/Plan/Expression.h"
#include "blockscale/Plan/Plan.h"

namespace blockscale::plan {

/// What a device runs of a kernel at once.
struct Residency {
  /// SMs of the device; the kernels of plans take one to a CTA.
  int64_t numSms;
  /// Clusters of the kernel's size.
  int64_t maxClusters;
};

/// The role of the parameter that points to the ends of groups of rows of A:
/// for each of the `batch` matrices of B one i32, the row behind its group.
inline constexpr std::string_view kOffsetsRole = "offsets";

/// That of the ends of groups along K: one i32 for each of the `batch` matrices
/// of D, the element of K behind its group.
inline constexpr std::string_view kOffsetsAlongKRole = "k_offsets";

/// That of counts: for each of the `batch` matrices of A one i32, how many of
/// its rows, from the first, are there.
inline constexpr std::string_view kRowCountsRole = "row_counts";

/// The role of the parameter that points to the numbers of gathered rows: for
/// each of M one i32, the row of A that it is.
inline constexpr std::string_view kRowNumbersRole = "row_numbers";

/// The size that counts the rows of A where rows are gathered.
inline constexpr std::string_view kTokensSize = "tokens";

/// The role of what a kernel reads that quantises.
inline constexpr std::string_view kQuantizedRole = "x";

/// The operand of its second result, for the transpose of that.
inline constexpr std::string_view kTransposedOperand = "transposed";

/// Whether the kernel writes D there, or a part of it.
inline bool isOfResult(const Parameter &parameter) {
  return parameter.operand == "d" || parameter.operand == kTransposedOperand;
}

/// Whether the kernel multiplies groups of rows of A by a matrix of B each. A,
/// C and D then have one matrix.
bool isGrouped(const Kernel &kernel);

/// Whether it multiplies groups along K. A and B then have one matrix.
bool isGroupedAlongK(const Kernel &kernel);

/// What groups along K end at multiples of: as many elements as take 32 bytes,
/// as pad a line of an operand, and as share a scale.
uint64_t stepAlongK(const Kernel &kernel);

/// Whether memory says how many rows of each matrix of A it multiplies.
bool isMasked(const Kernel &kernel);

/// Whether it gathers the rows of groups from those of A by number.
bool isGathered(const Kernel &kernel);

/// Matrices of the operand "a", "b", "c" or "d".
int64_t matricesOf(const Kernel &kernel, std::string_view operand,
                   const Environment &sizes);

/// CTAs of a cluster of `kernel`. What is far above any cluster is not
/// multiplied further.
int64_t clusterCtas(const Kernel &kernel);

/// Values of all names that the kernel's expressions may use: its static sizes,
/// `given` for the dynamic ones, and those of `residency`. Refused: a dynamic
/// size without value, a size below 1 or beyond its maximum, sizes beyond a
/// limit of the kernel, a given value that contradicts a static size, a name
/// that is no size, a plan without one of M, N, K and batch, and a device that
/// holds no cluster.
Result<Environment> bindSizes(const Kernel &kernel, const Environment &given,
                              const Residency &residency);

/// The value of an expression of the plan that must not be negative.
Result<uint64_t> evaluateSize(const std::string &expression,
                              const Environment &sizes);

/// Bytes of global memory that a pointer or tensor-map parameter stands for;
/// 0 for a scalar.
Result<uint64_t> memoryBytes(const Kernel &kernel, const Parameter &parameter,
                             const Environment &sizes);

/// What the address of the memory behind a parameter of `role` must be a
/// multiple of, in bytes; 1 where the plan says nothing.
unsigned alignmentOf(const Kernel &kernel, std::string_view role);

/// Bytes of a number of a plan's plain types: those of D, C, the bias and of
/// scales that cover all of K; 0 for another type.
uint64_t plainBytes(std::string_view type);

} // namespace blockscale::plan

#endif // BLOCKSCALE_PLAN_SIZES_H
