//===- PlannedProduct.cpp - the product that a kernel computes ------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "PlannedProduct.h"
#include "PlanExpressions.h"
#include "blockscale/Dialect/Blockscale/IR/Layouts.h"
#include "blockscale/Dialect/Blockscale/IR/Promotion.h"
#include "blockscale/Dialect/Blockscale/IR/Stores.h"

using namespace mlir;
using namespace blockscale;

FailureOr<PlannedProduct> blockscale::plannedProductOf(gpu::GPUFuncOp kernel) {
  auto attribute = kernel->getAttrOfType<ProductAttr>(ProductAttr::name);
  if (!attribute)
    return kernel.emitError() << "has no '" << ProductAttr::name << "'";
  PlannedProduct product;
  product.sourceFunction = attribute.getSource().str();
  if (StringAttr kernel = attribute.getVariantOf()) {
    product.variantOf = kernel.str();
    product.mostRows = attribute.getMostRows();
  }
  product.kGroups = attribute.getKGroups();
  product.gathered = attribute.getGathered();
  product.a = attribute.getA();
  product.b = attribute.getB();
  product.biasKind = attribute.getBias();
  product.epilogue = attribute.getEpilogue();
  product.hasPairs = attribute.getPairs();
  product.mma = attribute.getMma();
  product.swap = attribute.getSwapOperands();
  for (BlockArgument argument : kernel.getArguments()) {
    auto parameter = kernel.getArgAttrOfType<ParameterAttr>(
        argument.getArgNumber(), ParameterAttr::name);
    auto memory = dyn_cast<GlobalType>(argument.getType());
    if (!parameter)
      continue;
    product.alpha |= parameter.getRole() == ParameterRole::Alpha;
    if (parameter.getRole() == ParameterRole::D) {
      product.d = resultElement(argument.getType());
      product.isStoredByTma = !memory;
    }
    if (parameter.getRole() == ParameterRole::C) {
      product.c = resultElement(argument.getType());
      product.isCLoadedByTma = !memory;
    }
    if (!memory)
      continue;
    product.isGrouped |= parameter.getRole() == ParameterRole::Offsets;
    product.isMasked |= parameter.getRole() == ParameterRole::RowCounts;
    if (parameter.getRole() == ParameterRole::Bias)
      product.bias = memory.getElementType();
  }
  if (auto quantization =
          kernel->getAttrOfType<QuantizationAttr>(QuantizationAttr::name)) {
    product.d = quantization.getX();
    product.isQuantized = true;
  }
  if (!product.d)
    return kernel.emitError() << "has no parameter 'd'";
  return product;
}

SymbolicSizes blockscale::sizesOf(const PlannedProduct &product) {
  MLIRContext *context = product.a.getContext();
  auto size = [&](int64_t extent, unsigned symbol) -> AffineExpr {
    if (ShapedType::isDynamic(extent))
      return getAffineSymbolExpr(symbol, context);
    return getAffineConstantExpr(extent, context);
  };
  ProductSizes sizes = productSizes(product.a, product.b);
  if (product.kGroups)
    sizes.batch = product.kGroups < 0 ? ShapedType::kDynamic : product.kGroups;
  AffineExpr rowsOfA = size(sizes.m, product.gathered ? kTokensSymbol : 0);
  if (product.gathered)
    sizes.m = product.gathered < 0 ? ShapedType::kDynamic : product.gathered;
  return {size(sizes.m, 0), size(sizes.n, 1), size(sizes.k, 2),
          size(sizes.batch, 3), rowsOfA};
}

AffineExpr blockscale::matricesOf(const PlannedProduct &product, bool isB) {
  AffineExpr batch = sizesOf(product).batch;
  return (product.isGrouped && !isB) || product.kGroups
             ? getAffineConstantExpr(1, batch.getContext())
             : batch;
}

bool blockscale::hasTensorScale(ScaledTensorType type) {
  return type.getSpec().getValue().tensorScale.has_value();
}
