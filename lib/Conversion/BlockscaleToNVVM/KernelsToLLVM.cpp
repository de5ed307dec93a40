//===- KernelsToLLVM.cpp - the rest of a kernel to the LLVM dialect -------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "blockscale/Conversion/BlockscaleToNVVM/Passes.h"
#include "blockscale/Dialect/Blockscale/IR/Blockscale.h"
#include "blockscale/Upstream/NVVM.h"
#include "mlir/Conversion/ArithToLLVM/ArithToLLVM.h"
#include "mlir/Conversion/ControlFlowToLLVM/ControlFlowToLLVM.h"
#include "mlir/Conversion/IndexToLLVM/IndexToLLVM.h"
#include "mlir/Conversion/LLVMCommon/ConversionTarget.h"
#include "mlir/Conversion/LLVMCommon/TypeConverter.h"
#include "mlir/Conversion/MathToLLVM/MathToLLVM.h"
#include "mlir/Conversion/VectorToLLVM/ConvertVectorToLLVM.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"

namespace blockscale {
#define GEN_PASS_DEF_CONVERTKERNELSTOLLVM
#include "blockscale/Conversion/BlockscaleToNVVM/Passes.h.inc"
} // namespace blockscale

using namespace mlir;

namespace {
struct ConvertKernelsToLLVM
    : blockscale::impl::ConvertKernelsToLLVMBase<ConvertKernelsToLLVM> {
  using ConvertKernelsToLLVMBase::ConvertKernelsToLLVMBase;
  void runOnOperation() override;
};
} // namespace

/// LLVM IR has no place for what the host must know of a kernel's parameters;
/// it is read from an earlier stage.
static void dropParameterAttributes(LLVM::LLVMFuncOp function) {
  StringAttr parameter =
      StringAttr::get(function.getContext(), blockscale::ParameterAttr::name);
  for (unsigned i = 0, e = function.getNumArguments(); i < e; ++i)
    function.removeArgAttr(i, parameter);
}

void ConvertKernelsToLLVM::runOnOperation() {
  SmallVector<Operation *> kernels;
  for (auto function : getOperation().getOps<LLVM::LLVMFuncOp>()) {
    dropParameterAttributes(function);
    kernels.push_back(function);
  }
  LLVMTypeConverter converter(&getContext());
  LLVMConversionTarget target(getContext());
  target.addLegalDialect(blockscale::nvvm::kDialectName);
  RewritePatternSet patterns(&getContext());
  arith::populateArithToLLVMConversionPatterns(converter, patterns);
  cf::populateControlFlowToLLVMConversionPatterns(converter, patterns);
  index::populateIndexToLLVMConversionPatterns(converter, patterns);
  populateMathToLLVMConversionPatterns(converter, patterns);
  populateVectorToLLVMConversionPatterns(converter, patterns);
  if (failed(applyFullConversion(kernels, target, std::move(patterns))))
    signalPassFailure();
}
