//===- CompareResults.h - what results may be off by ------------*- C++ -*-===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef BLOCKSCALE_LIB_EXECUTE_COMPARERESULTS_H
#define BLOCKSCALE_LIB_EXECUTE_COMPARERESULTS_H

#include "Arrays.h"
#include "blockscale/Execute/CheckFunctions.h"

#include <array>

namespace blockscale::execute {

/// What numbers may be off by, of the largest of them: sums and functions of
/// sums, and what follows from codes of them, since the last bit of a sum can
/// become one of a code.
inline constexpr double kSumBound = 0x1p-18, kCodeBound = 0x1p-7;

/// The largest magnitude that is finite.
double largestOf(const HostArray &array);

/// From a number of type `type` to the next one, as a part of the lower end of
/// its binade.
double relativeStep(mlir::FloatType type);

/// Counts a number that is off by `ratio` of its bound, and keeps the first
/// `text` of those that are off by more.
void countDifference(FunctionVerdict &verdict, double ratio,
                     llvm::function_ref<std::string()> text);

/// The indices of an element: "3x7".
std::string placeOf(llvm::ArrayRef<int64_t> sizes, uint64_t index);

/// "expected 12, found 14".
std::string textOf(double expected, double found);

/// Codes of a quantised result that are judged by the numbers they stand for.
class DecodedCodes {
public:
  DecodedCodes() = default;
  DecodedCodes(ScaledTensorType type, llvm::ArrayRef<HostArray> expected,
               llvm::ArrayRef<HostArray> found, const CompilerOptions &options)
      : type(type), parts{expected.vec(), found.vec()}, options(&options) {}

  /// They are of functions such as erf, and nobody knows the numbers they were
  /// made from. Where 1 + erf(x) is 0 or the last bit of a number near 1, no
  /// bits of a block agree, as its scale follows from that bit, too. Numbers
  /// agree then as those of a result that is not quantised.
  void areOfTails() { isTail = true; }
  /// They were rounded to nearest from `source`, of which each number may be
  /// off by `part` of the largest, and by a step of its type. So a code that is
  /// right is no further from that than the expected one and twice as much.
  void areRoundedFrom(const HostArray &source, double part);

  /// Whether the numbers of the codes at `index` agree.
  bool agree(uint64_t index);

private:
  bool areTails(uint64_t index) const;
  bool areAsNear(uint64_t index) const;

  /// Null once its numbers are known.
  ScaledTensorType type;
  std::array<std::vector<HostArray>, 2> parts;
  const CompilerOptions *options = nullptr;
  std::vector<HostArray> numbers;
  bool isTail = false;
  /// What tails may be off by, and numbers of `source`: all of them, and as a
  /// part of itself each.
  double bound = 0, ofSource = 0, step = 0;
  const HostArray *source = nullptr;
};

/// The bound of the elements of an array.
struct Bound {
  /// Of the largest magnitude; of scales these are the largest of tiles, of
  /// which each may be off by this part of the largest number.
  double part = 0;
  /// Each may be a step of its type off as well: what a rounding makes of it.
  bool isScale = false;
};

/// Compares a result, or a part of one. `name` is "result 0", or what else it
/// is.
void compareResult(const HostArray &expected, const HostArray &found,
                   const std::string &name, Bound bound, DecodedCodes &codes,
                   FunctionVerdict &verdict);

} // namespace blockscale::execute

#endif // BLOCKSCALE_LIB_EXECUTE_COMPARERESULTS_H
