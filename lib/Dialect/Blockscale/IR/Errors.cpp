//===- Errors.cpp - errors of rounding ------------------------------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "blockscale/Dialect/Blockscale/IR/BlockscaleErrors.h"

using namespace mlir;
using namespace blockscale;

LogicalResult RoundingErrorsOp::inferReturnTypes(
    MLIRContext *context, std::optional<Location> location, Adaptor adaptor,
    SmallVectorImpl<Type> &types) {
  auto count = int64_t(adaptor.getValues().size());
  if (!count)
    return emitOptionalError(location, "expected numbers, found none");
  types.push_back(IntegerType::get(context, 32));
  types.push_back(VectorType::get({count}, Float32Type::get(context)));
  return success();
}

LogicalResult RoundingErrorsOp::verify() {
  Type format = getFormat();
  if (!isa<Float4E2M1FNType, Float6E2M3FNType, Float6E3M2FNType,
           Float8E4M3FNType, Float8E5M2Type>(format))
    return emitOpError()
           << "expected f4E2M1FN, f6E2M3FN, f6E3M2FN, f8E4M3FN or "
              "f8E5M2, found "
           << format;
  size_t count = isa<Float4E2M1FNType>(format) ? 8 : 2;
  if (getValues().size() != count)
    return emitOpError() << "expected " << count << " numbers of " << format
                         << ", found " << getValues().size();
  return success();
}

#define GET_OP_CLASSES
#include "blockscale/Dialect/Blockscale/IR/BlockscaleErrorOps.cpp.inc"
