//===- TosaElementwise.cpp - what TOSA does behind products ---------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

// Upstream's patterns say elementwise ops of TOSA in linalg, which epilogues
// are made of. Ops that no product is read by stay, and so does what upstream
// cannot say: the host's pipeline has its own word on them.

#include "Product.h"
#include "mlir/Conversion/TosaToLinalg/TosaToLinalg.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Dialect/Tosa/IR/TosaOps.h"
#include "mlir/Transforms/DialectConversion.h"

using namespace mlir;
using namespace blockscale;

static bool isElementwise(Operation *op) {
  return isa<tosa::CastOp, tosa::MulOp, tosa::NegateOp>(op) ||
         op->hasTrait<OpTrait::tosa::TosaElementwiseOperator>();
}

static bool isShape(Operation *op) {
  return isa<tosa::ReshapeOp, tensor::ExpandShapeOp, tensor::CollapseShapeOp,
             tensor::CastOp>(op);
}

/// TOSA's ops between products and what is neither elementwise nor a change of
/// shape.
static llvm::DenseSet<Operation *> opsBehindProducts(Operation *root) {
  llvm::DenseSet<Operation *> chosen;
  llvm::DenseSet<Value> behind;
  root->walk<WalkOrder::PreOrder>([&](Operation *op) {
    bool isRead = llvm::any_of(op->getOperands(), [&](Value operand) {
      return behind.contains(operand);
    });
    bool isProduct = isa<MatmulOp>(op);
    if (!isProduct && !(isRead && (isElementwise(op) || isShape(op))))
      return;
    behind.insert(op->result_begin(), op->result_end());
    if (isa_and_nonnull<tosa::TosaDialect>(op->getDialect()))
      chosen.insert(op);
  });
  return chosen;
}

LogicalResult importer::lowerTosaBehindProducts(Operation *root) {
  llvm::DenseSet<Operation *> chosen = opsBehindProducts(root);
  if (chosen.empty())
    return success();
  MLIRContext *context = root->getContext();
  TypeConverter types;
  types.addConversion([](Type type) { return type; });
  RewritePatternSet patterns(context);
  tosa::populateTosaToLinalgConversionPatterns(types, &patterns);
  importer::populateReshapePatterns(patterns);
  ConversionTarget target(*context);
  target.markUnknownOpDynamicallyLegal([](Operation *) { return true; });
  target.addLegalDialect<arith::ArithDialect, linalg::LinalgDialect,
                         math::MathDialect, scf::SCFDialect,
                         tensor::TensorDialect>();
  // Of what is not known to be legal, ops that no pattern takes may stay.
  target.addDynamicallyLegalDialect<tosa::TosaDialect>(
      [&](Operation *op) -> std::optional<bool> {
        return chosen.contains(op) ? std::optional<bool>() : true;
      });
  return applyPartialConversion(root, target, std::move(patterns));
}
