//===- StoragePlan.cpp - the plan of a scaled tensor in memory ------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "StoragePlan.h"
#include "PlanExpressions.h"
#include "PlanParts.h"
#include "blockscale/Plan/Sizes.h"
#include "blockscale/Target/PTX/LaunchPlan.h"

using namespace mlir;
using namespace blockscale;

plan::DataPacking blockscale::dataPacking(const QuantizedStorage &storage,
                                          StringRef operand) {
  plan::DataPacking data;
  data.operand = operand.str();
  data.format = std::string(formatName(storage.element));
  data.order = stringifyDataOrder(DataOrder::KMajor).str();
  data.bits = storage.data->globalBits;
  data.elementMultiple = storage.data->innerMultiple;
  data.lines = printExpression(storage.rows);
  data.elements = printExpression(storage.k);
  data.linePitch = printExpression(storage.linePitch);
  data.batchPitch = printExpression(storage.batchPitch);
  data.alignment = std::max(kPlannedAccessBytes, storage.data->alignment);
  data.bitOrder = bitOrder(data.bits);
  return data;
}

plan::ScalePacking blockscale::scalePacking(const QuantizedStorage &storage,
                                            ScaledTensorType type,
                                            StringRef operand) {
  plan::ScalePacking scales;
  scales.operand = operand.str();
  scales.format = std::string(formatName(*storage.scale));
  scales.block = unsigned(storage.block);
  scales.rows = unsigned(storage.rowTile);
  if (storage.tileBlocks > 1)
    scales.elements = unsigned(storage.tileElements());
  scales.layout = stringifyScaleLayout(type.getLayout()).str();
  scales.offset = placeFormula(storage.scales);
  scales.paddedRows = paddedExtent(storage.scales, hw::Dim::Row);
  scales.paddedScales = paddedExtent(storage.scales, hw::Dim::Block);
  scales.bytes = printExpression(storage.scales.matrixBytes * storage.batch);
  scales.largestPaddingValue = formatInfo(*storage.scale).codeMask();
  scales.alignment = kPlannedAccessBytes;
  return scales;
}

plan::VectorScales blockscale::floatScales(const QuantizedStorage &storage,
                                           StringRef operand) {
  plan::VectorScales scales;
  scales.operand = operand.str();
  bool isPower = storage.hasPowers();
  scales.format = isPower ? std::string(formatName(ElementFormat::UE8M0))
                          : planTypeName(storage.plainScale);
  scales.rows = unsigned(storage.rowTile);
  scales.block = unsigned(storage.tileElements());
  scales.matrixElements = printExpression(storage.floatsOfMatrix());
  scales.elements = printExpression(storage.floatsOfMatrix() * storage.batch);
  scales.alignment = unsigned(plan::plainBytes(scales.format));
  return scales;
}

plan::MetadataPacking
blockscale::metadataPacking(hw::SparsePattern pattern,
                            const hw::StorageLayout<AffineExpr> &storage,
                            AffineExpr batch, StringRef operand) {
  int64_t perByte = hw::elementsPerMetadataByte(pattern);
  plan::MetadataPacking metadata;
  metadata.operand = operand.str();
  metadata.pattern = hw::patternName(pattern);
  metadata.elementsPerByte = perByte;
  metadata.layout = "tiled_128x16";
  metadata.offset = placeFormula(storage, perByte);
  metadata.paddedRows = paddedExtent(storage, hw::Dim::Row);
  metadata.paddedElements = paddedExtent(storage, hw::Dim::Block, perByte);
  metadata.bytes = printExpression(storage.matrixBytes * batch);
  metadata.paddingValue = hw::kEmptyMetadataByte;
  return metadata;
}

static std::vector<plan::Size> sizesOf(const QuantizedStorage &storage) {
  AffineExpr one = getAffineConstantExpr(1, storage.k.getContext());
  std::vector<plan::Size> list;
  for (auto [name, expr] : {std::pair<StringRef, AffineExpr>{"M", storage.rows},
                            {"N", one},
                            {"K", storage.k},
                            {"batch", storage.batch}}) {
    plan::Size size{name.str(), std::nullopt, kMaxProductSize};
    if (auto constant = dyn_cast<AffineConstantExpr>(expr))
      size.value = constant.getValue();
    list.push_back(size);
  }
  return list;
}

LogicalResult blockscale::planElementwise(gpu::GPUFuncOp kernel,
                                          KernelAttr attribute,
                                          const QuantizedStorage &storage,
                                          plan::Kernel &result) {
  auto parameters = parametersOf(kernel);
  auto limits = limitsOf(kernel);
  if (failed(parameters) || failed(limits))
    return failure();
  result.name = kernel.getName().str();
  result.grid = {printMinimum(attribute.getGrid()), "1", "1"};
  result.cluster = {1, 1, 1};
  result.block = {attribute.getBlock(), 1, 1};
  result.sizes = sizesOf(storage);
  result.limits = std::move(*limits);
  if (!isa<AffineConstantExpr>(storage.k) && storage.block > 1)
    result.conditions = {printExpression(storage.k % storage.block) + " == 0"};
  result.parameters = std::move(*parameters);
  return success();
}
