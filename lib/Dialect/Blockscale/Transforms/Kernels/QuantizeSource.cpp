//===- QuantizeSource.cpp - a quantisation as the source of a kernel ------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "QuantizeSource.h"
#include "blockscale/Dialect/Blockscale/IR/Quantization.h"
#include "blockscale/Dialect/Blockscale/IR/QuantizedResult.h"
#include "blockscale/Dialect/Blockscale/Transforms/KernelSource.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Interfaces/FunctionInterfaces.h"

using namespace mlir;
using namespace blockscale;

static QuantizedStorage storageOf(QuantizeOp op) {
  Result<QuantizedStorage> storage =
      quantizedStorage(op.getType(), getTarget(op));
  assert(storage && "checkReady asks first");
  return *storage;
}

static bool hasTensorScale(QuantizeOp op) {
  return op.getType().getSpec().getValue().tensorScale.has_value();
}

/// Whether the function around does nothing but this.
static bool isWholeFunction(QuantizeOp op) {
  auto function = dyn_cast<FunctionOpInterface>(op->getParentOp());
  if (!function || !function.getFunctionBody().hasOneBlock())
    return false;
  Block &block = function.getFunctionBody().front();
  return llvm::hasNItems(block, 2) &&
         block.getTerminator()->getOperands() == op->getResults();
}

//===----------------------------------------------------------------------===//
// Rules
//===----------------------------------------------------------------------===//

/// The sizes must suit the 32-bit arithmetic of kernels and whole blocks.
static std::optional<Reason> whyNotSizes(const QuantizedStorage &storage) {
  auto k = dyn_cast<AffineConstantExpr>(storage.k);
  if (k && k.getValue() % storage.block != 0)
    return "a kernel quantises whole blocks, but K = " +
           std::to_string(k.getValue()) + " is no multiple of " +
           std::to_string(storage.block);
  for (AffineExpr size : {storage.rows, storage.k, storage.batch})
    if (auto constant = dyn_cast<AffineConstantExpr>(size))
      if (constant.getValue() > kMaxProductSize)
        return "its size of " + std::to_string(constant.getValue()) +
               " exceeds " + std::to_string(kMaxProductSize) +
               ", the most that the 32-bit coordinates of a kernel reach";
  AffineExpr bytes = storage.scales.matrixBytes * storage.batch;
  if (auto constant = dyn_cast<AffineConstantExpr>(bytes);
      constant && constant.getValue() > kMaxProductSize)
    return "its scales would take " + std::to_string(constant.getValue()) +
           " bytes, more than the " + std::to_string(kMaxProductSize) +
           " that the threads of a kernel are counted to";
  return std::nullopt;
}

std::optional<Reason> blockscale::whyNotKernel(QuantizeOp op) {
  hw::Target target = getTarget(op);
  if (auto why = hw::whyNotFeature(hw::Feature::NarrowConvert, target))
    return why;
  Result<QuantizedStorage> storage = quantizedStorage(op.getType(), target);
  if (!storage)
    return storage.why();
  if (hasTensorScale(op) && !op.getTensorScale())
    return "a kernel sees one block at a time, but the tensor scale of '" +
           std::string(op.getType().getSpec().getText()) +
           "' follows from the largest magnitude of the whole matrix; pass "
           "one as 'tensor_scale'";
  return whyNotSizes(*storage);
}

static LogicalResult checkReady(QuantizeOp op) {
  if (std::optional<Reason> why = whyNotKernel(op))
    return op.emitOpError() << why->text;
  return success();
}

//===----------------------------------------------------------------------===//
// The kernel
//===----------------------------------------------------------------------===//

static SmallVector<KernelParameter>
parametersOf(QuantizeOp op, const QuantizedStorage &storage) {
  MLIRContext *context = op.getContext();
  auto memory = [&](Type element) { return GlobalType::get(context, element); };
  Type f32 = Float32Type::get(context), i8 = IntegerType::get(context, 8),
       i32 = IntegerType::get(context, 32);
  SmallVector<KernelParameter> list{
      {memory(op.getInput().getType().getElementType()), ParameterRole::X}};
  if (hasTensorScale(op))
    list.push_back({memory(f32), ParameterRole::TensorScale});
  list.push_back({memory(i8), ParameterRole::DData});
  list.push_back({memory(i8), ParameterRole::DScales});
  if (hasTensorScale(op))
    list.push_back({memory(f32), ParameterRole::DTensorScale});
  for (auto [size, role] : {std::pair(storage.rows, ParameterRole::SizeM),
                            {storage.k, ParameterRole::SizeK},
                            {storage.batch, ParameterRole::Batch}})
    if (!isa<AffineConstantExpr>(size))
      list.push_back({i32, role});
  return list;
}

/// A thread for each byte of scales, padding included.
static AffineMap gridOf(const QuantizedStorage &storage) {
  AffineExpr bytes = storage.scales.matrixBytes * storage.batch;
  return AffineMap::get(0, 6, bytes.ceilDiv(kQuantizeThreads));
}

static KernelOutline outlineOf(QuantizeOp op, StringRef source) {
  MLIRContext *context = op.getContext();
  QuantizedStorage storage = storageOf(op);
  KernelOutline outline;
  outline.parameters = parametersOf(op, storage);
  outline.launch = KernelAttr::get(context, gridOf(storage), kQuantizeThreads,
                                   /*sharedBytes=*/0, /*tensorColumns=*/0,
                                   /*cluster=*/1, /*dependentLaunch=*/false,
                                   /*workspace=*/AffineMap());
  outline.quantization = quantizationOf(op, source);
  return outline;
}

static void buildBody(QuantizeOp op, ImplicitLocOpBuilder &b,
                      function_ref<Value(ParameterRole)> argument) {
  QuantizedStorage storage = storageOf(op);
  auto size = [&](ParameterRole role, AffineExpr expr) -> Value {
    if (Value value = argument(role))
      return value;
    return arith::ConstantIntOp::create(
        b, b.getI32Type(), cast<AffineConstantExpr>(expr).getValue());
  };
  QuantizeArguments arguments;
  arguments.x = argument(ParameterRole::X);
  arguments.tensorScale = argument(ParameterRole::TensorScale);
  arguments.data = argument(ParameterRole::DData);
  arguments.scales = argument(ParameterRole::DScales);
  arguments.storedTensorScale = argument(ParameterRole::DTensorScale);
  arguments.rows = size(ParameterRole::SizeM, storage.rows);
  arguments.k = size(ParameterRole::SizeK, storage.k);
  arguments.batch = size(ParameterRole::Batch, storage.batch);
  buildQuantizeBody(op, storage, b, arguments);
}

//===----------------------------------------------------------------------===//
// The interface
//===----------------------------------------------------------------------===//

namespace {
struct QuantizeSource
    : KernelSourceOpInterface::ExternalModel<QuantizeSource, QuantizeOp> {
  bool isWanted(Operation *op) const {
    return isWholeFunction(cast<QuantizeOp>(op));
  }
  /// There is nothing to choose; checkReady says what cannot be.
  LogicalResult legalize(Operation *, hw::Target, bool) const {
    return success();
  }
  LogicalResult selectSchedule(Operation *, hw::Target, int64_t) const {
    return success();
  }
  LogicalResult checkReady(Operation *op) const {
    return ::checkReady(cast<QuantizeOp>(op));
  }
  KernelOutline getOutline(Operation *op, StringRef source) const {
    return outlineOf(cast<QuantizeOp>(op), source);
  }
  void buildBody(Operation *op, ImplicitLocOpBuilder &b,
                 function_ref<Value(ParameterRole)> argument) const {
    ::buildBody(cast<QuantizeOp>(op), b, argument);
  }
};
} // namespace

void blockscale::attachQuantizeSource(MLIRContext &context) {
  QuantizeOp::attachInterface<QuantizeSource>(context);
}
