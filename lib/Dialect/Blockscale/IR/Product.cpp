//===- Product.cpp - target, sizes and limits of products -----------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "blockscale/Dialect/Blockscale/IR/Blockscale.h"
#include "blockscale/HW/Target.h"

using namespace mlir;
using namespace blockscale;

//===----------------------------------------------------------------------===//
// Target
//===----------------------------------------------------------------------===//

std::optional<hw::Target> blockscale::findTarget(Operation *op) {
  for (; op; op = op->getParentOp())
    if (auto target = op->getAttrOfType<TargetAttr>(TargetAttr::name))
      return target.getValue();
  return std::nullopt;
}

hw::Target blockscale::getTarget(Operation *op) {
  return findTarget(op).value_or(hw::kDefaultTarget);
}

//===----------------------------------------------------------------------===//
// Sizes
//===----------------------------------------------------------------------===//

ProductSizes blockscale::productSizes(ScaledTensorType a, ScaledTensorType b) {
  auto known = [](int64_t first, int64_t second) {
    return ShapedType::isDynamic(first) ? second : first;
  };
  // Groups of rows of one matrix have a matrix of `b` each.
  int64_t batch = b.isBatched() ? b.getShape().front() : 1;
  if (a.isBatched())
    batch = known(a.getShape().front(), batch);
  return {a.getNumRows(), b.getNumRows(), known(a.getK(), b.getK()), batch};
}

ProductSizes MatmulOp::getSizes() {
  ProductSizes sizes = productSizes(getA().getType(), getB().getType());
  if (isGroupedAlongK())
    sizes.batch = getOffsets().getType().getDimSize(0);
  if (isGathered())
    sizes.m = getRowNumbers().getType().getDimSize(0);
  return sizes;
}

int64_t MatmulOp::getResultColumns() {
  int64_t n = getSizes().n;
  return getPairs() && !ShapedType::isDynamic(n) ? n / 2 : n;
}

ProductSizes ProductAttr::getSizes() const {
  ProductSizes sizes = productSizes(getA(), getB());
  if (getKGroups())
    sizes.batch = getKGroups() < 0 ? ShapedType::kDynamic : getKGroups();
  if (getGathered())
    sizes.m = getGathered() < 0 ? ShapedType::kDynamic : getGathered();
  return sizes;
}

ProductAttr ProductAttr::asVariant(StringAttr kernel, int64_t mostRows) const {
  return get(getContext(), getSource(), getA(), getB(), getMma(),
             getSwapOperands(), getBias(), getEpilogue(), mostRows, kernel,
             getKGroups(), getGathered(), getPairs());
}

//===----------------------------------------------------------------------===//
// Limits
//===----------------------------------------------------------------------===//

/// The value for the largest sizes; none if it exceeds 64 bits.
static std::optional<int64_t> largestValue(AffineExpr value) {
  SmallVector<AffineExpr> largest(
      kSymbolsOfGathered,
      getAffineConstantExpr(kMaxProductSize, value.getContext()));
  auto constant = dyn_cast<AffineConstantExpr>(value.replaceSymbols(largest));
  if (!constant)
    return std::nullopt;
  return constant.getValue();
}

static bool dependsOnSizes(AffineExpr value) {
  return value
      .walk([](AffineExpr part) {
        return isa<AffineSymbolExpr>(part) ? WalkResult::interrupt()
                                           : WalkResult::advance();
      })
      .wasInterrupted();
}

FailureOr<SmallVector<SizeLimit>>
blockscale::sizeLimits(FunctionOpInterface kernel,
                       function_ref<InFlightDiagnostic()> diagnose) {
  SmallVector<SizeLimit> all, limits;
  // The first result has a cluster for each tile.
  auto attribute = kernel->getAttrOfType<KernelAttr>(KernelAttr::name);
  all.push_back({attribute.getGrid().getResult(0), kMaxProductSize,
                 "CTAs, one for each output tile"});
  // cuTensorMapEncodeTiled takes strides below 2^40; extents, which may have
  // 32 bits, hold all sizes.
  constexpr int64_t kMaxStride = (int64_t(1) << 40) - 1;
  for (BlockArgument argument : kernel.getArguments()) {
    auto map = dyn_cast<TensorMapType>(argument.getType());
    auto parameter = kernel.getArgAttrOfType<ParameterAttr>(
        argument.getArgNumber(), ParameterAttr::name);
    if (!map || !parameter)
      continue;
    std::string of = " of the tensor map '" +
                     stringifyParameterRole(parameter.getRole()).str() + "'";
    for (AffineExpr stride : map.getStrides().getResults())
      all.push_back({stride, kMaxStride, "bytes of a stride" + of});
  }
  for (SizeLimit &limit : all) {
    if (dependsOnSizes(limit.value)) {
      std::optional<int64_t> largest = largestValue(limit.value);
      if (!largest || *largest > limit.maximum)
        limits.push_back(std::move(limit));
      continue;
    }
    // What does not fold to a constant exceeds 64 bits.
    auto constant = dyn_cast<AffineConstantExpr>(limit.value);
    if (constant && constant.getValue() <= limit.maximum)
      continue;
    InFlightDiagnostic diag = diagnose();
    if (constant)
      diag << "needs " << constant.getValue();
    else
      diag << "needs more than 2^63";
    return diag << " " << limit.what << "; at most " << limit.maximum
                << " are legal";
  }
  return limits;
}
