//===- Acme.cpp - a dialect beside blockscale's ---------------------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Acme.h"
#include "blockscale/Dialect/Blockscale/IR/Builders.h"
#include "mlir/IR/PatternMatch.h"
#include "mlir/Pass/Pass.h"
#include "mlir/Pass/PassRegistry.h"

using namespace mlir;

#include "AcmeDialect.cpp.inc"

#define GET_OP_CLASSES
#include "AcmeOps.cpp.inc"

void acme::AcmeDialect::initialize() {
  addOperations<
#define GET_OP_LIST
#include "AcmeOps.cpp.inc"
      >();
}

namespace {
struct LinearToBlockscale
    : PassWrapper<LinearToBlockscale, OperationPass<ModuleOp>> {
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(LinearToBlockscale)

  StringRef getArgument() const override { return "acme-linear-to-blockscale"; }
  StringRef getDescription() const override { return "layers to products"; }
  void getDependentDialects(DialectRegistry &registry) const override {
    registry.insert<blockscale::BlockscaleDialect>();
  }

  void runOnOperation() override {
    IRRewriter rewriter(&getContext());
    getOperation().walk([&](acme::LinearOp linear) {
      rewriter.setInsertionPoint(linear);
      blockscale::MatmulOp product = blockscale::createMatmul(
          rewriter, linear.getLoc(), linear.getInput(), linear.getWeights(),
          linear.getType().getElementType());
      rewriter.replaceOp(linear, product);
    });
  }
};
} // namespace

void acme::registerPasses() { PassRegistration<LinearToBlockscale>(); }
