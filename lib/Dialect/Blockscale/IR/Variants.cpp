//===- Variants.cpp - kernels of a product for few rows -------------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "KernelVerifiers.h"
#include "blockscale/Dialect/Blockscale/IR/Blockscale.h"

using namespace mlir;
using namespace blockscale;

LogicalResult VariantAttr::verify(function_ref<InFlightDiagnostic()> emitError,
                                  int64_t mostRows, MmaAttr mma,
                                  ScheduleAttr schedule) {
  if (mostRows < 1 || mostRows >= kMaxProductSize)
    return emitError() << "expected 'most_rows' of 1 to " << kMaxProductSize - 1
                       << ", found " << mostRows;
  if (!mma.getM() || !schedule.isComplete())
    return emitError() << "expected a complete instruction and schedule";
  return success();
}

LogicalResult blockscale::verifyVariants(Operation *op, Attribute attribute) {
  auto matmul = dyn_cast<MatmulOp>(op);
  if (!matmul)
    return op->emitOpError() << "'" << VariantAttr::arrayName
                             << "' belongs on a 'blockscale.matmul'";
  auto variants = dyn_cast<ArrayAttr>(attribute);
  if (!variants || !llvm::all_of(variants, llvm::IsaPred<VariantAttr>))
    return op->emitOpError() << "expected '" << VariantAttr::arrayName
                             << "' to be an array of #blockscale.variant "
                                "attributes";
  if (int64_t rows = matmul.getSizes().m; !ShapedType::isDynamic(rows))
    return op->emitOpError()
           << "has " << rows << " rows at every call, so that '"
           << VariantAttr::arrayName << "' for other numbers mean nothing";
  int64_t before = 0;
  for (auto variant : variants.getAsRange<VariantAttr>()) {
    if (variant.getMostRows() <= before)
      return op->emitOpError() << "expected each of '" << VariantAttr::arrayName
                               << "' to take more rows than the one before it, "
                               << before << "; found " << variant.getMostRows();
    before = variant.getMostRows();
  }
  return success();
}
