//===- KernelAttrs.cpp - attributes of kernels ---===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "blockscale/Dialect/Blockscale/IR/Blockscale.h"
#include "blockscale/HW/Target.h"
#include "mlir/IR/Builders.h"
#include "mlir/Interfaces/FunctionInterfaces.h"

using namespace mlir;
using namespace blockscale;

/// Refuses a field outside [`min`, `max`]; 0 stands for "not chosen".
static LogicalResult checkField(function_ref<InFlightDiagnostic()> emitError,
                                StringRef name, int64_t value, int64_t min,
                                int64_t max, int64_t step = 1) {
  if (value == 0 || (value >= min && value <= max && value % step == 0))
    return success();
  InFlightDiagnostic diag = emitError()
                            << "expected '" << name << "' of " << min;
  if (max > min)
    diag << " to " << max;
  if (step > 1)
    diag << " in steps of " << step;
  return diag << ", found " << value;
}

LogicalResult ScheduleAttr::verify(
    function_ref<InFlightDiagnostic()> emitError, StringAttr target,
    int64_t tileM, int64_t tileN, int64_t tileK, int64_t stages,
    int64_t accumulators, BoolAttr swapOperands, int64_t groupM) {
  std::string why;
  if (target && !hw::parseTarget(target.getValue(), &why))
    return emitError() << why;
  constexpr int64_t kMaxStages = 16, kMaxGroup = 1 << 16;
  if (failed(checkField(emitError, "tile_m", tileM, 128, 128)) ||
      failed(checkField(emitError, "tile_n", tileN, 8, 256, 8)) ||
      failed(checkField(emitError, "tile_k", tileK, 128, 256, 128)) ||
      failed(checkField(emitError, "stages", stages, 1, kMaxStages)) ||
      failed(checkField(emitError, "accumulators", accumulators, 1, 2)) ||
      failed(checkField(emitError, "group_m", groupM, 1, kMaxGroup)))
    return failure();
  return success();
}

//===----------------------------------------------------------------------===//
// Attributes of kernels and their arguments
//===----------------------------------------------------------------------===//

LogicalResult
BlockscaleDialect::verifyOperationAttribute(Operation *op,
                                            NamedAttribute attribute) {
  if (attribute.getName() != KernelAttr::name)
    return op->emitOpError() << "has the unknown attribute '"
                             << attribute.getName().getValue() << "'";
  auto kernel = dyn_cast<KernelAttr>(attribute.getValue());
  if (!kernel)
    return op->emitOpError()
           << "expected '" << KernelAttr::name
           << "' to be a #blockscale.kernel attribute";
  if (!isa<FunctionOpInterface>(op))
    return op->emitOpError() << "'" << KernelAttr::name
                             << "' belongs on a function";
  std::string why;
  if (!hw::parseTarget(kernel.getTarget().getValue(), &why))
    return op->emitOpError() << why;
  if (kernel.getGrid().getNumDims() != 0 ||
      kernel.getGrid().getNumSymbols() != 5)
    return op->emitOpError()
           << "expected the grid to be a map of the 5 symbols M, N, K, batch "
              "and the number of SMs";
  if (kernel.getGrid().getNumResults() == 0)
    return op->emitOpError() << "expected the grid to have a result";
  int64_t block = kernel.getBlock();
  if (block < 1 || block > hw::kMaxThreadsPerCta)
    return op->emitOpError() << "expected 1 to " << hw::kMaxThreadsPerCta
                             << " threads per CTA, found " << block;
  return success();
}

LogicalResult BlockscaleDialect::verifyRegionArgAttribute(
    Operation *op, unsigned regionIndex, unsigned argIndex,
    NamedAttribute attribute) {
  if (attribute.getName() == ParameterAttr::name &&
      isa<ParameterAttr>(attribute.getValue()))
    return success();
  return op->emitOpError() << "argument " << argIndex
                           << " expected a #blockscale.parameter attribute "
                              "named 'blockscale.parameter', found '"
                           << attribute.getName().getValue() << "'";
}
