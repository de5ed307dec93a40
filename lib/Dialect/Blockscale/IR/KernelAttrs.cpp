//===- KernelAttrs.cpp - attributes of kernels ---===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "blockscale/Dialect/Blockscale/IR/Blockscale.h"
#include "blockscale/HW/Metadata.h"
#include "blockscale/HW/ScaleLayout.h"
#include "blockscale/HW/Target.h"
#include "blockscale/HW/TensorMap.h"
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

/// Clusters are groups of whole pairs, of at most 16 CTAs.
static LogicalResult checkCluster(function_ref<InFlightDiagnostic()> emitError,
                                  int64_t ctaGroup, int64_t clusterM,
                                  int64_t clusterN) {
  constexpr int64_t kMax = hw::kMaxCluster;
  if (failed(checkField(emitError, "cta_group", ctaGroup, 1, 2)) ||
      failed(checkField(emitError, "cluster_m", clusterM, 1, kMax)) ||
      failed(checkField(emitError, "cluster_n", clusterN, 1, kMax)))
    return failure();
  if (ctaGroup == 2 && clusterM % 2 != 0)
    return emitError() << "expected 'cluster_m' to be a multiple of 2 because "
                          "'cta_group' is 2, found "
                       << clusterM;
  if (clusterM * clusterN > kMax)
    return emitError() << "expected at most " << kMax
                       << " CTAs in a cluster, found " << clusterM << "x"
                       << clusterN;
  return success();
}

LogicalResult
ScheduleAttr::verifyFields(function_ref<InFlightDiagnostic()> emitError,
                           const Fields &f) {
  constexpr int64_t kMaxStages = 16, kMaxGroup = 1 << 16;
  if (failed(checkField(emitError, "tile_m", f.tileM, 128, 256, 128)) ||
      failed(checkField(emitError, "tile_n", f.tileN, 8, 256, 8)) ||
      failed(checkField(emitError, "tile_k", f.tileK, 32, 768, 32)) ||
      failed(checkField(emitError, "stages", f.stages, 1, kMaxStages)) ||
      failed(checkField(emitError, "accumulators", f.accumulators, 1, 2)) ||
      failed(checkField(emitError, "group_m", f.groupM, 1, kMaxGroup)) ||
      failed(checkField(emitError, "mma_k", f.mmaK, 8, 128, 8)))
    return failure();
  return checkCluster(emitError, f.ctaGroup, f.clusterM, f.clusterN);
}

//===----------------------------------------------------------------------===//
// MmaAttr
//===----------------------------------------------------------------------===//

MmaAttr MmaAttr::getTransposed() const {
  Fields fields = getFields();
  std::swap(fields.a, fields.b);
  std::swap(fields.aMnMajor, fields.bMnMajor);
  return get(getContext(), fields);
}

int64_t MmaAttr::getTileK() const {
  int64_t row = hw::swizzleWidth(hw::Swizzle::B128) * 8 / getContainerBits();
  int64_t elements = std::max<int64_t>(row, hw::kAtomScales * getScaleSpan());
  if (!getSparse())
    return elements;
  int64_t perByte = hw::elementsPerMetadataByte(hw::sparsePattern(getKind()));
  elements = std::max<int64_t>(elements, perByte * hw::kMetadataTileBytes);
  // A padded type is loaded 128 elements at a time, which are stored ones.
  auto dataType = hw::tensorMapDataType(getA(), getContainerBits());
  int64_t stored =
      dataType ? hw::tensorMapDataTypeInfo(*dataType).innerMultiple : 1;
  return std::max<int64_t>(elements, stored * hw::kSparseCompression);
}

Type blockscale::accumulatorType(MmaAttr mma) {
  if (mma.getKind() == hw::MmaKind::I8)
    return IntegerType::get(mma.getContext(), 32);
  return Float32Type::get(mma.getContext());
}

//===----------------------------------------------------------------------===//
// Attributes of kernels and their arguments
//===----------------------------------------------------------------------===//

LogicalResult
BlockscaleDialect::verifyOperationAttribute(Operation *op,
                                            NamedAttribute attribute) {
  if (attribute.getName() == TargetAttr::name) {
    if (isa<TargetAttr>(attribute.getValue()))
      return success();
    return op->emitOpError() << "expected '" << TargetAttr::name
                             << "' to be a #blockscale.target attribute";
  }
  if (attribute.getName() == ProductAttr::name) {
    if (!isa<ProductAttr>(attribute.getValue()))
      return op->emitOpError() << "expected '" << ProductAttr::name
                               << "' to be a #blockscale.product attribute";
    if (op->hasAttr(KernelAttr::name))
      return success();
    return op->emitOpError()
           << "'" << ProductAttr::name << "' belongs on a function with '"
           << KernelAttr::name << "'";
  }
  if (attribute.getName() != KernelAttr::name)
    return op->emitOpError() << "has the unknown attribute '"
                             << attribute.getName().getValue() << "'";
  auto kernel = dyn_cast<KernelAttr>(attribute.getValue());
  if (!kernel)
    return op->emitOpError() << "expected '" << KernelAttr::name
                             << "' to be a #blockscale.kernel attribute";
  if (!isa<FunctionOpInterface>(op))
    return op->emitOpError()
           << "'" << KernelAttr::name << "' belongs on a function";
  if (kernel.getGrid().getNumDims() != 0 ||
      kernel.getGrid().getNumSymbols() != 6)
    return op->emitOpError()
           << "expected the grid to be a map of the 6 symbols M, N, K, batch, "
              "the number of SMs and the number of clusters that run at once";
  if (kernel.getGrid().getNumResults() == 0)
    return op->emitOpError() << "expected the grid to have a result";
  int64_t block = kernel.getBlock();
  if (block < 1 || block > hw::kMaxThreadsPerCta)
    return op->emitOpError() << "expected 1 to " << hw::kMaxThreadsPerCta
                             << " threads per CTA, found " << block;
  int64_t cluster = kernel.getCluster();
  if (cluster < 1 || cluster > hw::kMaxCluster)
    return op->emitOpError() << "expected 1 to " << hw::kMaxCluster
                             << " CTAs per cluster, found " << cluster;
  return success();
}

LogicalResult
BlockscaleDialect::verifyRegionArgAttribute(Operation *op, unsigned regionIndex,
                                            unsigned argIndex,
                                            NamedAttribute attribute) {
  if (attribute.getName() == ParameterAttr::name &&
      isa<ParameterAttr>(attribute.getValue()))
    return success();
  return op->emitOpError() << "argument " << argIndex
                           << " expected a #blockscale.parameter attribute "
                              "named 'blockscale.parameter', found '"
                           << attribute.getName().getValue() << "'";
}
