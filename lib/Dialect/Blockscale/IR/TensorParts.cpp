//===- TensorParts.cpp - what a scaled tensor consists of ---------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "blockscale/Dialect/Blockscale/IR/Codebooks.h"
#include "blockscale/Dialect/Blockscale/IR/ElementTypes.h"
#include "blockscale/Dialect/Blockscale/IR/LayoutOfScales.h"
#include "blockscale/Dialect/Blockscale/IR/Layouts.h"
#include "mlir/IR/Builders.h"

using namespace mlir;
using namespace blockscale;

//===----------------------------------------------------------------------===//
// Number formats and builtin types
//===----------------------------------------------------------------------===//

namespace {
struct FloatName {
  /// The number spec that names the format of a builtin float type.
  StringRef spec;
  Type (*get)(MLIRContext *);
};
} // namespace

template <typename T> static Type getFloat(MLIRContext *context) {
  return T::get(context);
}

static constexpr FloatName kFloats[] = {
    {"e2m1fnuz", getFloat<Float4E2M1FNType>},
    {"e2m3fnuz", getFloat<Float6E2M3FNType>},
    {"e3m2fnuz", getFloat<Float6E3M2FNType>},
    {"e3m4", getFloat<Float8E3M4Type>},
    {"e4m3", getFloat<Float8E4M3Type>},
    {"e4m3fn", getFloat<Float8E4M3FNType>},
    {"e4m3b8fnuz", getFloat<Float8E4M3FNUZType>},
    {"e4m3b11fnuz", getFloat<Float8E4M3B11FNUZType>},
    {"e5m2", getFloat<Float8E5M2Type>},
    {"e5m2b16fnuz", getFloat<Float8E5M2FNUZType>},
    {"e8m0", getFloat<Float8E8M0FNUType>},
    {"float16", getFloat<Float16Type>},
    {"bfloat16", getFloat<BFloat16Type>},
    {"e8m10", getFloat<FloatTF32Type>},
    {"float32", getFloat<Float32Type>}};

std::optional<NumberSpec> blockscale::getNumberSpec(Type elementType) {
  if (auto codebook = dyn_cast<CodebookType>(elementType))
    return *parseNumberSpec(std::string_view(codebook.getName()));
  if (!elementType.isIntOrFloat())
    return std::nullopt;
  if (auto integer = dyn_cast<IntegerType>(elementType)) {
    unsigned width = integer.getWidth();
    if (width < 2 || width > 8)
      return std::nullopt;
    return *parseNumberSpec((integer.isUnsigned() ? "uint" : "int") +
                            std::to_string(width));
  }
  for (const FloatName &name : kFloats)
    if (name.get(elementType.getContext()) == elementType)
      return *parseNumberSpec(std::string_view(name.spec));
  return std::nullopt;
}

Type blockscale::getElementType(MLIRContext *context, hw::OperandType type) {
  std::optional<ElementFormat> format = type.format();
  if (type == hw::OperandType::tf32())
    return FloatTF32Type::get(context);
  if (!format)
    return IntegerType::get(context, type.bits());
  switch (*format) {
  case ElementFormat::E2M1:
    return Float4E2M1FNType::get(context);
  case ElementFormat::E2M3:
    return Float6E2M3FNType::get(context);
  case ElementFormat::E3M2:
    return Float6E3M2FNType::get(context);
  case ElementFormat::E4M3:
    return Float8E4M3FNType::get(context);
  case ElementFormat::E5M2:
    return Float8E5M2Type::get(context);
  case ElementFormat::F16:
    return Float16Type::get(context);
  case ElementFormat::BF16:
    return BFloat16Type::get(context);
  case ElementFormat::UE8M0:
  case ElementFormat::UE4M3:
  case ElementFormat::UE5M3:
  case ElementFormat::INT8:
  case ElementFormat::INT4:
    return IntegerType::get(context, formatInfo(*format).storageBits);
  }
  llvm_unreachable("covered switch");
}

std::optional<hw::OperandType> blockscale::getOperandType(Type elementType) {
  constexpr unsigned kByte = 8;
  if (elementType.isTF32())
    return hw::OperandType::tf32();
  if (elementType.isUnsignedInteger(kByte))
    return hw::OperandType::uint8();
  std::optional<NumberSpec> spec = getNumberSpec(elementType);
  if (!spec || spec->isCodebook())
    return std::nullopt;
  std::optional<ElementFormat> format = elementFormat(*spec);
  return format ? std::optional(hw::OperandType(*format)) : std::nullopt;
}

Type blockscale::getBuiltinType(MLIRContext *context, const NumberSpec &spec) {
  if (spec.isCodebook())
    return {};
  if (spec.kind == NumberKind::Int)
    return IntegerType::get(context, spec.bits());
  if (spec.kind == NumberKind::Uint)
    return IntegerType::get(context, spec.bits(), IntegerType::Unsigned);
  for (const FloatName &name : kFloats)
    if (*parseNumberSpec(std::string_view(name.spec)) == spec)
      return name.get(context);
  return {};
}

//===----------------------------------------------------------------------===//
// Parts
//===----------------------------------------------------------------------===//

SmallVector<Type> TensorParts::present() const {
  SmallVector<Type> types;
  for (RankedTensorType type : {data, scales, zeros, tensorScale, metadata})
    if (type)
      types.push_back(type);
  return types;
}

/// Rounded-up quotient; unknown stays unknown.
static int64_t ceilDiv(int64_t size, int64_t divisor) {
  return ShapedType::isDynamic(size) ? size : (size + divisor - 1) / divisor;
}

static int64_t numTiles(int64_t size, int64_t tile) {
  return tile == 0 ? 1 : ceilDiv(size, tile);
}

static RankedTensorType getDataType(ScaledTensorType type) {
  const ScaleSpec &spec = type.getSpec().getValue();
  SmallVector<int64_t> shape(type.getShape());
  if (spec.isSparse() && !ShapedType::isDynamic(shape.back())) {
    SparseForm form = sparseForm(type);
    shape.back() = shape.back() / form.chunk * form.stored;
  }
  if (type.getOrder() == DataOrder::MNMajor)
    std::swap(shape.back(), shape[shape.size() - 2]);
  // In memory a tf32 is an f32 of which the low bits do not count, and a number
  // without a sign is its bits.
  Type element = type.getElementType();
  if (element.isTF32())
    element = Float32Type::get(type.getContext());
  else if (std::optional<TableNumbers> numbers = tableNumbers(type))
    element = IntegerType::get(type.getContext(), numbers->indexBits);
  else if (element.isUnsignedInteger())
    element =
        IntegerType::get(type.getContext(), element.getIntOrFloatBitWidth());
  return RankedTensorType::get(shape, element);
}

static SmallVector<int64_t> getScaleShape(ScaledTensorType type) {
  SmallVector<int64_t> shape(type.getShape().drop_back(2));
  int64_t rows = numTiles(type.getNumRows(), type.getRowTile());
  // How many rows pad the groups only their offsets say, and how many groups
  // there are.
  if (type.getLayout() == ScaleLayout::Grouped128x4)
    rows = ShapedType::kDynamic;
  if (type.getLayout() == ScaleLayout::Grouped)
    shape.push_back(ShapedType::kDynamic);
  int64_t columns = numTiles(type.getK(), type.getKTile());
  shape.append(
      getStorageShape(getScaleStorage(getScaleLayout(type)), rows, columns));
  return shape;
}

static SmallVector<int64_t> getMetadataShape(ScaledTensorType type) {
  SmallVector<int64_t> shape(type.getShape().drop_back(2));
  shape.append(getStorageShape(getMetadataStorage(getMetadataLayout(type)),
                               type.getNumRows(),
                               ceilDiv(type.getK(), sparseForm(type).perByte)));
  return shape;
}

std::optional<TableNumbers> blockscale::tableNumbers(ScaledTensorType type) {
  if (!isa<CodebookType>(type.getElementType()))
    return std::nullopt;
  NumberSpec codebook = *getNumberSpec(type.getElementType());
  const ScaleSpec &spec = type.getSpec().getValue();
  return TableNumbers{spec.rows ? spec.rows->subtile : 1, spec.columns->subtile,
                      codebook.metaBits, codebook.indexBits};
}

static SmallVector<int64_t> getTableShape(ScaledTensorType type,
                                          const TableNumbers &numbers) {
  SmallVector<int64_t> shape(type.getShape().drop_back(2));
  shape.push_back(numTiles(type.getNumRows(), numbers.rows));
  shape.push_back(ceilDiv(type.getK(), numbers.columnsOfByte()));
  return shape;
}

/// The type of scales of tiles and rows that are bytes of the hardware; null if
/// they are others. MLIR has no type without a sign but f8E8M0FNU: ue4m3 is the
/// same numbers with one, and ue5m3 is bytes.
static Type getByteType(MLIRContext *context, const NumberSpec &spec) {
  std::optional<ElementFormat> format = scaleFormat(spec);
  if (format == ElementFormat::UE4M3)
    return Float8E4M3FNType::get(context);
  if (format == ElementFormat::UE5M3)
    return IntegerType::get(context, formatInfo(*format).storageBits);
  return {};
}

/// A part of the given shape whose numbers have the given format.
static Result<RankedTensorType> getPart(ScaledTensorType type,
                                        ArrayRef<int64_t> shape,
                                        const NumberSpec &spec, bool isScale) {
  Type bytes = isScale ? getByteType(type.getContext(), spec) : Type();
  if (bytes)
    return RankedTensorType::get(shape, bytes);
  if (Type element = getBuiltinType(type.getContext(), spec))
    return RankedTensorType::get(shape, element);
  return Reason("format '" + print(spec) + "' in '" + type.getSpec().getText() +
                "' has no builtin type");
}

Result<TensorParts> blockscale::getTensorParts(ScaledTensorType type) {
  const ScaleSpec &spec = type.getSpec().getValue();
  TensorParts parts;
  parts.data = getDataType(type);
  SmallVector<int64_t> scaleShape;
  if (!spec.isUnscaled())
    scaleShape = getScaleShape(type);
  ArrayRef<int64_t> matrices = type.getShape().drop_back(2);
  for (auto [part, shape, number] :
       {std::tuple(&parts.scales, ArrayRef<int64_t>(scaleShape), &spec.scale),
        std::tuple(&parts.zeros, ArrayRef<int64_t>(scaleShape), &spec.zero),
        std::tuple(&parts.tensorScale, matrices, &spec.tensorScale)}) {
    if (!*number)
      continue;
    Result<RankedTensorType> found =
        getPart(type, shape, **number, part == &parts.scales);
    if (!found)
      return found.why();
    *part = *found;
  }
  if (std::optional<TableNumbers> numbers = tableNumbers(type))
    parts.metadata = RankedTensorType::get(
        getTableShape(type, *numbers), IntegerType::get(type.getContext(), 8));
  if (spec.isSparse())
    parts.metadata = RankedTensorType::get(
        getMetadataShape(type), IntegerType::get(type.getContext(), 8));
  return parts;
}
