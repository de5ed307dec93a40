//===- LaunchPlan.cpp - the launch plan of compiled kernels ---------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "blockscale/Target/PTX/LaunchPlan.h"
#include "ConversionPlan.h"
#include "EpiloguePlan.h"
#include "PlanExpressions.h"
#include "PlanParts.h"
#include "QuantizePlan.h"
#include "StoragePlan.h"
#include "blockscale/Dialect/Blockscale/IR/Epilogue.h"
#include "blockscale/Dialect/Blockscale/IR/Groups.h"
#include "blockscale/Dialect/Blockscale/IR/Layouts.h"
#include "blockscale/Dialect/Blockscale/IR/Promotion.h"
#include "blockscale/Dialect/Blockscale/IR/StoredElements.h"
#include "blockscale/Dialect/Blockscale/IR/Stores.h"
#include "blockscale/HW/DeviceTargets.h"
#include "blockscale/HW/Metadata.h"
#include "blockscale/HW/ScaleLayout.h"
#include "blockscale/HW/TensorMap.h"
#include "blockscale/Plan/Sizes.h"
#include "blockscale/Target/PTX/HostPlan.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Interfaces/FunctionInterfaces.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace blockscale;

//===----------------------------------------------------------------------===//
// The product
//===----------------------------------------------------------------------===//

namespace {
/// What a kernel computes: its product, and the types of the parameters that
/// the product's attribute leaves to them.
struct Product {
  std::string sourceFunction;
  std::optional<std::string> variantOf;
  /// The most rows of A, if they are fewer than a product may have.
  std::optional<int64_t> mostRows;
  ScaledTensorType a, b;
  /// Element types; null where the product has no such operand.
  Type d, c, bias;
  bool isStoredByTma = false;
  /// Whether memory holds codes and scales of D.
  bool isQuantized = false;
  bool alpha = false;
  /// Whether rows of A are in groups, of which each has a matrix of B.
  bool isGrouped = false;
  /// Groups along K, each with a matrix of D: -1 if the host counts them.
  int64_t kGroups = 0;
  /// Rows that are gathered from those of A; the same.
  int64_t gathered = 0;
  BiasKind biasKind = BiasKind::Column;
  EpilogueAttr epilogue;
  /// Whether D has a column for each two of the product.
  bool hasPairs = false;
  /// With the operands as the instruction has them: exchanged if `swap`.
  MmaAttr mma;
  bool swap = false;
};
} // namespace

static FailureOr<Product> productOf(gpu::GPUFuncOp kernel) {
  auto attribute = kernel->getAttrOfType<ProductAttr>(ProductAttr::name);
  if (!attribute)
    return kernel.emitError() << "has no '" << ProductAttr::name << "'";
  Product product;
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
    if (!memory)
      continue;
    product.isGrouped |= parameter.getRole() == ParameterRole::Offsets;
    if (parameter.getRole() == ParameterRole::C)
      product.c = memory.getElementType();
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

//===----------------------------------------------------------------------===//
// Parameters
//===----------------------------------------------------------------------===//

static plan::TensorMap tensorMapRecipe(TensorMapType type) {
  const hw::TensorMapDataTypeInfo &info =
      hw::tensorMapDataTypeInfo(type.getDataType());
  plan::TensorMap map;
  map.dataType = {std::string(info.driverName), int64_t(info.type)};
  map.globalDim = printResults(type.getDims());
  map.globalStrides = printResults(type.getStrides());
  map.boxDim.assign(type.getBox().begin(), type.getBox().end());
  map.elementStrides.assign(map.boxDim.size(), 1);
  map.swizzle = {std::string(hw::tensorMapSwizzleDriverName(type.getSwizzle())),
                 int64_t(hw::tensorMapSwizzleCode(type.getSwizzle()))};
  // The codes of the driver's enumerators, CUDA 13.0 cuda.h. Operands are read
  // by several CTAs, so whole 256-byte lines are worth promoting to L2.
  map.interleave = {"CU_TENSOR_MAP_INTERLEAVE_NONE", 0};
  map.l2Promotion = {"CU_TENSOR_MAP_L2_PROMOTION_L2_256B", 3};
  map.oobFill = {"CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE", 0};
  return map;
}

/// The operand or size of the source matmul that a role belongs to.
static StringRef operandOf(ParameterRole role) {
  switch (role) {
  case ParameterRole::AData:
  case ParameterRole::AScales:
  case ParameterRole::ATensorScale:
  case ParameterRole::AMetadata:
    return "a";
  case ParameterRole::BData:
  case ParameterRole::BScales:
  case ParameterRole::BTensorScale:
    return "b";
  case ParameterRole::SizeM:
    return "M";
  case ParameterRole::SizeN:
    return "N";
  case ParameterRole::SizeK:
    return "K";
  case ParameterRole::SizeTokens:
    return "tokens";
  case ParameterRole::DData:
  case ParameterRole::DScales:
  case ParameterRole::DTensorScale:
  case ParameterRole::DMetadata:
    return "d";
  case ParameterRole::TransposedData:
  case ParameterRole::TransposedScales:
  case ParameterRole::TransposedTensorScale:
    return "transposed";
  case ParameterRole::X:
  case ParameterRole::TensorScale:
  case ParameterRole::D:
  case ParameterRole::C:
  case ParameterRole::Bias:
  case ParameterRole::Alpha:
  case ParameterRole::Beta:
  case ParameterRole::Batch:
  case ParameterRole::Workspace:
  case ParameterRole::Offsets:
  case ParameterRole::KOffsets:
  case ParameterRole::RowNumbers:
    return stringifyParameterRole(role);
  }
  llvm_unreachable("covered switch");
}

std::string blockscale::planTypeName(Type type) {
  std::string text;
  llvm::raw_string_ostream(text) << type;
  return text;
}

/// The parameters with the places that PTX gives them: in order, each at the
/// next multiple of its alignment.
FailureOr<std::vector<plan::Parameter>>
blockscale::parametersOf(gpu::GPUFuncOp kernel) {
  std::vector<plan::Parameter> parameters;
  uint64_t end = 0;
  for (BlockArgument argument : kernel.getArguments()) {
    auto attribute = kernel.getArgAttrOfType<ParameterAttr>(
        argument.getArgNumber(), ParameterAttr::name);
    if (!attribute)
      return kernel.emitError() << "argument " << argument.getArgNumber()
                                << " has no '" << ParameterAttr::name << "'";
    plan::Parameter parameter;
    parameter.role = stringifyParameterRole(attribute.getRole()).str();
    parameter.operand = operandOf(attribute.getRole()).str();
    Type type = argument.getType();
    if (auto map = dyn_cast<TensorMapType>(type)) {
      parameter.kind = plan::ParameterKind::TensorMap;
      parameter.type = "tensor_map";
      parameter.size = hw::kTensorMapBytes;
      parameter.alignment = hw::kTensorMapAlignment;
      parameter.tensorMap = tensorMapRecipe(map);
    } else if (auto global = dyn_cast<GlobalType>(type)) {
      parameter.kind = plan::ParameterKind::Pointer;
      parameter.type = planTypeName(global.getElementType());
      parameter.size = parameter.alignment = sizeof(uint64_t);
    } else if (type.isIntOrFloat()) {
      parameter.kind = plan::ParameterKind::Scalar;
      parameter.type = planTypeName(type);
      parameter.size = parameter.alignment = type.getIntOrFloatBitWidth() / 8;
    } else {
      return kernel.emitError()
             << "argument " << argument.getArgNumber() << " of type " << type
             << " has no place in a launch plan";
    }
    parameter.offset = llvm::alignTo(end, parameter.alignment);
    end = parameter.offset + parameter.size;
    parameters.push_back(parameter);
  }
  return parameters;
}

//===----------------------------------------------------------------------===//
// Memory
//===----------------------------------------------------------------------===//

/// Sizes of the source matmul: constants, or symbols where they are dynamic.
namespace {
struct SymbolicSizes {
  AffineExpr m, n, k, batch;
  /// The rows of A, which are M unless they are gathered.
  AffineExpr rowsOfA;
};
} // namespace

static SymbolicSizes sizesOf(const Product &product) {
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

/// Matrices of A, C and D, and of B.
static AffineExpr matricesOf(const Product &product, bool isB = false) {
  AffineExpr batch = sizesOf(product).batch;
  return (product.isGrouped && !isB) || product.kGroups
             ? getAffineConstantExpr(1, batch.getContext())
             : batch;
}

std::string blockscale::bitOrder(unsigned bits) {
  if (bits == 8)
    return "byte i of a line holds element i";
  return "element i of a line lies in bits " + std::to_string(bits) +
         " * i to " + std::to_string(bits) + " * i + " +
         std::to_string(bits - 1) + ", bit 0 being the lowest of byte 0";
}

/// Whether instructions read scales of both operands from memory.
static bool hasTileScales(const Product &product) {
  return product.a.getSpec().getValue().isTile() &&
         !hasPromotedScales(product.a);
}

/// What whoever packs the operand subtracts from its elements.
static std::optional<plan::ZeroPoints> zeroPointsOf(ScaledTensorType type) {
  const ScaleSpec &spec = type.getSpec().getValue();
  if (!spec.zero)
    return std::nullopt;
  return plan::ZeroPoints{spec.zero->bits(), unsigned(type.getRowTile()),
                          spec.isTile() ? unsigned(type.getKTile()) : 0};
}

static plan::DataPacking dataPacking(const Product &product, bool isA,
                                     TensorMapType map) {
  ScaledTensorType type = isA ? product.a : product.b;
  SymbolicSizes sizes = sizesOf(product);
  const hw::TensorMapDataTypeInfo &info =
      hw::tensorMapDataTypeInfo(map.getDataType());
  bool kMajor = type.getOrder() == DataOrder::KMajor;
  AffineExpr rows = isA ? sizes.rowsOfA : sizes.n;
  AffineExpr stored = isA && product.mma.getSparse()
                          ? sizes.k.floorDiv(int64_t(hw::kSparseCompression))
                          : sizes.k;
  plan::DataPacking data;
  data.operand = isA ? "a" : "b";
  data.format =
      (isA != product.swap ? product.mma.getA() : product.mma.getB()).name();
  data.order = stringifyDataOrder(type.getOrder()).str();
  data.bits = info.globalBits;
  data.elementMultiple = info.innerMultiple;
  // Scales keep the padding out of the sum, but in the block that a dynamic K
  // ends in.
  data.zeroPadding =
      !hasTileScales(product) || !isa<AffineConstantExpr>(sizes.k);
  data.lines = printExpression(kMajor ? rows : stored);
  data.elements = printExpression(kMajor ? stored : rows);
  data.linePitch = printExpression(map.getStrides().getResult(0));
  AffineMap strides = map.getStrides();
  data.batchPitch = printExpression(strides.getNumResults() > 1
                                        ? strides.getResult(1)
                                        : strides.getResult(0) * rows);
  data.alignment = info.alignment;
  data.bitOrder = bitOrder(info.globalBits);
  if (std::optional<packing::Recoding> recoding =
          recodingOf(type, isA ? product.b : product.a)) {
    std::vector<int> codes = packing::storedCodes(*recoding);
    data.source = {std::string(recoding->from),
                   {codes.begin(), codes.end()},
                   zeroPointsOf(type)};
  }
  return data;
}

/// The byte of row `r` and block `j` of matrix `l` in `storage`; of element `k`
/// instead, if blocks of `blockSize` are counted in elements.
plan::Expression
blockscale::placeFormula(const hw::StorageLayout<AffineExpr> &storage,
                         int64_t blockSize) {
  std::string text = "l * " + printAt(storage.matrixBytes, Binding::Atom);
  hw::StorageLayout<AffineExpr> whole = hw::joined(storage);
  for (const auto &digit : whole.digits) {
    hw::Dim source = digit.term.source;
    if (source == hw::Dim::Block && blockSize != 1)
      text += " + " +
              hw::printDigit(digit.term, hw::dimName(hw::Dim::K), blockSize);
    else
      text += " + " + hw::printDigit(digit.term, hw::dimName(source));
    auto stride = dyn_cast<AffineConstantExpr>(digit.stride);
    if (!stride || stride.getValue() != 1)
      text += " * " + printAt(digit.stride, Binding::Atom);
  }
  return text;
}

/// The extent of `source` with padding, times `unit`.
plan::Expression
blockscale::paddedExtent(const hw::StorageLayout<AffineExpr> &storage,
                         hw::Dim source, int64_t unit) {
  for (const auto &digit : storage.digits)
    if (digit.term.source == source && !digit.term.modulus)
      return printExpression(digit.extent * int64_t(digit.term.divisor * unit));
  llvm_unreachable("each source has a digit without end");
}

/// Where scales of groups along K lie: the tiles of a group follow each other,
/// and `offset` counts within tile number `l`, as only the offsets tell it.
static void placeInGroups(const Product &product, bool isA,
                          plan::ScalePacking &scales) {
  SymbolicSizes sizes = sizesOf(product);
  AffineExpr rows = (isA ? sizes.m : sizes.n).ceilDiv(int64_t(hw::kAtomRows));
  int64_t unit = int64_t(hw::kAtomScales) * product.mma.getScaleSpan();
  AffineExpr tiles = groupedScaleTilesAlongK(sizes.k, sizes.batch, unit);
  auto constant = [&](int64_t value) {
    return getAffineConstantExpr(value, product.a.getContext());
  };
  scales.offset = placeFormula(getStorageBytes(
      getScaleStorage(ScaleLayout::Tiled128x4), constant(hw::kAtomRows),
      constant(unit), product.mma.getScaleSpan()));
  scales.paddedRows = printExpression(rows * int64_t(hw::kAtomRows));
  scales.paddedScales = printExpression(tiles * int64_t(hw::kAtomScales));
  scales.bytes = printExpression(rows * tiles * int64_t(hw::kAtomBytes));
}

static plan::ScalePacking scalePacking(const Product &product, bool isA,
                                       TensorMapType map) {
  SymbolicSizes sizes = sizesOf(product);
  ScaledTensorType type = isA ? product.a : product.b;
  ScaleLayout layout = type.getLayout();
  AffineExpr rows = isA ? sizes.m : sizes.n;
  if (isA && product.isGrouped)
    rows = groupedScaleRows(rows, sizes.batch);
  auto storage = getStorageBytes(getScaleStorage(layout), rows, sizes.k,
                                 product.mma.getScaleSpan());
  plan::ScalePacking scales;
  scales.operand = isA ? "a" : "b";
  scales.format = std::string(formatName(*product.mma.getScale()));
  scales.block = product.mma.getScaleSpan();
  scales.rows = type.getRowTile();
  if (type.getKTile() != int64_t(scales.block))
    scales.elements = type.getKTile();
  scales.layout = stringifyScaleLayout(layout).str();
  scales.offset = placeFormula(storage);
  scales.paddedRows = paddedExtent(storage, hw::Dim::Row);
  scales.paddedScales = paddedExtent(storage, hw::Dim::Block);
  scales.bytes =
      printExpression(storage.matrixBytes * matricesOf(product, !isA));
  if (product.kGroups)
    placeInGroups(product, isA, scales);
  // Bits that the format does not have must be clear; what NaNs and infinities
  // would reach, the kernel clears.
  scales.largestPaddingValue = formatInfo(*product.mma.getScale()).codeMask();
  scales.alignment = hw::tensorMapDataTypeInfo(map.getDataType()).alignment;
  return scales;
}

static plan::MetadataPacking metadataOf(const Product &product,
                                        TensorMapType map) {
  SymbolicSizes sizes = sizesOf(product);
  hw::SparsePattern pattern = hw::sparsePattern(product.mma.getKind());
  auto storage =
      getStorageBytes(getMetadataStorage(ScaleLayout::Tiled128x4), sizes.m,
                      sizes.k, hw::elementsPerMetadataByte(pattern));
  plan::MetadataPacking metadata =
      metadataPacking(pattern, storage, sizes.batch, "a");
  metadata.alignment = hw::tensorMapDataTypeInfo(map.getDataType()).alignment;
  return metadata;
}

static std::vector<plan::PlainOperand> plainOperands(const Product &product) {
  SymbolicSizes sizes = sizesOf(product);
  AffineExpr columns = product.hasPairs ? sizes.n.floorDiv(2) : sizes.n;
  auto matrix = [&](StringRef name, Type element) {
    plan::PlainOperand operand;
    operand.operand = name.str();
    operand.type = planTypeName(element);
    operand.rowPitch = printExpression(columns);
    operand.batchPitch = printExpression(sizes.m * columns);
    AffineExpr matrices = product.kGroups ? sizes.batch : matricesOf(product);
    operand.elements = printExpression(sizes.m * columns * matrices);
    operand.alignment = element.getIntOrFloatBitWidth() / 8;
    return operand;
  };
  std::vector<plan::PlainOperand> operands;
  if (!product.isQuantized)
    operands.push_back(matrix("d", product.d));
  if (product.isStoredByTma)
    operands.front().alignment = storeAlignment();
  if (product.c)
    operands.push_back(matrix("c", product.c));
  if (product.bias) {
    bool isOfRows = product.biasKind == BiasKind::Row;
    AffineExpr length = isOfRows ? sizes.m : sizes.n;
    if ((product.isGrouped && !isOfRows) || product.kGroups)
      length = length * sizes.batch;
    plan::PlainOperand bias;
    bias.operand = "bias";
    bias.type = planTypeName(product.bias);
    bias.elements = printExpression(length);
    bias.alignment = product.bias.getIntOrFloatBitWidth() / 8;
    operands.push_back(bias);
  }
  if (product.isGrouped || product.kGroups) {
    plan::PlainOperand offsets;
    offsets.operand =
        stringifyParameterRole(product.isGrouped ? ParameterRole::Offsets
                                                 : ParameterRole::KOffsets)
            .str();
    offsets.type = "i32";
    offsets.elements = printExpression(sizes.batch);
    offsets.alignment = sizeof(int32_t);
    operands.push_back(offsets);
  }
  if (product.gathered) {
    plan::PlainOperand numbers;
    numbers.operand = stringifyParameterRole(ParameterRole::RowNumbers).str();
    numbers.type = "i32";
    numbers.elements = printExpression(sizes.m);
    numbers.alignment = sizeof(int32_t);
    operands.push_back(numbers);
  }
  return operands;
}

static bool hasTensorScale(ScaledTensorType type) {
  return type.getSpec().getValue().tensorScale.has_value();
}

/// One factor for each matrix of the batch.
static std::vector<plan::TensorScales> tensorScales(const Product &product) {
  std::vector<plan::TensorScales> list;
  for (bool isB : {false, true})
    if (hasTensorScale(isB ? product.b : product.a))
      list.push_back({isB ? "b" : "a",
                      printExpression(matricesOf(product, isB)),
                      sizeof(float)});
  return list;
}

/// The scales of operands whose scales the epilogue reads.
static std::vector<plan::VectorScales> vectorScales(const Product &product) {
  SymbolicSizes sizes = sizesOf(product);
  std::vector<plan::VectorScales> list;
  for (bool isA : {true, false}) {
    ScaledTensorType type = isA ? product.a : product.b;
    const ScaleSpec &spec = type.getSpec().getValue();
    bool isPromoted = hasPromotedScales(type);
    if (!spec.coversK() && !isPromoted)
      continue;
    plan::VectorScales scales;
    scales.operand = isA ? "a" : "b";
    std::optional<ElementFormat> format = scaleFormat(*spec.scale);
    Type element = getBuiltinType(type.getContext(), *spec.scale);
    scales.format =
        format ? std::string(formatName(*format)) : planTypeName(element);
    scales.rows = type.getRowTile();
    AffineExpr count =
        scales.rows
            ? (isA ? sizes.rowsOfA : sizes.n).ceilDiv(int64_t(scales.rows))
            : getAffineConstantExpr(1, type.getContext());
    if (isPromoted) {
      scales.block = type.getKTile();
      count = count * sizes.k.ceilDiv(int64_t(scales.block));
    }
    scales.matrixElements = printExpression(count);
    scales.elements = printExpression(count * matricesOf(product, !isA));
    scales.alignment = element.getIntOrFloatBitWidth() / 8;
    list.push_back(std::move(scales));
  }
  return list;
}

static FailureOr<plan::Epilogue> epilogueOf(gpu::GPUFuncOp kernel,
                                            const Product &product) {
  plan::Epilogue epilogue;
  epilogue.pairs = product.hasPairs;
  epilogue.alpha = product.alpha;
  epilogue.beta = bool(product.c);
  epilogue.aTensorScale = hasTensorScale(product.a);
  epilogue.bTensorScale = hasTensorScale(product.b);
  if (product.bias)
    epilogue.bias = stringifyBiasKind(product.biasKind).str();
  auto inputs =
      epilogueInputs(bool(product.c), bool(product.bias), product.hasPairs);
  if (failed(planEpilogue(
          product.epilogue, inputs, [&] { return kernel.emitError(); },
          epilogue)))
    return failure();
  return epilogue;
}

static std::vector<plan::Size> planSizes(const Product &product) {
  SymbolicSizes sizes = sizesOf(product);
  std::vector<plan::Size> list;
  for (auto [name, expr] : {std::pair<StringRef, AffineExpr>{"M", sizes.m},
                            {"N", sizes.n},
                            {"K", sizes.k},
                            {"batch", sizes.batch}}) {
    plan::Size size{name.str(), std::nullopt, kMaxProductSize};
    if (name == "M" && product.mostRows)
      size.maximum = *product.mostRows;
    if (auto constant = dyn_cast<AffineConstantExpr>(expr))
      size.value = constant.getValue();
    list.push_back(size);
  }
  if (product.gathered) {
    plan::Size tokens{std::string(plan::kTokensSize), std::nullopt,
                      kMaxProductSize};
    if (auto constant = dyn_cast<AffineConstantExpr>(sizes.rowsOfA))
      tokens.value = constant.getValue();
    list.push_back(tokens);
  }
  return list;
}

/// What the kernel expects of sizes that only the host knows: a byte of
/// metadata describes whole groups of one row, and pairs of columns are whole.
static std::vector<std::string> conditionsOf(const Product &product) {
  SymbolicSizes sizes = sizesOf(product);
  std::vector<std::string> conditions;
  auto expectMultiple = [&](AffineExpr size, int64_t unit) {
    if (!isa<AffineConstantExpr>(size))
      conditions.push_back(printExpression(size % unit) + " == 0");
  };
  if (product.mma.getSparse())
    expectMultiple(sizes.k, int64_t(hw::elementsPerMetadataByte(
                                hw::sparsePattern(product.mma.getKind()))));
  if (product.hasPairs)
    expectMultiple(sizes.n, 2);
  return conditions;
}

//===----------------------------------------------------------------------===//
// Kernels
//===----------------------------------------------------------------------===//

/// The type of the argument with `role`; the tensor maps are always there.
static FailureOr<TensorMapType> mapOf(gpu::GPUFuncOp kernel,
                                      ParameterRole role) {
  for (BlockArgument argument : kernel.getArguments()) {
    auto attribute = kernel.getArgAttrOfType<ParameterAttr>(
        argument.getArgNumber(), ParameterAttr::name);
    auto map = dyn_cast<TensorMapType>(argument.getType());
    if (map && attribute && attribute.getRole() == role)
      return map;
  }
  return kernel.emitError()
         << "has no tensor map '" << stringifyParameterRole(role) << "'";
}

FailureOr<std::vector<plan::Limit>>
blockscale::limitsOf(gpu::GPUFuncOp kernel) {
  auto limits = sizeLimits(kernel, [&] { return kernel.emitError(); });
  if (failed(limits))
    return failure();
  std::vector<plan::Limit> list;
  for (const SizeLimit &limit : *limits)
    list.push_back({printExpression(limit.value), limit.maximum, limit.what});
  return list;
}

static LogicalResult planWorkspace(gpu::GPUFuncOp kernel, KernelAttr attribute,
                                   plan::Kernel &result) {
  AffineMap workspace = attribute.getWorkspace();
  bool isTaken =
      llvm::any_of(result.parameters, [](const plan::Parameter &parameter) {
        return parameter.role == plan::kWorkspaceRole;
      });
  if (isTaken != static_cast<bool>(workspace))
    return kernel.emitError()
           << (isTaken ? "has a parameter 'workspace' and no size of it"
                       : "has a workspace and no parameter for it");
  if (!workspace)
    return success();
  std::vector<plan::Expression> bytes =
      printResults(workspace.getMajorSubMap(2));
  int64_t parts = cast<AffineConstantExpr>(workspace.getResult(2)).getValue();
  // The widest access of a thread.
  constexpr unsigned kAlignment = 16;
  result.workspace = {bytes[0], bytes[1], kAlignment, unsigned(parts)};
  return success();
}

static FailureOr<plan::Kernel> planKernel(gpu::GPUFuncOp kernel,
                                          KernelAttr attribute) {
  FailureOr<Product> found = productOf(kernel);
  auto limits = limitsOf(kernel);
  if (failed(found) || failed(limits))
    return failure();
  const Product &product = *found;
  auto parameters = parametersOf(kernel);
  auto aData = mapOf(kernel, ParameterRole::AData);
  auto bData = mapOf(kernel, ParameterRole::BData);
  if (failed(parameters) || failed(aData) || failed(bData))
    return failure();
  if (attribute.getSharedBytes() <= 0)
    return kernel.emitError() << "has no shared memory yet; run "
                                 "'blockscale-assign-memory' first";
  plan::Kernel result;
  result.name = kernel.getName().str();
  result.sourceFunction = product.sourceFunction;
  result.variantOf = product.variantOf;
  result.grid = {printMinimum(attribute.getGrid()), "1", "1"};
  result.cluster = {attribute.getCluster(), 1, 1};
  result.block = {attribute.getBlock(), 1, 1};
  result.dependentLaunch = attribute.getDependentLaunch();
  result.sharedMemoryBytes = attribute.getSharedBytes();
  result.oversizedSharedMemory = hw::needsOversizedShared(
      getTarget(kernel).chip, result.sharedMemoryBytes);
  result.sizes = planSizes(product);
  result.limits = std::move(*limits);
  result.conditions = conditionsOf(product);
  result.parameters = std::move(*parameters);
  result.data = {dataPacking(product, true, *aData),
                 dataPacking(product, false, *bData)};
  if (hasTileScales(product)) {
    auto aScales = mapOf(kernel, ParameterRole::AScales);
    auto bScales = mapOf(kernel, ParameterRole::BScales);
    if (failed(aScales) || failed(bScales))
      return failure();
    result.scales = {scalePacking(product, true, *aScales),
                     scalePacking(product, false, *bScales)};
  }
  if (product.mma.getSparse()) {
    auto metadata = mapOf(kernel, ParameterRole::AMetadata);
    if (failed(metadata))
      return failure();
    result.metadata = {metadataOf(product, *metadata)};
  }
  result.tensorScales = tensorScales(product);
  result.vectorScales = vectorScales(product);
  result.operands = plainOperands(product);
  if (failed(planWorkspace(kernel, attribute, result)))
    return failure();
  FailureOr<plan::Epilogue> epilogue = epilogueOf(kernel, product);
  if (failed(epilogue))
    return failure();
  result.epilogue = std::move(*epilogue);
  if (product.isQuantized && failed(planQuantizedResult(kernel, result)))
    return failure();
  return result;
}

/// Of a kernel that multiplies, quantises or converts.
static FailureOr<plan::Kernel> planAny(gpu::GPUFuncOp kernel,
                                       KernelAttr attribute) {
  if (kernel->hasAttr(ConversionAttr::name))
    return planConversion(kernel, attribute);
  bool onlyQuantizes = kernel->hasAttr(QuantizationAttr::name) &&
                       !kernel->hasAttr(ProductAttr::name);
  return onlyQuantizes ? planQuantization(kernel, attribute)
                       : planKernel(kernel, attribute);
}

FailureOr<plan::Plan> blockscale::planKernels(gpu::GPUModuleOp kernels) {
  plan::Plan result;
  hw::Target target = getTarget(kernels);
  result.target = hw::targetName(target);
  result.devices = hw::devicesOf(target);
  for (auto kernel : kernels.getOps<gpu::GPUFuncOp>()) {
    auto attribute = kernel->getAttrOfType<KernelAttr>(KernelAttr::name);
    if (!attribute)
      continue;
    FailureOr<plan::Kernel> planned = planAny(kernel, attribute);
    if (failed(planned))
      return failure();
    result.kernels.push_back(std::move(*planned));
  }
  return result;
}

FailureOr<plan::Plan> blockscale::buildLaunchPlan(gpu::GPUModuleOp kernels,
                                                  bool hostDuties) {
  FailureOr<std::vector<plan::Function>> functions =
      planFunctions(kernels, hostDuties);
  if (failed(functions))
    return failure();
  FailureOr<plan::Plan> result = planKernels(kernels);
  if (succeeded(result))
    result->functions = std::move(*functions);
  return result;
}
