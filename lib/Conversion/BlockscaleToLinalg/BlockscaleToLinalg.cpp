//===- BlockscaleToLinalg.cpp - scaled tensors to linalg ------------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Each scaled tensor becomes its plain tensors, wherever values flow, and each
// op on scaled tensors the element-wise code and contractions that define it.
//
//===----------------------------------------------------------------------===//

#include "Patterns.h"
#include "blockscale/Conversion/BlockscaleToLinalg/Passes.h"
#include "blockscale/Dialect/Blockscale/IR/BlockscaleSums.h"
#include "mlir/Dialect/ControlFlow/IR/ControlFlow.h"
#include "mlir/Dialect/ControlFlow/Transforms/StructuralTypeConversions.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Func/Transforms/FuncConversions.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/SCF/Transforms/Patterns.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

namespace blockscale {
#define GEN_PASS_DEF_BLOCKSCALETOLINALG
#include "blockscale/Conversion/BlockscaleToLinalg/Passes.h.inc"
} // namespace blockscale

using namespace mlir;
using namespace blockscale;

void blockscale::populateBlockscaleToLinalgTypeConversions(
    TypeConverter &converter) {
  converter.addConversion([](Type type) { return type; });
  converter.addConversion(
      [](ScaledTensorType type,
         SmallVectorImpl<Type> &types) -> std::optional<LogicalResult> {
        Result<TensorParts> parts = getTensorParts(type);
        if (!parts)
          return failure();
        llvm::append_range(types, parts->present());
        return success();
      });
}

void blockscale::populateBlockscaleToLinalgPatterns(
    const TypeConverter &converter, RewritePatternSet &patterns, bool useExtf,
    bool checkSparsity) {
  populateLaunchPatterns(converter, patterns);
  populateMatmulPatterns(converter, patterns, useExtf);
  populateQuantizePatterns(converter, patterns, useExtf);
  populateTileSumsPatterns(converter, patterns, useExtf);
  populateSparsePatterns(converter, patterns, checkSparsity);
  populateStoragePatterns(converter, patterns);
}

void blockscale::populateValueFlowConversions(const TypeConverter &converter,
                                              RewritePatternSet &patterns,
                                              ConversionTarget &target) {
  populateFunctionOpInterfaceTypeConversionPattern<func::FuncOp>(patterns,
                                                                 converter);
  populateReturnOpTypeConversionPattern(patterns, converter);
  populateCallOpTypeConversionPattern(patterns, converter);
  scf::populateSCFStructuralTypeConversionsAndLegality(converter, patterns,
                                                       target);
  cf::populateCFStructuralTypeConversionsAndLegality(converter, patterns,
                                                     target);
  target.addDynamicallyLegalOp<func::FuncOp>([&](func::FuncOp op) {
    return converter.isSignatureLegal(op.getFunctionType());
  });
  target.addDynamicallyLegalOp<func::CallOp, func::ReturnOp>(
      [&](Operation *op) { return converter.isLegal(op); });
}

/// Why nothing rounds to the scales of the op's result; empty if they are
/// numbers of a type.
static std::optional<Reason> whyNotRounded(Operation *op) {
  auto quantize = dyn_cast<QuantizeOp>(op);
  if (!quantize)
    return std::nullopt;
  const ScaleSpec &spec = quantize.getType().getSpec().getValue();
  if (spec.isUnscaled() || scaleFormat(*spec.scale) != ElementFormat::UE5M3)
    return std::nullopt;
  return "no type has the numbers of '" + print(*spec.scale) +
         "', so that no scales are rounded to them; expected scales of "
         "'e4m3fn' or 'bfloat16', or a tensor that was quantized elsewhere, "
         "such as by Python's 'quantize'";
}

/// Why an op has no conversion; empty if it has one.
static std::optional<Reason> whyNotConverted(Operation *op) {
  if (auto why = whyNotRounded(op))
    return why;
  for (TypeRange types :
       {TypeRange(op->getOperandTypes()), TypeRange(op->getResultTypes())})
    for (Type type : types)
      if (auto scaled = dyn_cast<ScaledTensorType>(type))
        if (std::optional<Reason> reason = whyNotLinalg(scaled))
          return reason;
  return std::nullopt;
}

namespace {
struct BlockscaleToLinalg
    : blockscale::impl::BlockscaleToLinalgBase<BlockscaleToLinalg> {
  using BlockscaleToLinalgBase::BlockscaleToLinalgBase;

  void runOnOperation() override {
    WalkResult walk = getOperation()->walk([](Operation *op) {
      std::optional<Reason> reason = whyNotConverted(op);
      if (!reason)
        return WalkResult::advance();
      op->emitOpError() << reason->text;
      return WalkResult::interrupt();
    });
    if (walk.wasInterrupted())
      return signalPassFailure();
    splitGroups(getOperation());
    TypeConverter converter;
    populateBlockscaleToLinalgTypeConversions(converter);
    RewritePatternSet patterns(&getContext());
    ConversionTarget target(getContext());
    populateBlockscaleToLinalgPatterns(converter, patterns, useExtf,
                                       checkSparsity);
    populateValueFlowConversions(converter, patterns, target);
    target.addIllegalOp<AssembleOp, CompressOp, DensifyOp, DequantizeOp, DimOp,
                        DisassembleOp, LaunchOp, MatmulOp, PruneOp, QuantizeOp,
                        RelayoutOp, SliceRowsOp, TileSumsOp>();
    target.markUnknownOpDynamicallyLegal([](Operation *) { return true; });
    if (failed(applyPartialConversion(getOperation(), target,
                                      std::move(patterns))))
      signalPassFailure();
  }
};
} // namespace
