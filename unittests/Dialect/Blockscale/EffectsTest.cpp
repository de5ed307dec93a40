//===- EffectsTest.cpp - every op says what it reads and writes -----------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "blockscale/Dialect/Blockscale/IR/Blockscale.h"
#include "mlir/IR/MLIRContext.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "gtest/gtest.h"

using namespace mlir;

namespace {

// An op without the interface could do anything: nothing moves across it, but
// nothing says either what it is that must not move.
TEST(Effects, EveryOpDeclaresThem) {
  MLIRContext context;
  context.loadDialect<blockscale::BlockscaleDialect>();
  unsigned count = 0;
  for (RegisteredOperationName op : context.getRegisteredOperations()) {
    if (op.getDialectNamespace() != "blockscale")
      continue;
    ++count;
    EXPECT_TRUE(op.hasInterface<MemoryEffectOpInterface>() ||
                op.hasTrait<OpTrait::HasRecursiveMemoryEffects>())
        << op.getStringRef().str();
  }
  EXPECT_GT(count, 40u);
}

} // namespace
