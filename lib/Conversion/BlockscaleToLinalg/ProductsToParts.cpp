//===- ProductsToParts.cpp - products as ops on plain tensors -------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Patterns.h"
#include "blockscale/Conversion/BlockscaleToLinalg/Passes.h"
#include "blockscale/Dialect/Blockscale/IR/BlockscaleHost.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

namespace blockscale {
#define GEN_PASS_DEF_PRODUCTSTOPARTS
#define GEN_PASS_DEF_PARTSTOPRODUCTS
#include "blockscale/Conversion/BlockscaleToLinalg/Passes.h.inc"
} // namespace blockscale

using namespace mlir;
using namespace blockscale;

/// `values` as the scaled tensor of which they are the parts.
static Value assemble(OpBuilder &builder, Location loc, ScaledTensorType type,
                      ValueRange values) {
  const ScaleSpec &spec = type.getSpec().getValue();
  auto next = [&](bool isThere) -> Value {
    if (!isThere)
      return {};
    Value value = values.front();
    values = values.drop_front();
    return value;
  };
  Value data = next(true), scales = next(!spec.isUnscaled());
  Value zeros = next(spec.zero.has_value());
  Value tensorScale = next(spec.tensorScale.has_value());
  Value metadata = next(type.hasMetadata());
  return AssembleOp::create(builder, loc, type, data, scales, zeros,
                            tensorScale, metadata);
}

namespace {
struct MatmulToParts : OpConversionPattern<MatmulOp> {
  using OpConversionPattern::OpConversionPattern;

  LogicalResult
  matchAndRewrite(MatmulOp op, OneToNOpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    SmallVector<Value> inputs;
    for (ValueRange values : adaptor.getOperands())
      llvm::append_range(inputs, values);
    auto parts = OnPartsOp::create(rewriter, op, op.getType(),
                                   op->getOperandTypes(), inputs);
    rewriter.replaceOp(op, parts.getResult());
    return success();
  }
};

struct ProductsToParts
    : blockscale::impl::ProductsToPartsBase<ProductsToParts> {
  void runOnOperation() override {
    TypeConverter converter;
    populateBlockscaleToLinalgTypeConversions(converter);
    // Between ops that stay and parts.
    converter.addSourceMaterialization(
        [](OpBuilder &builder, ScaledTensorType type, ValueRange parts,
           Location loc) { return assemble(builder, loc, type, parts); });
    converter.addTargetMaterialization([](OpBuilder &builder, TypeRange types,
                                          ValueRange values,
                                          Location loc) -> SmallVector<Value> {
      if (values.size() != 1 ||
          !isa<ScaledTensorType>(values.front().getType()))
        return {};
      auto parts = DisassembleOp::create(builder, loc, values.front());
      return SmallVector<Value>(parts->getResults());
    });
    RewritePatternSet patterns(&getContext());
    ConversionTarget target(getContext());
    patterns.add<MatmulToParts>(converter, &getContext());
    populatePartsPatterns(converter, patterns);
    populateValueFlowConversions(converter, patterns, target);
    target.addIllegalOp<AssembleOp, DisassembleOp>();
    target.addDynamicallyLegalOp<MatmulOp>([](MatmulOp op) {
      return isa<OnPartsOp>(op->getParentOp()) || op.hasGroups();
    });
    target.markUnknownOpDynamicallyLegal([](Operation *) { return true; });
    if (failed(applyPartialConversion(getOperation(), target,
                                      std::move(patterns))))
      signalPassFailure();
  }
};

struct PartsToProducts
    : blockscale::impl::PartsToProductsBase<PartsToProducts> {
  void runOnOperation() override {
    getOperation()->walk([](OnPartsOp op) {
      OpBuilder builder(op);
      SmallVector<Value> operands;
      ValueRange inputs = op.getInputs();
      SmallVector<BlockArgument> owners = op.getArgumentsOfInputs();
      for (BlockArgument argument : op.getBody().getArguments()) {
        auto count = size_t(llvm::count(owners, argument));
        ValueRange parts = inputs.take_front(count);
        inputs = inputs.drop_front(count);
        auto type = dyn_cast<ScaledTensorType>(argument.getType());
        operands.push_back(type ? assemble(builder, op.getLoc(), type, parts)
                                : parts.front());
      }
      Operation *product = builder.clone(*op.getProduct());
      product->setOperands(operands);
      op.getResult().replaceAllUsesWith(product->getResult(0));
      op.erase();
    });
  }
};
} // namespace
