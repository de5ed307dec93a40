//===- FromStablehlo.cpp - products of JAX --------------------------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

// StableHLO is no dependency: its ops are known by name, as the generic form
// gives them. `jax.lax.scaled_dot` lowers to the composite,
// `jax.nn.scaled_matmul` for CUDA to the custom call.

#include "Contraction.h"
#include "Product.h"
#include "llvm/Support/JSON.h"

using namespace mlir;
using namespace blockscale;
using namespace blockscale::importer;

//===----------------------------------------------------------------------===//
// Dimensions
//===----------------------------------------------------------------------===//

namespace {
/// What dot_general calls its dimension numbers.
struct DotDimensions {
  SmallVector<int64_t> lhsContracting, rhsContracting, lhsBatch, rhsBatch;
};
} // namespace

/// Reads `[1, 2]`.
static LogicalResult readNumbers(Attribute attribute,
                                 SmallVectorImpl<int64_t> &numbers) {
  auto array = dyn_cast_or_null<ArrayAttr>(attribute);
  if (!array)
    return failure();
  for (Attribute element : array) {
    auto number = dyn_cast<IntegerAttr>(element);
    if (!number)
      return failure();
    numbers.push_back(number.getInt());
  }
  return success();
}

/// Reads `[[[2], [1]], [[0], [0]]]`: contracting, then batch dimensions.
static LogicalResult readDimensionNumbers(Attribute attribute,
                                          DotDimensions &dimensions) {
  auto pairAt = [](Attribute of, size_t index) -> Attribute {
    auto array = dyn_cast_or_null<ArrayAttr>(of);
    return array && array.size() == 2 ? array[index] : Attribute();
  };
  Attribute contracting = pairAt(attribute, 0), batch = pairAt(attribute, 1);
  if (failed(readNumbers(pairAt(contracting, 0), dimensions.lhsContracting)) ||
      failed(readNumbers(pairAt(contracting, 1), dimensions.rhsContracting)) ||
      failed(readNumbers(pairAt(batch, 0), dimensions.lhsBatch)) ||
      failed(readNumbers(pairAt(batch, 1), dimensions.rhsBatch)))
    return failure();
  return success();
}

/// Whether these are different dimensions of a tensor of rank `rank`.
static bool areDimensions(ArrayRef<int64_t> first, ArrayRef<int64_t> second,
                          int64_t rank) {
  SmallVector<int64_t> all(first);
  llvm::append_range(all, second);
  llvm::sort(all);
  return llvm::all_of(all,
                      [&](int64_t each) { return each >= 0 && each < rank; }) &&
         std::adjacent_find(all.begin(), all.end()) == all.end();
}

//===----------------------------------------------------------------------===//
// Contractions
//===----------------------------------------------------------------------===//

/// Loops of one side: batch and summed ones are those of both sides, the others
/// are numbered from `next` on and noted in `own`.
static SmallVector<Place> loopsOf(int64_t rank, ArrayRef<int64_t> batch,
                                  ArrayRef<int64_t> contracting, unsigned &next,
                                  SmallVectorImpl<unsigned> &own) {
  SmallVector<Place> places;
  for (int64_t i = 0; i < rank; ++i) {
    const auto *inBatch = llvm::find(batch, i);
    const auto *inSum = llvm::find(contracting, i);
    if (inBatch != batch.end()) {
      places.push_back({unsigned(inBatch - batch.begin()), 1});
    } else if (inSum != contracting.end()) {
      places.push_back(
          {unsigned(batch.size() + size_t(inSum - contracting.begin())), 1});
    } else {
      own.push_back(next);
      places.push_back({next++, 1});
    }
  }
  return places;
}

/// Gives a side its scales: of the same rank, smaller along the summed
/// dimension. A scale of one number for all is none of a block.
static LogicalResult setScales(Operation *op, StringRef name, Value scales,
                               Side &side, ArrayRef<unsigned> reduction) {
  auto data = cast<RankedTensorType>(side.data.base.getType());
  auto type = dyn_cast<RankedTensorType>(scales.getType());
  auto describe = [&] {
    return op->emitError() << "operand '" << name << "' is " << data
                           << " and its scales are " << scales.getType()
                           << ": ";
  };
  if (!type || type.getRank() != data.getRank())
    return describe() << "their ranks differ";
  side.scales.base = scales;
  side.scales.isScale = true;
  for (auto [i, place] : llvm::enumerate(side.data.places)) {
    int64_t extent = data.getDimSize(i), blocks = type.getDimSize(i);
    int64_t block = 1;
    if (llvm::is_contained(reduction, place.loop)) {
      if (ShapedType::isDynamic(extent) || ShapedType::isDynamic(blocks))
        return describe() << "the contracted dimension must be static, since "
                             "the block size follows from it";
      if (blocks == 0 || extent % blocks != 0)
        return describe() << blocks << " scales do not divide " << extent
                          << " elements of the contracted dimension";
      block = extent / blocks;
    }
    side.scales.places.push_back({place.loop, block});
  }
  return success();
}

/// The product of `operands` (a, b, scale of a, and of b if that has any).
static FailureOr<SmallVector<Value>> buildDot(ImplicitLocOpBuilder &b,
                                              Operation *op,
                                              const DotDimensions &dimensions) {
  ValueRange operands = op->getOperands();
  bool hasTypes =
      (operands.size() == 3 || operands.size() == 4) &&
      op->getNumResults() == 1 &&
      llvm::all_of(operands.getTypes(), llvm::IsaPred<RankedTensorType>) &&
      isa<RankedTensorType>(op->getResult(0).getType());
  if (!hasTypes)
    return op->emitError("a scaled dot product has three or four operands and "
                         "one result, all tensors with ranks");
  auto a = cast<RankedTensorType>(operands[0].getType());
  auto other = cast<RankedTensorType>(operands[1].getType());
  size_t summed = dimensions.lhsContracting.size();
  if (!areDimensions(dimensions.lhsBatch, dimensions.lhsContracting,
                     a.getRank()) ||
      !areDimensions(dimensions.rhsBatch, dimensions.rhsContracting,
                     other.getRank()) ||
      dimensions.lhsBatch.size() != dimensions.rhsBatch.size() ||
      summed != dimensions.rhsContracting.size() || summed == 0)
    return op->emitError("the dimension numbers of a scaled dot product name "
                         "no dimensions of its operands, or one of them twice");
  Contraction found;
  Loops &loops = found.loops;
  auto next = unsigned(dimensions.lhsBatch.size());
  loops.batch.assign(llvm::seq<unsigned>(0, next).begin(),
                     llvm::seq<unsigned>(0, next).end());
  for (size_t i = 0; i < summed; ++i)
    loops.reduction.push_back(next++);
  found.a.data.base = operands[0];
  found.b.data.base = operands[1];
  found.a.data.places = loopsOf(a.getRank(), dimensions.lhsBatch,
                                dimensions.lhsContracting, next, loops.rows);
  found.b.data.places = loopsOf(other.getRank(), dimensions.rhsBatch,
                                dimensions.rhsContracting, next, loops.columns);
  found.ranges.assign(next, ShapedType::kDynamic);
  auto type = cast<RankedTensorType>(op->getResult(0).getType());
  if (size_t(type.getRank()) !=
      loops.batch.size() + loops.rows.size() + loops.columns.size())
    return op->emitError() << "the result " << type
                           << " does not have the rank that follows from the "
                              "dimension numbers";
  if (failed(setScales(op, "lhs", operands[2], found.a, loops.reduction)) ||
      (operands.size() == 4 &&
       failed(setScales(op, "rhs", operands[3], found.b, loops.reduction))))
    return failure();
  FailureOr<Value> result = buildContraction(b, op, found, type);
  if (failed(result))
    return failure();
  return SmallVector<Value>{*result};
}

//===----------------------------------------------------------------------===//
// Ops
//===----------------------------------------------------------------------===//

static bool isText(Operation *op, StringRef attribute, StringRef text) {
  auto value = dyn_cast_or_null<StringAttr>(op->getAttr(attribute));
  return value && value.getValue() == text;
}

static bool isComposite(Operation *op) {
  return op->getName().getStringRef() == "stablehlo.composite" &&
         isText(op, "name", "xla.scaled_dot");
}

bool importer::isScaledDot(Operation *op) {
  return isComposite(op) ||
         (op->getName().getStringRef() == "stablehlo.custom_call" &&
          isText(op, "call_target_name", "__op$block_scaled_dot"));
}

bool importer::hasDequantizedDot(Operation *root) {
  bool hasDot = false, hasNarrow = false;
  auto isNarrow = [](Value value) {
    Type type = getElementTypeOrSelf(value);
    constexpr unsigned kBit = 1, kByte = 8;
    return type.isIntOrFloat() && type.getIntOrFloatBitWidth() <= kByte &&
           type.getIntOrFloatBitWidth() > kBit;
  };
  root->walk([&](Operation *op) {
    StringRef name = op->getName().getStringRef();
    bool isDot = name == "stablehlo.dot_general";
    hasDot |= isDot;
    if (isDot || name == "stablehlo.convert")
      hasNarrow |=
          llvm::any_of(op->getOperands(), isNarrow) &&
          (isDot || isa<FloatType>(getElementTypeOrSelf(op->getResult(0))));
  });
  return hasDot && hasNarrow;
}

static FailureOr<SmallVector<Value>> ofComposite(ImplicitLocOpBuilder &b,
                                                 Operation *op) {
  auto attributes =
      dyn_cast_or_null<DictionaryAttr>(op->getAttr("composite_attributes"));
  DotDimensions dimensions;
  if (!attributes || failed(readDimensionNumbers(
                         attributes.get("dimension_numbers"), dimensions)))
    return op->emitError("'xla.scaled_dot' needs 'dimension_numbers': "
                         "[[contracting of lhs, of rhs], [batch of lhs, of "
                         "rhs]]");
  return buildDot(b, op, dimensions);
}

/// Reads the batch dimensions of one side from the call's configuration.
static LogicalResult readBatch(const llvm::json::Object &config, StringRef name,
                               SmallVectorImpl<int64_t> &numbers) {
  const llvm::json::Value *value = config.get(name);
  if (!value)
    return success();
  const llvm::json::Array *array = value->getAsArray();
  if (!array)
    return failure();
  for (const llvm::json::Value &element : *array) {
    // XLA writes 64-bit numbers as texts, too.
    std::optional<int64_t> number = element.getAsInteger();
    int64_t parsed = 0;
    if (auto text = element.getAsString();
        text && !text->getAsInteger(/*Radix=*/10, parsed))
      number = parsed;
    if (!number)
      return failure();
    numbers.push_back(*number);
  }
  return success();
}

/// K is the last dimension of all operands of the call.
static FailureOr<SmallVector<Value>> ofCall(ImplicitLocOpBuilder &b,
                                            Operation *op) {
  auto text = dyn_cast_or_null<StringAttr>(op->getAttr("backend_config"));
  DotDimensions dimensions;
  auto refuse = [&] {
    return op->emitError("'__op$block_scaled_dot' needs a 'backend_config' "
                         "with 'scaled_dot_backend_config' in JSON");
  };
  if (!text)
    return refuse();
  llvm::Expected<llvm::json::Value> json = llvm::json::parse(text.getValue());
  if (!json) {
    llvm::consumeError(json.takeError());
    return refuse();
  }
  const llvm::json::Object *outer = json->getAsObject();
  const llvm::json::Object *config =
      outer ? outer->getObject("scaled_dot_backend_config") : nullptr;
  if (!config ||
      failed(readBatch(*config, "lhs_batch_dimensions", dimensions.lhsBatch)) ||
      failed(readBatch(*config, "rhs_batch_dimensions", dimensions.rhsBatch)))
    return refuse();
  SmallVector<int64_t> *contracting[] = {&dimensions.lhsContracting,
                                         &dimensions.rhsContracting};
  for (auto [operand, numbers] : llvm::zip(op->getOperands(), contracting))
    if (auto type = dyn_cast<RankedTensorType>(operand.getType()))
      numbers->push_back(type.getRank() - 1);
  return buildDot(b, op, dimensions);
}

namespace {
struct ImportDot : RewritePattern {
  ImportDot(MLIRContext *context, bool &refused)
      : RewritePattern(MatchAnyOpTypeTag(), /*benefit=*/1, context),
        refused(refused) {}

  LogicalResult matchAndRewrite(Operation *op,
                                PatternRewriter &rewriter) const override {
    if (isRaggedDot(op))
      return rewriteRaggedDot(op, rewriter);
    if (!isScaledDot(op))
      return rewriter.notifyMatchFailure(op, "is no scaled dot product");
    ImplicitLocOpBuilder b(op->getLoc(), rewriter);
    auto results = isComposite(op) ? ofComposite(b, op) : ofCall(b, op);
    if (failed(results)) {
      refused = true;
      return failure();
    }
    rewriter.replaceOp(op, *results);
    return success();
  }

private:
  LogicalResult rewriteRaggedDot(Operation *op,
                                 PatternRewriter &rewriter) const {
    ImplicitLocOpBuilder b(op->getLoc(), rewriter);
    FailureOr<Value> product = raggedDot(b, op);
    if (failed(product)) {
      refused = true;
      return failure();
    }
    rewriter.replaceOp(op, *product);
    return success();
  }

  bool &refused;
};
} // namespace

void importer::populateStablehloPatterns(RewritePatternSet &patterns,
                                         bool &refused) {
  patterns.add<ImportDot>(patterns.getContext(), refused);
}
