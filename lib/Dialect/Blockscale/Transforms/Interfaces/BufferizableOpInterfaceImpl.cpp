//===- BufferizableOpInterfaceImpl.cpp - tensors to memory ----------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "blockscale/Dialect/Blockscale/Transforms/BufferizableOpInterfaceImpl.h"
#include "blockscale/Dialect/Blockscale/IR/BlockscaleHost.h"
#include "mlir/Conversion/BufferizationToMemRef/BufferizationToMemRef.h"
#include "mlir/Dialect/Bufferization/IR/BufferizableOpInterface.h"
#include "mlir/Dialect/Bufferization/IR/Bufferization.h"
#include "mlir/Dialect/Bufferization/IR/DstBufferizableOpInterfaceImpl.h"
#include "mlir/Dialect/Bufferization/Pipelines/Passes.h"
#include "mlir/Dialect/Bufferization/Transforms/FuncBufferizableOpInterfaceImpl.h"
#include "mlir/Dialect/Bufferization/Transforms/Passes.h"
#include "mlir/Pass/PassManager.h"

using namespace mlir;
using namespace mlir::bufferization;
using namespace blockscale;

namespace {
struct LaunchIntoInterface
    : DstBufferizableOpInterfaceExternalModel<LaunchIntoInterface,
                                              LaunchIntoOp> {
  bool bufferizesToMemoryRead(Operation *op, OpOperand &operand,
                              const AnalysisState &) const {
    // A kernel writes all of D and reads none of it.
    return !cast<LaunchIntoOp>(op).isDpsInit(&operand);
  }

  /// D may not lie in the memory of an input: tiles of it are written while
  /// others are still computed from that.
  bool bufferizesToElementwiseAccess(Operation *, const AnalysisState &,
                                     ArrayRef<OpOperand *>) const {
    return false;
  }

  LogicalResult bufferize(Operation *op, RewriterBase &rewriter,
                          const BufferizationOptions &options,
                          BufferizationState &state) const {
    auto launch = cast<LaunchIntoOp>(op);
    if (launch.getResults().empty())
      return success();
    OpBuilder::InsertionGuard guard(rewriter);
    rewriter.setInsertionPoint(op);
    SmallVector<Value> inputs;
    for (Value input : launch.getInputs()) {
      if (!isa<TensorType>(input.getType())) {
        inputs.push_back(input);
        continue;
      }
      FailureOr<Value> buffer = getBuffer(rewriter, input, options, state);
      if (failed(buffer))
        return failure();
      inputs.push_back(*buffer);
    }
    SmallVector<Value> inits;
    for (Value init : launch.getInits()) {
      FailureOr<Value> buffer = getBuffer(rewriter, init, options, state);
      if (failed(buffer))
        return failure();
      inits.push_back(*buffer);
    }
    auto bufferized = LaunchIntoOp::create(
        rewriter, op->getLoc(), /*results=*/TypeRange(), launch.getKernelAttr(),
        launch.getRolesAttr(), launch.getResultRolesAttr(), inputs, inits);
    bufferized->setDiscardableAttrs(op->getDiscardableAttrDictionary());
    replaceOpWithBufferizedValues(rewriter, op, inits);
    return success();
  }
};
} // namespace

void blockscale::registerBufferizableOpInterfaceExternalModels(
    DialectRegistry &registry) {
  registry.insert<BufferizationDialect>();
  func_ext::registerBufferizableOpInterfaceExternalModels(registry);
  registry.addExtension(+[](MLIRContext *context, BlockscaleDialect *) {
    LaunchIntoOp::attachInterface<LaunchIntoInterface>(*context);
  });
}

void blockscale::registerBufferizationDialect(DialectRegistry &registry) {
  registry.insert<bufferization::BufferizationDialect>();
}

bool blockscale::isBufferizable(Operation *op) {
  return isa<BufferizableOpInterface>(op) ||
         isa_and_nonnull<BufferizationDialect>(op->getDialect());
}

void blockscale::addBufferization(OpPassManager &manager) {
  manager.addPass(createEmptyTensorEliminationPass());
  OneShotBufferizePassOptions options;
  options.bufferizeFunctionBoundaries = true;
  options.allowReturnAllocsFromLoops = true;
  options.functionBoundaryTypeConversion = LayoutMapOption::IdentityLayoutMap;
  manager.addPass(createOneShotBufferizePass(options));
  buildBufferDeallocationPipeline(manager);
  manager.addPass(createConvertBufferizationToMemRefPass());
}
