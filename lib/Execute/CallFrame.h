//===- CallFrame.h - the memory of one call ---------------------*- C++ -*-===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef BLOCKSCALE_LIB_EXECUTE_CALLFRAME_H
#define BLOCKSCALE_LIB_EXECUTE_CALLFRAME_H

#include "Arrays.h"
#include "blockscale/Execute/HostProgram.h"

namespace blockscale::execute {

/// Calls `name` of `program` with `arguments`; `results` are the types of
/// tensors and numbers that it returns. Returns them and, behind them, what is
/// in the arguments that are memory, or what went wrong.
Result<std::vector<HostArray>> callFunction(HostProgram &program,
                                            const std::string &name,
                                            std::vector<HostArray> arguments,
                                            llvm::ArrayRef<mlir::Type> results,
                                            const Launcher &launcher);

} // namespace blockscale::execute

#endif // BLOCKSCALE_LIB_EXECUTE_CALLFRAME_H
