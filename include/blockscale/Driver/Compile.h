//===- Compile.h - from MLIR to everything a host needs ---------*- C++ -*-===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef BLOCKSCALE_DRIVER_COMPILE_H
#define BLOCKSCALE_DRIVER_COMPILE_H

#include "blockscale/Plan/Plan.h"
#include "blockscale/Target/PTX/Report.h"
#include "mlir/IR/BuiltinOps.h"
#include <optional>
#include <string>

namespace blockscale::driver {

/// How far a compilation goes.
enum class Emit { All, Tensor, Kernel, Assigned, NVVM, LLVM, PTX, Launcher };

struct CompileOptions {
  /// Chip of products whose schedule names none: "sm_100a", ...
  std::string target = "sm_100a";
  /// Value of a dynamic M or N for the cost model.
  int64_t expectedRows = 4096;
  /// Whether sparse operands that no instruction takes are multiplied as dense
  /// ones.
  bool denseFallback = false;
  /// Whether what no kernel does goes into the plan, for the host to do, in
  /// place of being refused.
  bool hostDuties = false;
  /// Assembler as `findPtxas` returns it; empty for no cubin.
  std::string ptxas;
};

/// A finished compilation.
struct Compilation {
  std::string ptx;
  /// Empty when no assembler was given.
  std::string cubin;
  plan::Plan plan;
  Report report;
};

/// Gives `context` all dialects that inputs and stages need.
void prepareContext(mlir::MLIRContext &context);

/// Why nothing can be compiled with `options`: an unknown target, or one
/// without block-scaled instructions. Empty if it can.
std::optional<std::string> whyNot(const CompileOptions &options);

/// Compiles `module`, which is changed on the way. Emits an error and fails if
/// it holds no matmul, if a step refuses it, or if anything in it becomes part
/// of neither a kernel nor the plan.
mlir::FailureOr<Compilation> compile(mlir::ModuleOp module,
                                     const CompileOptions &options);

/// The text of one stage of the compilation of `module`; `emit` is not
/// `Emit::All`.
mlir::FailureOr<std::string> compileTo(mlir::ModuleOp module, Emit emit,
                                       const CompileOptions &options);

} // namespace blockscale::driver

#endif // BLOCKSCALE_DRIVER_COMPILE_H
