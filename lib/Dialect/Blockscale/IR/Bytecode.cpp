//===- Bytecode.cpp - the dialects' version in bytecode -------------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "blockscale/Dialect/Blockscale/IR/Bytecode.h"
#include "blockscale/Dialect/Blockscale/IR/Blockscale.h"

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

  /// Ops that were written before they had several optional operands say
  /// nothing of how many of each there are.
  LogicalResult upgradeFromVersion(Operation *root,
                                   const DialectVersion &) const override {
    root->walk([](QuantizeOp op) {
      auto &sizes = op.getProperties().operandSegmentSizes;
      if (llvm::all_of(sizes, [](int32_t size) { return size == 0; }))
        sizes = {1, int32_t(op->getNumOperands()) - 1, 0};
    });
    return success();
  }
};
} // namespace

std::unique_ptr<DialectInterface>
blockscale::makeBytecodeInterface(Dialect *dialect) {
  return std::make_unique<VersionedBytecode>(dialect);
}
