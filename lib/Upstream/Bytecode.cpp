//===- Bytecode.cpp - MLIR's bytecode as we use it ------------------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "blockscale/Upstream/Bytecode.h"
#include "mlir/Bytecode/BytecodeReader.h"
#include "mlir/Bytecode/BytecodeWriter.h"
#include "llvm/Support/MemoryBufferRef.h"
#include "llvm/Support/raw_ostream.h"

using namespace mlir;

bool blockscale::isBytecode(StringRef buffer) {
  return mlir::isBytecode(llvm::MemoryBufferRef(buffer, ""));
}

FailureOr<std::string> blockscale::toBytecode(Operation *op) {
  std::string bytes;
  llvm::raw_string_ostream stream(bytes);
  if (failed(writeBytecodeToFile(op, stream)))
    return failure();
  return bytes;
}
