//===- InputModule.cpp - a module read from a file ------------------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "InputModule.h"
#include "Verb.h"
#include "blockscale/Compiler/Compiler.h"
#include "blockscale/Driver/Driver.h"
#include "mlir/IR/Diagnostics.h"
#include "mlir/Parser/Parser.h"
#include "mlir/Support/FileUtilities.h"
#include "llvm/Support/MemoryBuffer.h"

using namespace blockscale;
using namespace blockscale::driver;

// Threads cost more to start than the passes of one file take.
InputModule::InputModule(llvm::StringRef path, bool foreign)
    : context(mlir::MLIRContext::Threading::DISABLED) {
  std::string error;
  auto file = mlir::openInputFile(path, &error);
  if (!file) {
    reportError(error, kFailure);
    return;
  }
  context.printOpOnDiagnostic(false);
  context.allowUnregisteredDialects(foreign);
  mlir::DialectRegistry registry;
  registerCompilerDialects(registry);
  context.appendDialectRegistry(registry);
  sources.AddNewSourceBuffer(std::move(file), llvm::SMLoc());
  handler =
      std::make_unique<mlir::SourceMgrDiagnosticHandler>(sources, &context);
  module = mlir::parseSourceFile<mlir::ModuleOp>(sources, &context);
}

InputModule::~InputModule() = default;
