//===- HostProgram.h - compiled functions, called in this process -*- C++ -*-=//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef BLOCKSCALE_EXECUTE_HOSTPROGRAM_H
#define BLOCKSCALE_EXECUTE_HOSTPROGRAM_H

#include "blockscale-runtime/Runtime.h"
#include "mlir/IR/BuiltinOps.h"
#include "llvm/ADT/ArrayRef.h"

#include <functional>
#include <memory>
#include <string>

namespace mlir {
class ExecutionEngine;
}

namespace blockscale::execute {

/// What runs the kernels that a function launches; returns what went wrong.
using Launcher =
    std::function<std::string(BlockscaleKernels &, const std::string &,
                              const BlockscaleOperand *, int64_t)>;

/// A module whose functions `blockscale-to-host` lowered to the LLVM dialect,
/// as code of this process.
class HostProgram {
public:
  /// Compiles `module`, which may go away afterwards. The context must know the
  /// translations of the builtin and the LLVM dialect. Null with `error` set if
  /// LLVM refuses it.
  static std::unique_ptr<HostProgram> create(mlir::ModuleOp module,
                                             std::string &error);
  ~HostProgram();

  /// Calls the C interface of the public function `name`: one pointer to each
  /// argument, which for a memref is a pointer to a pointer to its descriptor.
  /// Where the function returns one number, a pointer to its place comes last;
  /// for other results a pointer to a pointer to their structure comes first.
  /// The kernels are run by `launcher`. Returns what went wrong: of several
  /// launches that failed, the first.
  std::string call(const std::string &name,
                   llvm::MutableArrayRef<void *> arguments,
                   const Launcher &launcher);

private:
  HostProgram();
  std::unique_ptr<mlir::ExecutionEngine> engine;
};

} // namespace blockscale::execute

#endif // BLOCKSCALE_EXECUTE_HOSTPROGRAM_H
