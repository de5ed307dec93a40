//===- LaunchToLinalg.cpp - launches among plain tensors ------------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What runs on the GPU stays a launch; its scaled tensors become their parts.
//
//===----------------------------------------------------------------------===//

#include "ElementValues.h"
#include "EndsAlongK.h"
#include "Patterns.h"
#include "RowGroups.h"
#include "blockscale/Dialect/Blockscale/IR/BlockscaleHost.h"
#include "blockscale/Dialect/Blockscale/IR/Codebooks.h"
#include "blockscale/Dialect/Blockscale/IR/Conversion.h"
#include "blockscale/Dialect/Blockscale/IR/LayoutOfScales.h"
#include "blockscale/Dialect/Blockscale/IR/Pairs.h"
#include "blockscale/Dialect/Blockscale/IR/Promotion.h"
#include "blockscale/Dialect/Blockscale/IR/QuantizedResult.h"
#include "mlir/Dialect/Arith/Utils/Utils.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/SymbolTable.h"

using namespace mlir;
using namespace blockscale;

/// What the parts of the operand `name` are called among a kernel's
/// parameters, in the order of `blockscale.disassemble`.
static void addRoles(StringRef name, ScaledTensorType type,
                     SmallVectorImpl<std::string> &roles) {
  const ScaleSpec &spec = type.getSpec().getValue();
  auto add = [&](bool isThere, StringRef part) {
    if (isThere)
      roles.push_back((name + "_" + part).str());
  };
  add(true, "data");
  add(!spec.isUnscaled(), "scales");
  add(spec.zero.has_value(), "zeros");
  add(spec.tensorScale.has_value(), "tensor_scale");
  add(spec.isSparse(), "metadata");
}

/// The type with a scale for each row and block of the instruction: what the
/// kernel reads. Scales that it multiplies sums by, as no instruction reads
/// them beside `other`, are read as they are.
static ScaledTensorType typeInKernel(ScaledTensorType type,
                                     ScaledTensorType other, MmaAttr mma) {
  ScaleSpec spec = type.getSpec().getValue();
  if (!mma.getScale() || !hasBlockScales(type, other))
    return type;
  spec.rows = std::nullopt;
  // Specs count elements that are kept.
  int64_t kept = mma.getScaleSpan() * spec.columns->size / type.getKTile();
  spec.columns->size = spec.columns->subtile = kept;
  return ScaledTensorType::get(type.getShape(), type.getElementType(),
                               ScaleSpecAttr::get(type.getContext(), spec),
                               type.getLayout(), type.getOrder());
}

/// Puts the numbers of tables above the indices of elements, of which the
/// plan's codes are, in whole bytes.
static void joinTableNumbers(Emitter &e, Parts &parts) {
  constexpr unsigned kByte = 8;
  unsigned bits = codebookBits(*getNumberSpec(parts.type.getElementType()));
  Type code = e.getIntegerType(bits <= kByte ? kByte : 2 * kByte);
  parts.data = generate(
      e, logicalSizes(e, parts), code, [&](Emitter &body, ValueRange at) {
        Value index = tensor::ExtractOp::create(body, parts.data, at);
        return arith::TruncIOp::create(body, code,
                                       codebookCode(body, parts, index, at));
      });
  parts.metadata = Value();
}

/// The parts that a launch takes of an operand, whose scales are repeated here
/// if they cover more than the instruction's do.
static SmallVector<Value> launchParts(Emitter &e, ScaledTensorType type,
                                      ScaledTensorType other, ValueRange values,
                                      MmaAttr mma) {
  Parts parts(type, values);
  if (parts.scales)
    parts.scales = repeatScales(e, parts, typeInKernel(type, other, mma),
                                logicalSizes(e, parts));
  if (tableNumbers(type))
    joinTableNumbers(e, parts);
  return parts.values();
}

/// How many of so many elements along K a sparse tensor stores.
static OpFoldResult storedSize(Emitter &e, OpFoldResult size) {
  constexpr int64_t kCompression = hw::kSparseCompression;
  if (std::optional<int64_t> known = getConstantIntValue(size))
    return e.getIndexAttr(*known / kCompression);
  return e.quotient(cast<Value>(size), kCompression);
}

/// The sizes of D, from the operands of the product: a matrix for each of the
/// offsets along K, a row for each that is gathered.
static SmallVector<OpFoldResult> resultSizes(Emitter &e, const Parts &a,
                                             const Parts &b, Value kOffsets,
                                             Value rowNumbers) {
  SmallVector<OpFoldResult> sizes = logicalSizes(e, a);
  if (rowNumbers)
    sizes.front() = tensor::getMixedSize(e, e.getLoc(), rowNumbers, /*dim=*/0);
  sizes.back() = logicalSizes(e, b)[b.type.getRank() - 2];
  if (kOffsets)
    sizes.insert(sizes.begin(),
                 tensor::getMixedSize(e, e.getLoc(), kOffsets, /*dim=*/0));
  return sizes;
}

//===----------------------------------------------------------------------===//
// Conversions
//===----------------------------------------------------------------------===//

namespace {
/// The launch of a kernel that converts: parts that it neither reads nor writes
/// stay as they are.
class ConversionLaunch {
public:
  ConversionLaunch(LaunchOp op, FunctionOpInterface kernel, Emitter &e,
                   ValueRange operand)
      : op(op), kernel(kernel), e(e), operand(operand) {}

  LogicalResult replace(ConversionPatternRewriter &rewriter);

private:
  bool hasParameter(StringRef role);
  void readParts(ScaledTensorType type);
  LogicalResult addResult(ScaledTensorType type);
  Value room(ArrayRef<OpFoldResult> extents, Type type) {
    auto tensor = cast<RankedTensorType>(type);
    return castTo(e,
                  tensor::EmptyOp::create(e, extents, tensor.getElementType()),
                  tensor);
  }

  LaunchOp op;
  FunctionOpInterface kernel;
  Emitter &e;
  ValueRange operand;
  std::optional<Parts> parts;
  SmallVector<OpFoldResult> sizes;
  SmallVector<std::string> roles, resultRoles;
  SmallVector<Value> inputs, inits;
  /// Of the parts of the result: what stays, or null.
  SmallVector<Value> kept;
};
} // namespace

bool ConversionLaunch::hasParameter(StringRef role) {
  for (unsigned i = 0, count = kernel.getNumArguments(); i < count; ++i) {
    auto attribute =
        kernel.getArgAttrOfType<ParameterAttr>(i, ParameterAttr::name);
    if (attribute && stringifyParameterRole(attribute.getRole()) == role)
      return true;
  }
  return false;
}

/// The elements are there for their sizes even if the kernel reads none.
void ConversionLaunch::readParts(ScaledTensorType type) {
  SmallVector<std::string> all;
  addRoles("a", type, all);
  for (auto [role, value] : llvm::zip_equal(all, operand))
    if (hasParameter(role) || role == "a_data") {
      roles.push_back(role);
      inputs.push_back(value);
    }
}

LogicalResult ConversionLaunch::addResult(ScaledTensorType type) {
  Result<TensorParts> found = getTensorParts(type);
  if (!found)
    return op.emitOpError() << found.why().text;
  SmallVector<OpFoldResult> data(sizes), scales, metadata;
  if (type.getSpec().getValue().isSparse()) {
    metadata = metadataSizes(e, type, sizes);
    data.back() = storedSize(e, sizes.back());
  }
  if (type.getOrder() == DataOrder::MNMajor)
    std::swap(data.back(), data[data.size() - 2]);
  if (found->scales)
    scales = scaleSizes(e, getScaleLayout(type), tileCounts(e, type, sizes));
  for (auto [name, partType, extents, before] :
       {std::tuple("d_data", found->data, &data, parts->data),
        std::tuple("d_scales", found->scales, &scales, parts->scales),
        std::tuple("d_zeros", found->zeros, &scales, parts->zeros),
        std::tuple("d_tensor_scale", found->tensorScale, &scales,
                   parts->tensorScale),
        std::tuple("d_metadata", found->metadata, &metadata,
                   parts->metadata)}) {
    if (!partType)
      continue;
    bool isWritten = hasParameter(name);
    kept.push_back(isWritten ? Value() : castTo(e, before, partType));
    if (!isWritten)
      continue;
    resultRoles.push_back(name);
    inits.push_back(room(*extents, partType));
  }
  return success();
}

LogicalResult ConversionLaunch::replace(ConversionPatternRewriter &rewriter) {
  if (auto type = dyn_cast<ScaledTensorType>(op.getInputs()[0].getType())) {
    parts.emplace(type, operand);
    sizes = logicalSizes(e, *parts);
    readParts(type);
  } else {
    sizes = tensor::getMixedSizes(e, e.getLoc(), operand[0]);
    roles.push_back(launchOperands(kernel).front().str());
    inputs.push_back(operand[0]);
  }
  Type type = op->getResult(0).getType();
  auto scaled = dyn_cast<ScaledTensorType>(type);
  if (scaled && !parts)
    return op.emitOpError()
           << "expected a scaled tensor as its input, like its "
              "result";
  auto conversion = kernel->getAttrOfType<ConversionAttr>(ConversionAttr::name);
  if (isTileSums(conversion))
    sizes = tileSumSizes(e, sizes, conversion.getGroup());
  if (!scaled)
    inits.push_back(room(sizes, type));
  else if (failed(addResult(scaled)))
    return failure();
  auto namesOf = [&](ArrayRef<std::string> list) {
    return e.getStrArrayAttr(SmallVector<StringRef>(list.begin(), list.end()));
  };
  auto launch = LaunchIntoOp::create(
      e, ValueRange(inits).getTypes(), op.getKernelAttr(), namesOf(roles),
      scaled ? namesOf(resultRoles) : ArrayAttr(), inputs, inits);
  launch->setDiscardableAttrs(op->getDiscardableAttrDictionary());
  SmallVector<Value> results(launch->getResults());
  if (scaled) {
    auto written = results.begin();
    SmallVector<Value> all(kept);
    for (Value &part : all)
      part = part ? part : *written++;
    results = all;
  }
  rewriter.replaceOpWithMultiple(op, {ValueRange(results)});
  return success();
}

//===----------------------------------------------------------------------===//
// The pattern
//===----------------------------------------------------------------------===//

namespace {
struct LaunchToLinalg : OpConversionPattern<LaunchOp> {
  using OpConversionPattern::OpConversionPattern;

  LogicalResult
  matchAndRewrite(LaunchOp op, OneToNOpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    auto kernel = SymbolTable::lookupNearestSymbolFrom<FunctionOpInterface>(
        op, op.getKernelAttr());
    bool isBothWays = kernel && kernel->hasAttr(kTransposedQuantizationName) &&
                      op->getNumResults() == 2;
    if (op->getNumResults() != 1 && !isBothWays)
      return op.emitOpError() << "has " << op->getNumResults()
                              << " results; host code launches kernels that "
                                 "have one, or quantise both ways";
    SmallVector<StringRef> operands;
    if (kernel)
      operands = launchOperands(kernel);
    auto quantized = dyn_cast<ScaledTensorType>(op->getResult(0).getType());
    bool converts = kernel && kernel->hasAttr(ConversionAttr::name);
    if (operands.size() != op.getInputs().size() ||
        operands.size() < (quantized || converts ? 1 : 2))
      return op.emitOpError()
             << "has " << op.getInputs().size()
             << " inputs for a kernel whose parameters name " << operands.size()
             << "; expected a kernel before 'convert-kernels-to-llvm'";
    auto product = kernel->getAttrOfType<ProductAttr>(ProductAttr::name);
    if (converts)
      return launchConversion(op, kernel, adaptor, rewriter);
    if (isBothWays)
      return launchBothWays(op, kernel, adaptor, rewriter);
    if (quantized && !product)
      return launchQuantization(op, quantized, kernel, adaptor, rewriter);
    auto a = dyn_cast<ScaledTensorType>(op.getInputs()[0].getType());
    auto b = dyn_cast<ScaledTensorType>(op.getInputs()[1].getType());
    if (!a || !b)
      return op.emitOpError() << "expected scaled tensors as its first two "
                                 "inputs";
    Emitter e(op.getLoc(), rewriter);
    SmallVector<std::string> roles;
    SmallVector<Value> inputs;
    Value offsets, kOffsets, rowNumbers;
    for (auto [name, input, values] :
         llvm::zip_equal(operands, op.getInputs(), adaptor.getInputs())) {
      auto type = dyn_cast<ScaledTensorType>(input.getType());
      if (type)
        addRoles(name, type, roles);
      else
        roles.push_back(name.str());
      if (name == stringifyParameterRole(ParameterRole::Offsets))
        offsets = input;
      if (name == stringifyParameterRole(ParameterRole::KOffsets))
        kOffsets = input;
      if (name == stringifyParameterRole(ParameterRole::RowNumbers))
        rowNumbers = input;
      if (type && product)
        llvm::append_range(inputs, launchParts(e, type, type == a ? b : a,
                                               values, product.getMma()));
      else
        llvm::append_range(inputs, values);
    }
    Parts partsOfA(a, adaptor.getInputs()[0]);
    if (kOffsets && product)
      checkEndsAlongK(e, kOffsets, logicalSizes(e, partsOfA).back(), product);
    SmallVector<OpFoldResult> sizes = resultSizes(
        e, partsOfA, Parts(b, adaptor.getInputs()[1]), kOffsets, rowNumbers);
    if (product && product.getPairs())
      sizes.back() = halfOf(e, e.getLoc(), sizes.back());
    SmallVector<Value> inits;
    if (quantized) {
      if (failed(addParts(e, op, quantized, sizes, offsets, inits)))
        return failure();
    } else {
      auto type = cast<RankedTensorType>(op->getResult(0).getType());
      inits.push_back(castTo(
          e, tensor::EmptyOp::create(e, sizes, type.getElementType()), type));
    }
    replaceByLaunch(e, op, roles, inputs, inits, rewriter);
    return success();
  }

private:
  static void replaceByLaunch(Emitter &e, LaunchOp op,
                              ArrayRef<std::string> roles, ValueRange inputs,
                              ValueRange inits,
                              ConversionPatternRewriter &rewriter) {
    SmallVector<StringRef> names(roles.begin(), roles.end());
    auto launch = LaunchIntoOp::create(
        e, inits.getTypes(), op.getKernelAttr(), e.getStrArrayAttr(names),
        /*result_roles=*/ArrayAttr(), inputs, inits);
    launch->setDiscardableAttrs(op->getDiscardableAttrDictionary());
    rewriter.replaceOpWithMultiple(op, {ValueRange(launch->getResults())});
  }

  /// Room for the parts of a result of `type`, of matrices of these `sizes`;
  /// its rows are in groups if there are `offsets`, which plain scales do not
  /// know.
  static LogicalResult addParts(Emitter &e, LaunchOp op, ScaledTensorType type,
                                ArrayRef<OpFoldResult> sizes, Value offsets,
                                SmallVectorImpl<Value> &inits) {
    Result<TensorParts> parts = getTensorParts(type);
    if (!parts)
      return op.emitOpError() << parts.why().text;
    SmallVector<OpFoldResult> counts = tileCounts(e, type, sizes);
    if (offsets && type.getLayout() == ScaleLayout::Grouped128x4) {
      Value rows =
          getValueOrCreateConstantIndexOp(e, e.getLoc(), counts.front());
      counts.front() = groupedScaleRows(e, rows, offsets);
    }
    SmallVector<OpFoldResult> scales =
        scaleSizes(e, getScaleLayout(type), counts);
    ArrayRef<OpFoldResult> sizesOfParts[] = {sizes, scales, sizes.drop_back(2)};
    // A kernel writes no other parts.
    for (auto [partType, partSizes] : llvm::zip(parts->present(), sizesOfParts))
      inits.push_back(castTo(
          e,
          tensor::EmptyOp::create(
              e, partSizes, cast<RankedTensorType>(partType).getElementType()),
          partType));
    return success();
  }

  static LogicalResult launchConversion(LaunchOp op, FunctionOpInterface kernel,
                                        OneToNOpAdaptor adaptor,
                                        ConversionPatternRewriter &rewriter) {
    Emitter e(op.getLoc(), rewriter);
    return ConversionLaunch(op, kernel, e, adaptor.getInputs()[0])
        .replace(rewriter);
  }

  /// What a kernel that quantises reads.
  struct QuantizationInputs {
    QuantizationInputs(Emitter &e, FunctionOpInterface kernel,
                       OneToNOpAdaptor adaptor) {
      for (ValueRange values : adaptor.getInputs())
        llvm::append_range(inputs, values);
      for (StringRef name : launchOperands(kernel))
        roles.push_back(name.str());
      sizes = tensor::getMixedSizes(e, e.getLoc(), inputs.front());
    }

    void transpose() { std::swap(sizes[sizes.size() - 2], sizes.back()); }

    SmallVector<Value> inputs;
    SmallVector<std::string> roles;
    SmallVector<OpFoldResult> sizes; ///< of the matrix, rows and columns last
  };

  /// The parts of a matrix that the kernel quantises, and of its transpose.
  static LogicalResult launchBothWays(LaunchOp op, FunctionOpInterface kernel,
                                      OneToNOpAdaptor adaptor,
                                      ConversionPatternRewriter &rewriter) {
    Emitter e(op.getLoc(), rewriter);
    QuantizationInputs from(e, kernel, adaptor);
    SmallVector<Value> inits;
    SmallVector<std::string> resultRoles;
    size_t ofMatrix = 0;
    for (auto [result, operand] :
         llvm::zip_equal(op->getResults(), std::array{"d", "transposed"})) {
      auto type = cast<ScaledTensorType>(result.getType());
      ofMatrix = inits.size();
      addRoles(operand, type, resultRoles);
      if (failed(addParts(e, op, type, from.sizes, /*offsets=*/Value(), inits)))
        return failure();
      from.transpose();
    }
    auto namesOf = [&](ArrayRef<std::string> list) {
      return e.getStrArrayAttr(
          SmallVector<StringRef>(list.begin(), list.end()));
    };
    auto launch = LaunchIntoOp::create(
        e, ValueRange(inits).getTypes(), op.getKernelAttr(),
        namesOf(from.roles), namesOf(resultRoles), from.inputs, inits);
    launch->setDiscardableAttrs(op->getDiscardableAttrDictionary());
    ValueRange parts = launch->getResults();
    rewriter.replaceOpWithMultiple(
        op, {parts.take_front(ofMatrix), parts.drop_front(ofMatrix)});
    return success();
  }

  /// The parts of `type`, which the kernel writes.
  static LogicalResult launchQuantization(LaunchOp op, ScaledTensorType type,
                                          FunctionOpInterface kernel,
                                          OneToNOpAdaptor adaptor,
                                          ConversionPatternRewriter &rewriter) {
    Emitter e(op.getLoc(), rewriter);
    QuantizationInputs from(e, kernel, adaptor);
    SmallVector<Value> inits;
    auto what = kernel->getAttrOfType<QuantizationAttr>(QuantizationAttr::name);
    if (what && what.getTransposed())
      from.transpose();
    if (failed(addParts(e, op, type, from.sizes, /*offsets=*/Value(), inits)))
      return failure();
    replaceByLaunch(e, op, from.roles, from.inputs, inits, rewriter);
    return success();
  }
};
} // namespace

void blockscale::populateLaunchPatterns(const TypeConverter &converter,
                                        RewritePatternSet &patterns) {
  patterns.add<LaunchToLinalg>(converter, patterns.getContext());
}
