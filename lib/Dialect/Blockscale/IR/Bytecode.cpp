//===- Bytecode.cpp - the dialects' version in bytecode -------------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "blockscale/Dialect/Blockscale/IR/Bytecode.h"

using namespace mlir;
using namespace blockscale;

namespace {
struct VersionedBytecode : BytecodeDialectInterface {
  explicit VersionedBytecode(Dialect *dialect)
      : BytecodeDialectInterface(dialect) {}

  void writeVersion(DialectBytecodeWriter &writer) const override {
    auto asked = writer.getDialectVersion(getDialect()->getNamespace());
    writer.writeVarInt(
        succeeded(asked) ? static_cast<const BytecodeVersion *>(*asked)->number
                         : kBytecodeVersion);
  }

  std::unique_ptr<DialectVersion>
  readVersion(DialectBytecodeReader &reader) const override {
    uint64_t number;
    if (failed(reader.readVarInt(number)))
      return nullptr;
    if (number >= 1 && number <= kBytecodeVersion)
      return std::make_unique<BytecodeVersion>(number);
    reader.emitError() << "bytecode of dialect '"
                       << getDialect()->getNamespace() << "' has version "
                       << number << "; this blockscale reads 1 to "
                       << kBytecodeVersion;
    return nullptr;
  }
};
} // namespace

std::unique_ptr<DialectInterface>
blockscale::makeBytecodeInterface(Dialect *dialect) {
  return std::make_unique<VersionedBytecode>(dialect);
}
