//===- CheckFunctions.h - whole functions, run two ways ---------*- C++ -*-===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A function compiled with its kernels, which the emulator runs, against the
// same function with the products computed by linalg on the CPU.
//
//===----------------------------------------------------------------------===//

#ifndef BLOCKSCALE_EXECUTE_CHECKFUNCTIONS_H
#define BLOCKSCALE_EXECUTE_CHECKFUNCTIONS_H

#include "blockscale/Compiler/Compiler.h"
#include "blockscale/Verify/EmulatedDevice.h"
#include "mlir/Interfaces/FunctionInterfaces.h"

namespace blockscale::execute {

/// The size of one dynamic dimension of an argument.
struct GivenSize {
  /// Of all functions if there is no name.
  std::string function;
  unsigned argument = 0, dimension = 0;
  int64_t size = 1;
};

/// Sizes in the place of dynamic ones. Those of M, N, K and the batch of
/// products are the first of that name; more of a kind that are not equal get
/// the next multiples of 128, or the next batch. Other dimensions count as M.
struct SizeChoice {
  int64_t m = 256, n = 256, k = 512, batch = 2;
  std::vector<GivenSize> given;
};

/// "[FUNCTION.]ARGUMENT.DIMENSION=SIZE", both counted from 0: "mlp.0.0=40" or
/// "0.0=40".
Result<GivenSize> parseGivenSize(llvm::StringRef text);

struct CheckOptions {
  CompilerOptions compiler;
  std::vector<verify::DataKind> data{verify::DataKind::Exact,
                                     verify::DataKind::Random};
  SizeChoice sizes;
  uint64_t seed = 1;
  unsigned threads = 0;
  emulator::Completion completion = emulator::Completion::Immediate;
  /// Called before each launch, and may change what it gets.
  std::function<void(emulator::Launch &, emulator::Options &)> beforeRun;
};

/// The outcome of one call.
struct FunctionVerdict {
  std::string function;
  verify::DataKind data = verify::DataKind::Exact;
  /// The dynamic sizes, as "40,384"; "-" without any.
  std::string sizes;
  /// Why there is nothing to compare; empty if there is.
  std::string error;
  uint64_t launches = 0;
  /// Numbers of the results; those that are out of their bound.
  uint64_t compared = 0, mismatches = 0;
  /// The largest error in units of its bound.
  double worst = 0;
  /// "result 0, element 3x7: expected 12, found 14".
  std::string first;
  /// The spec of float scales by which exact data, too, have sums with
  /// rounding, of which the last bit may have become one of a code; empty if
  /// all agrees or sums have none.
  std::string scalesOfTies;
  std::vector<emulator::Finding> findings;
  emulator::OpenPointSet openPoints;

  bool passed() const {
    return error.empty() && findings.empty() && mismatches == 0;
  }
};

/// The public functions of `module`, tensor level, of which products are not
/// all or which have several: what the verdicts of single kernels do not cover.
llvm::SmallVector<mlir::FunctionOpInterface>
functionsToCheck(mlir::ModuleOp module);

/// Runs each of `functionsToCheck` both ways for each kind of data. An error
/// bound of an element of a result is the larger of an ulp of the result's type
/// and 2^-18 (or, where the function rounds to fewer than 24 bits on the way,
/// 2^-7), times the largest magnitude in the result; integers and NaNs must
/// agree. Scales and codes that a `blockscale.quantize` of the function returns
/// are those that it makes of numbers within such a bound. Other codes that
/// follow from functions such as erf agree, too, where their numbers are within
/// 2^-18 of the largest. Emits errors and fails if the module cannot be
/// compiled.
mlir::FailureOr<std::vector<FunctionVerdict>>
checkFunctions(mlir::ModuleOp module, const CheckOptions &options);

/// A table with a line for each verdict, then what went wrong; empty without
/// verdicts.
std::string printVerdicts(const std::vector<FunctionVerdict> &verdicts);

} // namespace blockscale::execute

#endif // BLOCKSCALE_EXECUTE_CHECKFUNCTIONS_H
