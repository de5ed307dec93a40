//===- KernelTypes.cpp - types of kernels ---===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "blockscale/Dialect/Blockscale/IR/Layouts.h"
#include "blockscale/HW/ScaleLayout.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/DialectImplementation.h"
#include "llvm/Support/MathExtras.h"

#include <functional>
#include <numeric>

using namespace mlir;
using namespace blockscale;

//===----------------------------------------------------------------------===//
// TensorMapType
//===----------------------------------------------------------------------===//

LogicalResult
TensorMapType::verify(function_ref<InFlightDiagnostic()> emitError,
                      hw::TensorMapDataType dataType, AffineMap dims,
                      AffineMap strides, ArrayRef<int64_t> box,
                      hw::Swizzle swizzle) {
  const hw::TensorMapDataTypeInfo &info = hw::tensorMapDataTypeInfo(dataType);
  constexpr unsigned kMaxRank = 5, kSymbols = 4;
  if (dims.getNumResults() < 1 || dims.getNumResults() > kMaxRank)
    return emitError() << "expected 1 to 5 dimensions, found "
                       << dims.getNumResults();
  if (strides.getNumResults() + 1 != dims.getNumResults())
    return emitError() << "expected a stride for each of "
                       << dims.getNumResults() - 1
                       << " outer dimensions, found "
                       << strides.getNumResults();
  for (AffineMap map : {dims, strides})
    if (map.getNumDims() != 0 || (map.getNumSymbols() != kSymbols &&
                                  map.getNumSymbols() != kSymbolsOfGathered))
      return emitError() << "expected maps of the 4 symbols M, N, K and batch, "
                            "or of 7 for rows that are gathered: those of "
                            "grids and the tokens";
  if (box.size() != dims.getNumResults())
    return emitError() << "expected a box of " << dims.getNumResults()
                       << " extents, found " << box.size();
  for (int64_t extent : box)
    if (extent < 1 || extent > hw::kMaxBoxExtent)
      return emitError() << "expected box extents of 1 to " << hw::kMaxBoxExtent
                         << ", found " << extent;
  int64_t innerBits = box.front() * info.sharedBits;
  if (innerBits % 128 != 0)
    return emitError() << "expected an innermost box of whole 16 bytes, found "
                       << innerBits << " bits";
  if (info.innerMultiple == 128 && box.front() != 128)
    return emitError() << "expected an innermost box of 128 elements for '"
                       << StringRef(info.name) << "', found " << box.front();
  if (swizzle != hw::Swizzle::None && innerBits > 8 * hw::swizzleWidth(swizzle))
    return emitError() << "expected an innermost box within the swizzle's "
                       << hw::swizzleWidth(swizzle) << " bytes, found "
                       << innerBits / 8;
  return success();
}

//===----------------------------------------------------------------------===//
// SharedType
//===----------------------------------------------------------------------===//

int64_t SharedType::getStageBytes() const {
  ArrayRef<int64_t> stage = getShape().drop_front();
  return std::accumulate(stage.begin(), stage.end(), int64_t(1),
                         std::multiplies<>()) *
         getContainer() / 8;
}

int64_t SharedType::getAlignment() const {
  constexpr int64_t kBulkCopyAlignment = 128;
  return std::max<int64_t>(hw::swizzleAlignment(getSwizzle()),
                           kBulkCopyAlignment);
}

Type SharedType::parse(AsmParser &parser) {
  SmallVector<int64_t> shape;
  Type elementType;
  int64_t container = 0;
  SMLoc loc = parser.getCurrentLocation();
  if (parser.parseLess() ||
      parser.parseDimensionList(shape, /*allowDynamic=*/false) ||
      parser.parseType(elementType) || parser.parseComma() ||
      parser.parseKeyword("container") || parser.parseEqual() ||
      parser.parseInteger(container))
    return {};
  hw::Swizzle swizzle = hw::Swizzle::None;
  if (succeeded(parser.parseOptionalComma())) {
    if (parser.parseKeyword("swizzle") || parser.parseEqual())
      return {};
    FailureOr<hw::Swizzle> parsed = FieldParser<hw::Swizzle>::parse(parser);
    if (failed(parsed))
      return {};
    swizzle = *parsed;
  }
  if (parser.parseGreater())
    return {};
  return getChecked([&] { return parser.emitError(loc); }, parser.getContext(),
                    ArrayRef<int64_t>(shape), elementType, container, swizzle);
}

void SharedType::print(AsmPrinter &printer) const {
  printer << "<";
  printer.printDimensionList(getShape());
  printer << "x" << getElementType() << ", container = " << getContainer();
  if (getSwizzle() != hw::Swizzle::None)
    printer << ", swizzle = " << getSwizzle();
  printer << ">";
}

LogicalResult SharedType::verify(function_ref<InFlightDiagnostic()> emitError,
                                 ArrayRef<int64_t> shape, Type elementType,
                                 int64_t container, hw::Swizzle swizzle) {
  if (shape.size() < 2)
    return emitError() << "expected the number of stages and the shape of one";
  for (int64_t extent : shape)
    if (extent < 1)
      return emitError() << "expected extents of at least 1, found " << extent;
  if (!elementType.isIntOrFloat())
    return emitError()
           << "expected elements that are integers or floats, found "
           << elementType;
  if (container != 4 && container != 8 && container != 16 && container != 32)
    return emitError() << "expected a container of 4, 8, 16 or 32 bits, found "
                       << container;
  // More than any chip has, and little enough for all later arithmetic.
  constexpr int64_t kMaxRingBytes = 1 << 20;
  int64_t bits = container;
  for (int64_t extent : shape)
    if (llvm::MulOverflow(bits, extent, bits) || bits > 8 * kMaxRingBytes)
      return emitError() << "expected a ring of at most " << kMaxRingBytes
                         << " bytes";
  if (elementType.getIntOrFloatBitWidth() > container)
    return emitError() << elementType << " does not fit a container of "
                       << container << " bits";
  return success();
}

hw::OperandTile blockscale::operandTile(SharedType type, bool mnMajor) {
  ArrayRef<int64_t> shape = type.getShape();
  hw::OperandTile tile;
  tile.major = mnMajor ? hw::OperandMajor::MN : hw::OperandMajor::K;
  tile.swizzle = type.getSwizzle();
  tile.containerBits = type.getContainer();
  tile.mn = mnMajor ? shape[1] * shape[3] : shape[1];
  tile.k = shape[2];
  return tile;
}

//===----------------------------------------------------------------------===//
// BarrierType
//===----------------------------------------------------------------------===//

LogicalResult BarrierType::verify(function_ref<InFlightDiagnostic()> emitError,
                                  int64_t count, bool /*remote*/) {
  constexpr int64_t kMaxBarriers = 1024;
  if (count < 1 || count > kMaxBarriers)
    return emitError() << "expected 1 to " << kMaxBarriers
                       << " barriers, found " << count;
  return success();
}

//===----------------------------------------------------------------------===//
// TensorMemoryType
//===----------------------------------------------------------------------===//

bool TensorMemoryType::isAccumulator() const {
  return isa<TmemAccumulatorAttr>(getLayout());
}

int64_t TensorMemoryType::getColumns() const {
  ArrayRef<int64_t> shape = getShape();
  if (auto accumulator = dyn_cast<TmemAccumulatorAttr>(getLayout())) {
    int64_t stride = accumulator.getCopyStride();
    return (shape[0] - 1) * (stride ? stride : shape[2]) + shape[2];
  }
  return getPlaces(*this).extent(
      hw::Dim::Column, {{hw::Dim::Row, static_cast<uint64_t>(shape[0])},
                        {hw::Dim::Block, static_cast<uint64_t>(shape[1])}});
}

Type TensorMemoryType::parse(AsmParser &parser) {
  SmallVector<int64_t> shape;
  Type elementType;
  Attribute layout;
  SMLoc loc = parser.getCurrentLocation();
  if (parser.parseLess() ||
      parser.parseDimensionList(shape, /*allowDynamic=*/false) ||
      parser.parseType(elementType) || parser.parseComma() ||
      parser.parseAttribute(layout) || parser.parseGreater())
    return {};
  return getChecked([&] { return parser.emitError(loc); }, parser.getContext(),
                    ArrayRef<int64_t>(shape), elementType, layout);
}

void TensorMemoryType::print(AsmPrinter &printer) const {
  printer << "<";
  printer.printDimensionList(getShape());
  printer << "x" << getElementType() << ", " << getLayout() << ">";
}

LogicalResult
TensorMemoryType::verify(function_ref<InFlightDiagnostic()> emitError,
                         ArrayRef<int64_t> shape, Type elementType,
                         Attribute layout) {
  for (int64_t extent : shape)
    if (extent < 1 || extent > hw::kTmemColumns)
      return emitError() << "expected extents of 1 to " << hw::kTmemColumns
                         << ", found " << extent;
  if (auto accumulator = dyn_cast<TmemAccumulatorAttr>(layout)) {
    if (shape.size() != 3 || shape[1] != hw::kTmemLanes ||
        !(elementType.isF32() || elementType.isSignlessInteger(32)))
      return emitError()
             << "expected accumulators of copies x 128 x columns of f32 or i32";
    int64_t stride = accumulator.getCopyStride();
    if (stride < 0 || stride > shape[2])
      return emitError() << "expected a copy stride of at most " << shape[2]
                         << " columns, found " << stride;
    return success();
  }
  if (isa<TmemMetadataAttr>(layout)) {
    if (shape.size() == 2 && shape[0] == hw::kTmemLanes &&
        elementType.isInteger(8))
      return success();
    return emitError() << "expected metadata of 128 rows x bytes per row of i8";
  }
  auto scales = dyn_cast<TmemScalesAttr>(layout);
  if (!scales)
    return emitError() << "expected the layout #blockscale.tmem_accumulator, "
                          "#blockscale.tmem_scales or "
                          "#blockscale.tmem_metadata";
  if (shape.size() != 2)
    return emitError() << "expected scales of rows x scales per row";
  int64_t stride = scales.getWordStride();
  if (stride == 1 && shape[0] == hw::kTmemLanes)
    return success();
  int64_t smallest = llvm::divideCeil(shape[0], hw::kAtomLanes);
  if (stride < smallest || stride > hw::kTmemColumns)
    return emitError() << "expected a word stride of " << smallest << " to "
                       << hw::kTmemColumns << " columns for " << shape[0]
                       << " rows, found " << stride;
  return success();
}
