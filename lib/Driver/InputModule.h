//===- InputModule.h - a module read from a file ----------------*- C++ -*-===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef BLOCKSCALE_LIB_DRIVER_INPUTMODULE_H
#define BLOCKSCALE_LIB_DRIVER_INPUTMODULE_H

#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/MLIRContext.h"
#include "mlir/IR/OwningOpRef.h"
#include "mlir/Support/LLVM.h"
#include "llvm/Support/SourceMgr.h"

#include <memory>

namespace mlir {
class SourceMgrDiagnosticHandler;
}

namespace blockscale::driver {

/// An input file with all that its module lives in. While it exists,
/// diagnostics are printed with the lines of the file that they are about.
class InputModule {
public:
  /// Reads `path`; what is wrong with it is printed. With `foreign` ops of
  /// dialects that are not here are read, too.
  explicit InputModule(llvm::StringRef path, bool foreign = false);
  ~InputModule();

  /// False if the file could not be read or parsed.
  explicit operator bool() const { return bool(module); }
  mlir::ModuleOp operator*() { return *module; }

private:
  mlir::MLIRContext context;
  llvm::SourceMgr sources;
  std::unique_ptr<mlir::SourceMgrDiagnosticHandler> handler;
  mlir::OwningOpRef<mlir::ModuleOp> module;
};

} // namespace blockscale::driver

#endif // BLOCKSCALE_LIB_DRIVER_INPUTMODULE_H
