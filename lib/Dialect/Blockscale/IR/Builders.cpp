//===- Builders.cpp - products from C++ -----------------------------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "blockscale/Dialect/Blockscale/IR/Builders.h"

using namespace mlir;
using namespace blockscale;

ScaledTensorType blockscale::getScaledTensorType(
    llvm::function_ref<InFlightDiagnostic()> emitError, ArrayRef<int64_t> shape,
    Type elementType, StringRef spec, ScaleLayout layout, DataOrder order) {
  if (!elementType) {
    emitError() << "expected an element type, found none";
    return {};
  }
  ScaleSpec scales;
  if (!spec.empty()) {
    Result<ScaleSpec> parsed = parseScaleSpec(spec);
    if (!parsed) {
      emitError() << "illegal scale spec '" << spec
                  << "': " << parsed.why().text;
      return {};
    }
    scales = *parsed;
  }
  auto attribute = ScaleSpecAttr::get(elementType.getContext(), scales);
  return ScaledTensorType::getChecked(emitError, shape, elementType, attribute,
                                      layout, order);
}

MatmulOp blockscale::createMatmul(OpBuilder &builder, Location loc, Value a,
                                  Value b, Type resultElement) {
  auto aType = cast<ScaledTensorType>(a.getType());
  auto bType = cast<ScaledTensorType>(b.getType());
  SmallVector<int64_t> shape;
  if (aType.isBatched())
    shape.push_back(productSizes(aType, bType).batch);
  shape.append({aType.getNumRows(), bType.getNumRows()});
  auto result = RankedTensorType::get(shape, resultElement);
  return MatmulOp::create(builder, loc, result, a, b, /*alpha=*/Value(),
                          /*beta=*/Value(), /*c=*/Value(), /*bias=*/Value(),
                          /*offsets=*/Value(), /*rowNumbers=*/Value(),
                          BiasKind::Column, /*pairs=*/false, LoweringAttr());
}
