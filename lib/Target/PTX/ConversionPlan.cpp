//===- ConversionPlan.cpp - the plan of a kernel that converts ------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "ConversionPlan.h"
#include "PlanExpressions.h"
#include "PlanParts.h"
#include "StoragePlan.h"
#include "blockscale/Dialect/Blockscale/IR/Conversion.h"
#include "blockscale/Dialect/Blockscale/IR/ElementTypes.h"
#include "blockscale/Dialect/Blockscale/IR/Promotion.h"
#include "blockscale/Plan/Sizes.h"
#include "blockscale/Target/PTX/LaunchPlan.h"
#include "blockscale/Target/PTX/Report.h"

using namespace mlir;
using namespace blockscale;

/// Batches of M rows of K numbers.
static plan::PlainOperand plainMatrix(const QuantizedStorage &storage,
                                      Type element, ParameterRole role) {
  AffineExpr matrix = storage.rows * storage.k;
  plan::PlainOperand d;
  d.operand = stringifyParameterRole(role).str();
  d.type = planTypeName(element);
  d.rowPitch = printExpression(storage.k);
  d.batchPitch = printExpression(matrix);
  d.elements = printExpression(matrix * storage.batch);
  d.alignment = kPlannedAccessBytes;
  return d;
}

/// One for each scale, in the same order.
static plan::PlainOperand zeroPoints(const QuantizedStorage &storage,
                                     Type type) {
  AffineExpr ofMatrix = storage.floatsOfMatrix();
  plan::PlainOperand zeros;
  zeros.operand = stringifyParameterRole(ParameterRole::AZeros).str();
  zeros.type = planTypeName(type);
  zeros.rowPitch = printExpression(storage.floatsOfRows());
  zeros.batchPitch = printExpression(ofMatrix);
  zeros.elements = printExpression(ofMatrix * storage.batch);
  zeros.alignment = unsigned(plan::plainBytes(zeros.type));
  return zeros;
}

/// Threads have numbers of 32 bits.
static void limitThreads(AffineExpr threads, plan::Kernel &result) {
  if (!isa<AffineConstantExpr>(threads))
    result.limits.push_back(
        {printExpression(threads), kMaxProductSize, "threads"});
}

static FailureOr<plan::Kernel> planDequantization(gpu::GPUFuncOp kernel,
                                                  ConversionAttr conversion,
                                                  KernelAttr attribute) {
  auto from = cast<ScaledTensorType>(conversion.getA());
  Result<QuantizedStorage> found = dequantizedStorage(from, getTarget(kernel));
  if (!found)
    return kernel.emitError() << found.why().text;
  const QuantizedStorage &storage = *found;
  Type element = cast<RankedTensorType>(conversion.getD()).getElementType();
  plan::Kernel result;
  if (failed(planElementwise(kernel, attribute, storage, result)))
    return failure();
  limitThreads(threadsToDequantize(storage, element), result);
  result.data = {dataPacking(storage, "a")};
  if (storage.scale)
    result.scales = {scalePacking(storage, from, "a")};
  else
    result.vectorScales = {floatScales(storage, "a")};
  const ScaleSpec &spec = from.getSpec().getValue();
  if (spec.zero) {
    result.data.front().format = print(*getNumberSpec(from.getElementType()));
  }
  if (spec.tensorScale)
    result.tensorScales = {
        {"a", printExpression(storage.batch), sizeof(float)}};
  result.operands = {plainMatrix(storage, element, ParameterRole::D)};
  if (spec.zero)
    result.operands.push_back(
        zeroPoints(storage, getBuiltinType(from.getContext(), *spec.zero)));
  return result;
}

/// Elements of a byte in the order of `type`.
static plan::DataPacking bytesOf(const QuantizedStorage &storage,
                                 ScaledTensorType type, AffineExpr lines,
                                 AffineExpr elements, StringRef operand) {
  plan::DataPacking data = dataPacking(storage, operand);
  std::optional<hw::OperandType> element =
      getOperandType(type.getElementType());
  data.format =
      element ? element->name() : print(*getNumberSpec(type.getElementType()));
  data.order = stringifyDataOrder(type.getOrder()).str();
  data.lines = printExpression(lines);
  data.elements = printExpression(elements);
  return data;
}

/// Metadata of `type`, which is that before or behind.
static plan::MetadataPacking
metadataOf(const MovedBytes &moved, ScaledTensorType type, StringRef operand) {
  const QuantizedStorage &storage = operand == "a" ? moved.from : moved.to;
  plan::MetadataPacking metadata = metadataPacking(
      *sparsePattern(type), storage.scales, storage.batch, operand);
  metadata.alignment = kPlannedAccessBytes;
  if (type.getLayout() == ScaleLayout::Plain)
    metadata.layout = stringifyScaleLayout(ScaleLayout::Plain).str();
  return metadata;
}

/// Scales that are there once for each tile, of however many rows.
static plan::ScalePacking tilesOf(const QuantizedStorage &storage,
                                  ScaledTensorType type, StringRef operand) {
  plan::ScalePacking scales = scalePacking(storage, type, operand);
  scales.offset =
      placeFormula(storage.scales, /*blockSize=*/1, storage.rowTile);
  return scales;
}

/// One for each place of scales, which says where it lies.
static plan::PlainOperand zerosBesideScales(const QuantizedStorage &scales,
                                            ScaledTensorType type,
                                            ParameterRole role) {
  plan::PlainOperand zeros;
  zeros.operand = stringifyParameterRole(role).str();
  zeros.type = planTypeName(
      getBuiltinType(type.getContext(), *type.getSpec().getValue().zero));
  zeros.rowPitch = printExpression(scales.scales.matrixBytes);
  zeros.batchPitch = zeros.rowPitch;
  zeros.elements = printExpression(scales.scales.matrixBytes * scales.batch);
  zeros.alignment = unsigned(plan::plainBytes(zeros.type));
  return zeros;
}

/// What lies elsewhere in the result moves, and nothing else.
static FailureOr<plan::Kernel> planRelayout(gpu::GPUFuncOp kernel,
                                            ConversionAttr conversion,
                                            KernelAttr attribute) {
  auto from = cast<ScaledTensorType>(conversion.getA()),
       to = cast<ScaledTensorType>(conversion.getD());
  Result<RelayoutStorage> storage = relayoutStorage(from, to);
  if (!storage)
    return kernel.emitError() << storage.why().text;
  plan::Kernel result;
  if (failed(planElementwise(kernel, attribute, storage->sizes, result)))
    return failure();
  limitThreads(threadsToRelayout(*storage), result);
  if (const auto &moved = storage->elements)
    result.data = {
        bytesOf(moved->from, from, moved->fromLines, moved->toLines, "a"),
        bytesOf(moved->to, to, moved->toLines, moved->fromLines, "d")};
  if (const auto &moved = storage->metadata)
    result.metadata = {metadataOf(*moved, from, "a"),
                       metadataOf(*moved, to, "d")};
  if (storage->scales)
    result.scales = {tilesOf(storage->scales->from, from, "a"),
                     tilesOf(storage->scales->to, to, "d")};
  if (storage->zeros)
    result.operands = {
        zerosBesideScales(storage->scales->from, from, ParameterRole::AZeros),
        zerosBesideScales(storage->scales->to, to, ParameterRole::DZeros)};
  return result;
}

static FailureOr<plan::Kernel> planPruning(gpu::GPUFuncOp kernel,
                                           ConversionAttr conversion,
                                           KernelAttr attribute) {
  auto type = cast<RankedTensorType>(conversion.getA());
  Result<QuantizedStorage> storage = prunedStorage(type, conversion.getGroup());
  if (!storage)
    return kernel.emitError() << storage.why().text;
  plan::Kernel result;
  if (failed(planElementwise(kernel, attribute, *storage, result)))
    return failure();
  limitThreads(threadsToPrune(*storage), result);
  for (ParameterRole role : {ParameterRole::X, ParameterRole::D})
    result.operands.push_back(
        plainMatrix(*storage, type.getElementType(), role));
  return result;
}

/// Scales in layout 'plain' of an operand of those sizes.
static plan::VectorScales vectorScalesOf(const QuantizedStorage &sizes,
                                         ScaledTensorType type,
                                         StringRef operand) {
  MLIRContext *context = type.getContext();
  const NumberSpec &spec = *type.getSpec().getValue().scale;
  std::optional<ElementFormat> format = byteFactor(spec);
  AffineExpr one = getAffineConstantExpr(1, context);
  int64_t rows = type.getRowTile(), block = type.getKTile();
  AffineExpr ofMatrix = (rows ? sizes.rows.ceilDiv(rows) : one) *
                        (block ? sizes.k.ceilDiv(block) : one);
  plan::VectorScales scales;
  scales.operand = operand.str();
  scales.format = format ? std::string(formatName(*format))
                         : planTypeName(getBuiltinType(context, spec));
  scales.rows = unsigned(rows);
  scales.block = unsigned(block);
  scales.matrixElements = printExpression(ofMatrix);
  scales.elements = printExpression(ofMatrix * sizes.batch);
  scales.alignment = unsigned(plan::plainBytes(scales.format));
  return scales;
}

/// Elements move, and metadata with them; scales stay, or are repeated.
static FailureOr<plan::Kernel> planSparse(gpu::GPUFuncOp kernel,
                                          ConversionAttr conversion,
                                          KernelAttr attribute) {
  auto from = cast<ScaledTensorType>(conversion.getA()),
       to = cast<ScaledTensorType>(conversion.getD());
  Result<SparseStorage> storage = sparseStorage(from, to);
  if (!storage)
    return kernel.emitError() << storage.why().text;
  plan::Kernel result;
  if (failed(planElementwise(kernel, attribute, storage->dense, result)))
    return failure();
  limitThreads(threadsOfSparse(*storage), result);
  bool compresses = to.getSpec().getValue().isSparse();
  QuantizedStorage stored = storage->sparse;
  stored.k = stored.k.floorDiv(int64_t(hw::kSparseCompression));
  const QuantizedStorage *before = &stored, *behind = &storage->dense;
  if (compresses)
    std::swap(before, behind);
  result.data = {dataPacking(*before, "a"), dataPacking(*behind, "d")};
  for (plan::DataPacking &data : result.data)
    data.format = storage->element.name();
  result.metadata = {metadataPacking(storage->pattern, storage->metadata,
                                     storage->dense.batch,
                                     compresses ? "d" : "a")};
  result.metadata.front().alignment = kPlannedAccessBytes;
  if (!storage->padsMetadata)
    result.metadata.front().layout =
        stringifyScaleLayout(ScaleLayout::Plain).str();
  if (storage->scales)
    result.scales = {scalePacking(storage->scales->from, from, "a"),
                     scalePacking(storage->scales->to, to, "d")};
  if (storage->plainScales)
    result.vectorScales = {vectorScalesOf(storage->dense, from, "a"),
                           vectorScalesOf(storage->dense, to, "d")};
  return result;
}

/// D has a row of sums for each tile.
static FailureOr<plan::Kernel> planTileSums(gpu::GPUFuncOp kernel,
                                            ConversionAttr conversion,
                                            KernelAttr attribute) {
  auto from = cast<ScaledTensorType>(conversion.getA());
  Result<SumStorage> sums =
      sumStorage(from, conversion.getGroup(), getTarget(kernel));
  if (!sums)
    return kernel.emitError() << sums.why().text;
  const QuantizedStorage &storage = sums->storage;
  plan::Kernel result;
  if (failed(planElementwise(kernel, attribute, storage, result)))
    return failure();
  limitThreads(threadsToSum(*sums), result);
  result.data = {dataPacking(storage, "a")};
  result.data.front().format = sums->element.name();
  const ScaleSpec &spec = from.getSpec().getValue();
  if (!spec.isUnscaled())
    result.vectorScales = {vectorScalesOf(storage, from, "a")};
  if (spec.tensorScale)
    result.tensorScales = {
        {"a", printExpression(storage.batch), sizeof(float)}};
  QuantizedStorage rows = storage;
  rows.rows = sums->tiles;
  rows.k = storage.rows;
  result.operands = {plainMatrix(rows, Float32Type::get(kernel.getContext()),
                                 ParameterRole::D)};
  return result;
}

static FailureOr<plan::Kernel>
planOf(gpu::GPUFuncOp kernel, ConversionAttr conversion, KernelAttr attribute) {
  auto from = dyn_cast<ScaledTensorType>(conversion.getA()),
       to = dyn_cast<ScaledTensorType>(conversion.getD());
  if (!from)
    return planPruning(kernel, conversion, attribute);
  if (!to && isTileSums(conversion))
    return planTileSums(kernel, conversion, attribute);
  if (!to)
    return planDequantization(kernel, conversion, attribute);
  if (from.getSpec().getValue().isSparse() !=
      to.getSpec().getValue().isSparse())
    return planSparse(kernel, conversion, attribute);
  return planRelayout(kernel, conversion, attribute);
}

FailureOr<plan::Kernel> blockscale::planConversion(gpu::GPUFuncOp kernel,
                                                   KernelAttr attribute) {
  auto conversion = kernel->getAttrOfType<ConversionAttr>(ConversionAttr::name);
  FailureOr<plan::Kernel> result = planOf(kernel, conversion, attribute);
  if (failed(result))
    return failure();
  result->sourceFunction = conversion.getSource().str();
  result->conversion =
      plan::Conversion{conversion.getOp().str(), unsigned(conversion.getKeep()),
                       unsigned(conversion.getGroup()), conversion.getPairs()};
  if (conversion.getOp() == kRelayoutKind) {
    auto from = cast<ScaledTensorType>(conversion.getA());
    result->conversion->mnMajor = from.getOrder() == DataOrder::MNMajor;
    result->conversion->sparse = from.getSpec().getValue().isSparse();
  }
  return result;
}
