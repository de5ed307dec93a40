//===- QuantizedNumbers.h - what results were before that -------*- C++ -*-===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A scale is judged by the numbers that it was chosen for, which a function
// does not return. The reference has a copy of such a function that does.
//
//===----------------------------------------------------------------------===//

#ifndef BLOCKSCALE_LIB_EXECUTE_QUANTIZEDNUMBERS_H
#define BLOCKSCALE_LIB_EXECUTE_QUANTIZEDNUMBERS_H

#include "Arrays.h"
#include "blockscale/Execute/HostProgram.h"
#include "mlir/Interfaces/FunctionInterfaces.h"

#include <map>

namespace blockscale::execute {

/// For each result of `function` the op that quantises it; null where another
/// op makes it, or blocks may return others.
llvm::SmallVector<QuantizeOp> quantizersOf(mlir::FunctionOpInterface function);

/// A function that returns numbers behind its results: what its `quantizersOf`
/// read and, with `hasSums`, the results of its products.
struct FunctionCopy {
  std::string name;
  bool hasSums = false;
};

/// By the names of the functions.
using FunctionCopies = std::map<std::string, FunctionCopy>;

/// Adds such a copy of `function` to its module if anything is quantised.
void addCopyWithNumbers(mlir::FunctionOpInterface function, bool hasSums,
                        FunctionCopies &copies);

/// What a function gives, with what is in memory behind the results, what its
/// `quantizersOf` read, and the results of products.
struct ReferenceResults {
  std::vector<HostArray> results, numbers, sums;
};

/// Calls `function`, or its copy, where `types` are those of its results.
Result<ReferenceResults> callReference(mlir::FunctionOpInterface function,
                                       HostProgram &program,
                                       const FunctionCopies &copies,
                                       const std::vector<HostArray> &arguments,
                                       llvm::ArrayRef<mlir::Type> types);

} // namespace blockscale::execute

#endif // BLOCKSCALE_LIB_EXECUTE_QUANTIZEDNUMBERS_H
