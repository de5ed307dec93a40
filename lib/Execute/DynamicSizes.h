//===- DynamicSizes.h - numbers in the place of dynamic sizes ---*- C++ -*-===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef BLOCKSCALE_LIB_EXECUTE_DYNAMICSIZES_H
#define BLOCKSCALE_LIB_EXECUTE_DYNAMICSIZES_H

#include "blockscale/Execute/CheckFunctions.h"

namespace blockscale::execute {

/// The arguments of a function with a size for each dynamic dimension.
struct ArgumentShapes {
  /// Empty for what has no shape.
  std::vector<std::vector<int64_t>> shapes;
  /// "40,384": the sizes that were chosen or given, each once, in the order of
  /// the arguments; "-" if nothing is dynamic.
  std::string text;
};

/// Chooses sizes. Dimensions that the function's ops want to be equal are:
/// those that an op which is not known here takes or gives count as equal too.
/// All others differ, so that one that takes the place of another shows. A size
/// that is `given` is that of all its dimension is equal to. Fails, with a
/// reason, for one that is given for a dimension that is not there or not
/// dynamic.
mlir::FailureOr<ArgumentShapes> chooseSizes(mlir::FunctionOpInterface function,
                                            const SizeChoice &choice,
                                            std::string &reason);

/// Why sizes that are given are those of nothing in `functions`, or given
/// twice; a named function that lacks the dimension `chooseSizes` refuses.
std::optional<Reason>
whyNotGiven(llvm::ArrayRef<mlir::FunctionOpInterface> functions,
            const SizeChoice &choice);

/// A dynamic dimension of an argument.
struct DynamicDimension {
  unsigned argument = 0, dimension = 0;
  /// The same number for those that the function's ops want to be equal: sizes
  /// of which others are computed, and parts of tensors, say nothing.
  unsigned sizeClass = 0;
  /// The size that they want.
  std::optional<int64_t> known;
};

/// Those of all arguments of a function.
std::vector<DynamicDimension>
dynamicDimensions(mlir::FunctionOpInterface function);

/// Whether a tensor, in any shape, becomes the scales of a scaled one.
bool becomesScales(mlir::Value value);

} // namespace blockscale::execute

#endif // BLOCKSCALE_LIB_EXECUTE_DYNAMICSIZES_H
