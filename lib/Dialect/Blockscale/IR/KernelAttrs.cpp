//===- KernelAttrs.cpp - attributes of kernels ---===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "KernelVerifiers.h"
#include "blockscale/Dialect/Blockscale/IR/Blockscale.h"
#include "blockscale/Dialect/Blockscale/IR/PlanAttr.h"
#include "blockscale/Dialect/Blockscale/IR/Quantization.h"
#include "blockscale/Dialect/Blockscale/IR/QuantizedResult.h"
#include "blockscale/Dialect/Blockscale/IR/ZeroTerms.h"
#include "blockscale/HW/Metadata.h"
#include "blockscale/HW/ScaleLayout.h"
#include "blockscale/HW/Target.h"
#include "blockscale/HW/TensorMap.h"
#include "blockscale/HW/TileColumns.h"
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
                                  const ScheduleAttr::Fields &f) {
  constexpr int64_t kMax = hw::kMaxCluster;
  if (failed(checkField(emitError, "cta_group", f.ctaGroup, 1, 2)) ||
      failed(checkField(emitError, "cluster_m", f.clusterM, 1, kMax)) ||
      failed(checkField(emitError, "cluster_n", f.clusterN, 1, kMax)) ||
      failed(checkField(emitError, "cluster_k", f.clusterK, 1, kMax)))
    return failure();
  if (f.ctaGroup == 2 && f.clusterM % 2 != 0)
    return emitError() << "expected 'cluster_m' to be a multiple of 2 because "
                          "'cta_group' is 2, found "
                       << f.clusterM;
  if (f.clusterM * f.clusterN > kMax)
    return emitError() << "expected at most " << kMax
                       << " CTAs in a cluster, found " << f.clusterM << "x"
                       << f.clusterN;
  if (f.clusterK > 1 && f.clusterK != f.splitK)
    return emitError() << "expected 'cluster_k' of 1 or of 'split_k', which is "
                       << std::max<int64_t>(1, f.splitK) << ", found "
                       << f.clusterK;
  return success();
}

LogicalResult
ScheduleAttr::verifyFields(function_ref<InFlightDiagnostic()> emitError,
                           const Fields &f) {
  constexpr int64_t kMaxStages = 16, kMaxGroup = 1 << 16, kMaxSplits = 64,
                    kMaxShares = 1024;
  if (failed(checkField(emitError, "tile_m", f.tileM, 128, 512, 128)) ||
      failed(
          checkField(emitError, "tile_n", f.tileN, 8, hw::kTileColumns, 8)) ||
      failed(checkField(emitError, "tile_k", f.tileK, 32, 768, 32)) ||
      failed(checkField(emitError, "stages", f.stages, 1, kMaxStages)) ||
      failed(checkField(emitError, "scale_stages", f.scaleStages, 1,
                        f.stages ? f.stages : kMaxStages)) ||
      failed(checkField(emitError, "accumulators", f.accumulators, 1, 4)) ||
      failed(checkField(emitError, "group_m", f.groupM, 1, kMaxGroup)) ||
      failed(checkField(emitError, "split_k", f.splitK, 1, kMaxSplits)) ||
      failed(checkField(emitError, "stream_k", f.streamK, 1, kMaxShares)) ||
      failed(checkField(emitError, "mma_k", f.mmaK, 8, 128, 8)) ||
      failed(
          checkField(emitError, "epilogue_warps", f.epilogueWarps, 4, 8, 4)) ||
      failed(checkField(emitError, "consumer_groups", f.consumerGroups, 1, 2)))
    return failure();
  if (f.tileN > int64_t(hw::kInstructionColumns) &&
      f.tileN % int64_t(hw::kWideTileStep) != 0)
    return emitError() << "expected 'tile_n' above " << hw::kInstructionColumns
                       << ", two instructions beside each other, in steps of "
                       << hw::kWideTileStep << ", found " << f.tileN;
  return checkCluster(emitError, f);
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
  int64_t row = hw::swizzleWidth(hw::Swizzle::B128) * 8 /
                int64_t(hw::containerBits(getKind()));
  int64_t elements = std::max<int64_t>(row, hw::kAtomScales * getScaleSpan());
  if (!getSparse())
    return elements;
  int64_t perByte = hw::elementsPerMetadataByte(hw::sparsePattern(getKind()));
  elements = std::max<int64_t>(elements, perByte * hw::kMetadataTileBytes);
  // A padded type is loaded 128 elements at a time, which are stored ones.
  auto dataType = hw::tensorMapDataType(getA(), getContainerBits(getA()));
  int64_t stored =
      dataType ? hw::tensorMapDataTypeInfo(*dataType).innerMultiple : 1;
  return std::max<int64_t>(elements, stored * hw::kSparseCompression);
}

Type blockscale::accumulatorType(MmaAttr mma) {
  if (mma.getKind() == hw::MmaKind::I8)
    return IntegerType::get(mma.getContext(), 32);
  return Float32Type::get(mma.getContext());
}

/// Whether the table has a row of the kind, on whichever chip, for which
/// `holds`.
static bool anyRow(hw::MmaKind kind,
                   function_ref<bool(const hw::MmaRow &)> holds) {
  return llvm::any_of(hw::allRows(), [&](const hw::MmaRow &row) {
    return row.kind == kind && holds(row);
  });
}

/// Refuses a number that no row has; 0 stands for "not chosen". Which numbers
/// go with a kind is the legality table's to say: passes try shapes, and ask
/// it.
static LogicalResult
checkValue(function_ref<InFlightDiagnostic()> emitError, StringRef name,
           int64_t value, function_ref<unsigned(const hw::MmaRow &)> valueOf) {
  auto isOf = [&](const hw::MmaRow &row) { return valueOf(row) == value; };
  if (value == 0 || llvm::any_of(hw::allRows(), isOf))
    return success();
  SmallVector<unsigned> values;
  for (const hw::MmaRow &row : hw::allRows())
    if (!llvm::is_contained(values, valueOf(row)))
      values.push_back(valueOf(row));
  llvm::sort(values);
  InFlightDiagnostic diagnostic = emitError();
  diagnostic << "expected '" << name << "' of ";
  llvm::interleave(values, diagnostic, " or ");
  return diagnostic << ", found " << value;
}

/// Element types, scale format and block that belong together.
static LogicalResult checkFormats(function_ref<InFlightDiagnostic()> emitError,
                                  hw::MmaKind kind, hw::OperandType a,
                                  hw::OperandType b,
                                  std::optional<ElementFormat> scale,
                                  int64_t block) {
  StringRef name(hw::kindName(kind));
  for (auto [operand, type] : {std::pair("a", a), std::pair("b", b)})
    if (!anyRow(kind, [type = type](const hw::MmaRow &row) {
          return row.a.contains(type);
        }))
      return emitError() << "kind '" << name << "' has no '" << operand
                         << "' of " << type.name();
  if (!anyRow(kind,
              [&](const hw::MmaRow &row) { return !row.sameTypes || a == b; }))
    return emitError() << "kind '" << name
                       << "' has one type for both operands, found " << a.name()
                       << " and " << b.name();
  bool isScaled = hw::isBlockScaled(kind);
  if (isScaled != scale.has_value())
    return emitError() << "kind '" << name << "' has "
                       << (isScaled ? "scales; expected 'scale'"
                                    : "no scales; found 'scale'");
  if (!isScaled && block != 0)
    return emitError() << "kind '" << name
                       << "' has no scales; found 'block' of " << block;
  if (isScaled && !anyRow(kind, [&](const hw::MmaRow &row) {
        return row.scale == scale && row.block == block;
      }))
    return emitError() << "kind '" << name << "' has no "
                       << StringRef(formatName(*scale)) << " scale for 'block' "
                       << block;
  return success();
}

/// What no chip has is refused here; whether a chip has it is for the passes
/// and ops to say that know the chip.
LogicalResult MmaAttr::verify(function_ref<InFlightDiagnostic()> emitError,
                              hw::MmaKind kind, hw::OperandType a,
                              hw::OperandType b,
                              std::optional<ElementFormat> scale, int64_t block,
                              int64_t m, int64_t n, int64_t k,
                              BoolAttr aMnMajor, BoolAttr bMnMajor,
                              int64_t ctaGroup, bool sparse) {
  if (failed(checkFormats(emitError, kind, a, b, scale, block)))
    return failure();
  if (ctaGroup != 1 && ctaGroup != 2)
    return emitError() << "expected 'cta_group' of 1 to 2, found " << ctaGroup;
  if (failed(checkValue(emitError, "m", m,
                        [](const hw::MmaRow &row) { return row.m; })) ||
      failed(checkField(emitError, "n", n, 8, 256, 8)) ||
      failed(checkValue(emitError, "k", k,
                        [](const hw::MmaRow &row) { return row.k; })))
    return failure();
  for (auto [name, major, type] :
       {std::tuple("a", aMnMajor, a), std::tuple("b", bMnMajor, b)})
    if (major && major.getValue() &&
        !anyRow(kind, [type = type](const hw::MmaRow &row) {
          return row.mnMajor.contains(type);
        }))
      return emitError() << "kind '" << StringRef(hw::kindName(kind))
                         << "' reads '" << name << "' of " << type.name()
                         << " along K only";
  return success();
}

//===----------------------------------------------------------------------===//
// StepAttr, KRangeAttr
//===----------------------------------------------------------------------===//

/// Refuses a number outside [`min`, `max`], 0 included.
static LogicalResult checkRange(function_ref<InFlightDiagnostic()> emitError,
                                StringRef name, int64_t value, int64_t min,
                                int64_t max) {
  if (value >= min && value <= max)
    return success();
  return emitError() << "expected '" << name << "' of " << min << " to " << max
                     << ", found " << value;
}

LogicalResult StepAttr::verify(function_ref<InFlightDiagnostic()> emitError,
                               int64_t a, int64_t b,
                               std::optional<int64_t> sfaColumn,
                               std::optional<int64_t> sfaId,
                               std::optional<int64_t> sfbColumn,
                               std::optional<int64_t> sfbId,
                               int64_t metadataColumn, int64_t selector) {
  // More than a stage of any chip has.
  constexpr int64_t kMaxOffset = (1 << 20) - 1, kMaxId = 3, kMaxSelector = 3;
  const int64_t kMaxColumn = hw::mostTensorColumns() - 1;
  if (sfaColumn.has_value() != sfaId.has_value() ||
      sfbColumn.has_value() != sfbId.has_value() ||
      sfaId.has_value() != sfbId.has_value())
    return emitError() << "expected all or none of 'sfa_column', 'sfa_id', "
                          "'sfb_column' and 'sfb_id'";
  return failure(
      failed(checkRange(emitError, "a", a, 0, kMaxOffset)) ||
      failed(checkRange(emitError, "b", b, 0, kMaxOffset)) ||
      failed(checkRange(emitError, "sfa_column", sfaColumn.value_or(0), 0,
                        kMaxColumn)) ||
      failed(checkRange(emitError, "sfa_id", sfaId.value_or(0), 0, kMaxId)) ||
      failed(checkRange(emitError, "sfb_column", sfbColumn.value_or(0), 0,
                        kMaxColumn)) ||
      failed(checkRange(emitError, "sfb_id", sfbId.value_or(0), 0, kMaxId)) ||
      failed(checkRange(emitError, "metadata_column", metadataColumn, 0,
                        kMaxColumn)) ||
      failed(checkRange(emitError, "selector", selector, 0, kMaxSelector)));
}

LogicalResult KRangeAttr::verify(function_ref<InFlightDiagnostic()> emitError,
                                 int64_t part, int64_t begin, int64_t end) {
  constexpr int64_t kLastPart = hw::kK96GroupStages - 1;
  constexpr int64_t kGroup = int64_t(hw::kK96GroupSteps) * hw::kK96;
  if (failed(checkRange(emitError, "part", part, 0, kLastPart)) ||
      failed(checkRange(emitError, "begin", begin, 0, kGroup - 1)) ||
      failed(checkRange(emitError, "end", end, 1, kGroup)))
    return failure();
  if (begin < end)
    return success();
  return emitError() << "expected 'begin' before 'end', found " << begin
                     << " and " << end;
}

//===----------------------------------------------------------------------===//
// Layouts of tensor memory
//===----------------------------------------------------------------------===//

LogicalResult
TmemAccumulatorAttr::verify(function_ref<InFlightDiagnostic()> emitError,
                            int64_t copyStride) {
  return checkRange(emitError, "copy_stride", copyStride, 0, hw::kTmemColumns);
}

LogicalResult
TmemScalesAttr::verify(function_ref<InFlightDiagnostic()> emitError,
                       int64_t wordStride) {
  return checkRange(emitError, "word_stride", wordStride, 1, hw::kTmemColumns);
}

//===----------------------------------------------------------------------===//
// Attributes of kernels and their arguments
//===----------------------------------------------------------------------===//

LogicalResult KernelAttr::verify(function_ref<InFlightDiagnostic()> emitError,
                                 AffineMap grid, int64_t block,
                                 int64_t sharedBytes, int64_t tensorColumns,
                                 int64_t cluster, bool dependentLaunch,
                                 AffineMap workspace, bool cooperative) {
  if (grid.getNumDims() != 0 || grid.getNumSymbols() != 6)
    return emitError()
           << "expected the grid to be a map of the 6 symbols M, N, K, batch, "
              "the number of SMs and the number of clusters that run at once";
  if (grid.getNumResults() == 0)
    return emitError() << "expected the grid to have a result";
  if (workspace && (workspace.getNumDims() != 0 ||
                    workspace.getNumSymbols() != grid.getNumSymbols() ||
                    workspace.getNumResults() != 3))
    return emitError()
           << "expected the workspace to be a map of the grid's symbols to 3 "
              "results: bytes that are zero before the first launch, bytes of "
              "all of it, and clusters that compute a tile together";
  if (workspace) {
    int64_t fewest = cooperative ? 1 : 2;
    if (auto parts = dyn_cast<AffineConstantExpr>(workspace.getResult(2));
        !parts || (parts.getValue() < fewest && parts.getValue() != 0))
      return emitError() << "expected a constant number of at least " << fewest
                         << " clusters that compute a tile together, or 0 of "
                            "those that share its K";
  }
  if (block < 1 || block > hw::kMaxThreadsPerCta)
    return emitError() << "expected 1 to " << hw::kMaxThreadsPerCta
                       << " threads per CTA, found " << block;
  if (cluster < 1 || cluster > hw::kMaxCluster)
    return emitError() << "expected 1 to " << hw::kMaxCluster
                       << " CTAs per cluster, found " << cluster;
  int64_t mostShared = 0;
  for (hw::Chip chip : hw::allChips())
    mostShared = std::max<int64_t>(mostShared, hw::mostSharedMemory(chip));
  if (failed(
          checkRange(emitError, "shared_bytes", sharedBytes, 0, mostShared)) ||
      failed(checkRange(emitError, "tensor_columns", tensorColumns, 0,
                        hw::mostTensorColumns())))
    return failure();
  bool isPlain = tensorColumns <= int64_t(hw::kTmemColumns);
  if (tensorColumns != 0 && isPlain &&
      *hw::allocationColumns(tensorColumns) != tensorColumns)
    return emitError() << "expected 'tensor_columns' that can be allocated, "
                          "powers of two from 32 on, found "
                       << tensorColumns;
  if (!isPlain && tensorColumns % hw::kExclusiveColumnStep != 0)
    return emitError() << "expected more than " << hw::kTmemColumns
                       << " 'tensor_columns' in steps of "
                       << hw::kExclusiveColumnStep << ", found "
                       << tensorColumns;
  return success();
}

/// What a kernel computes stands on kernels only.
template <typename Attr>
static LogicalResult verifyComputation(Operation *op,
                                       NamedAttribute attribute) {
  if (!isa<Attr>(attribute.getValue()))
    return op->emitOpError() << "expected '" << Attr::name << "' to be a #"
                             << Attr::name << " attribute";
  if (op->hasAttr(KernelAttr::name))
    return success();
  return op->emitOpError() << "'" << Attr::name
                           << "' belongs on a function with '"
                           << KernelAttr::name << "'";
}

LogicalResult
BlockscaleDialect::verifyOperationAttribute(Operation *op,
                                            NamedAttribute attribute) {
  if (attribute.getName() == TargetAttr::name) {
    if (isa<TargetAttr>(attribute.getValue()))
      return success();
    return op->emitOpError() << "expected '" << TargetAttr::name
                             << "' to be a #blockscale.target attribute";
  }
  if (attribute.getName() == VariantAttr::arrayName)
    return verifyVariants(op, attribute.getValue());
  if (attribute.getName() == ProductAttr::name)
    return verifyComputation<ProductAttr>(op, attribute);
  if (attribute.getName() == QuantizationAttr::name ||
      attribute.getName() == kTransposedQuantizationName)
    return verifyComputation<QuantizationAttr>(op, attribute);
  if (attribute.getName() == ConversionAttr::name)
    return verifyComputation<ConversionAttr>(op, attribute);
  if (attribute.getName() == kQuantizedAttrName)
    return verifyQuantized(op, attribute.getValue());
  if (attribute.getName() == kForSparseName)
    return verifyForSparse(op, attribute.getValue());
  if (attribute.getName() == kGivenTermsName)
    return verifyGivenTerms(op, attribute.getValue());
  if (attribute.getName() == kPlanAttrName) {
    if (isa<StringAttr>(attribute.getValue()))
      return success();
    return op->emitOpError() << "expected '" << kPlanAttrName
                             << "' to be the text of a launch plan";
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
  hw::Target target = getTarget(op);
  int64_t mostShared = hw::mostSharedMemory(target.chip);
  if (kernel.getSharedBytes() > mostShared)
    return op->emitOpError()
           << "expected 'shared_bytes' of 0 to " << mostShared << " on "
           << hw::targetName(target) << ", found " << kernel.getSharedBytes();
  int64_t columns = hw::chipInfo(target.chip).tensorMemoryColumns;
  if (kernel.getTensorColumns() > columns)
    return op->emitOpError()
           << "expected 'tensor_columns' of 0 to " << columns << " on "
           << hw::targetName(target) << ", found " << kernel.getTensorColumns();
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
