//===- Bytecode.h - the dialects' version in bytecode -----------*- C++ -*-===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// MLIR stores our ops by name and our types and attributes as text; a version
// of the dialect stands beside them. docs/compatibility.md says what it is for
// and when it is raised.
//
//===----------------------------------------------------------------------===//

#ifndef BLOCKSCALE_DIALECT_BLOCKSCALE_IR_BYTECODE_H
#define BLOCKSCALE_DIALECT_BLOCKSCALE_IR_BYTECODE_H

#include "mlir/Bytecode/BytecodeImplementation.h"
#include <cstdint>
#include <memory>

namespace blockscale {

/// The version that is written, and the newest that is read.
///
/// 1: attributes of an op by position.
/// 2: those of the tensor level by name. An attribute can be added without a
/// new
///    version if an op without it means what it meant.
inline constexpr uint64_t kBytecodeVersion = 2;

/// What MLIR carries as the version of one of our dialects.
struct BytecodeVersion : mlir::DialectVersion {
  explicit BytecodeVersion(uint64_t number) : number(number) {}
  uint64_t number;
};

/// Writes `kBytecodeVersion`, or the `BytecodeVersion` that the writer is
/// configured with, and reads versions from 1 up to it.
std::unique_ptr<mlir::DialectInterface>
makeBytecodeInterface(mlir::Dialect *dialect);

} // namespace blockscale

#endif // BLOCKSCALE_DIALECT_BLOCKSCALE_IR_BYTECODE_H
