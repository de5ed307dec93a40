//===- Tails.cpp - what follows a product ---------------------------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Factors.h"
#include "Product.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Dialect/Tosa/IR/TosaOps.h"

using namespace mlir;
using namespace blockscale;
using namespace blockscale::importer;

//===----------------------------------------------------------------------===//
// From a product to what follows it
//===----------------------------------------------------------------------===//

namespace {
/// An imported product, the changes of shape behind it and the op that reads
/// the last of them, which nobody else does.
struct Tail {
  MatmulOp product;
  SmallVector<Operation *> shapes;
  Operation *reader = nullptr;
  OpOperand *use = nullptr;
};
} // namespace

static std::optional<Tail> tailOf(MatmulOp op) {
  // An epilogue is no sum that a bias could be added to afterwards.
  if (!op->hasAttr(kImported) || !op.getEpilogue().empty())
    return std::nullopt;
  Tail tail;
  tail.product = op;
  Value value = op.getResult();
  while (value.hasOneUse()) {
    tail.use = &*value.use_begin();
    tail.reader = tail.use->getOwner();
    if (!isa<tensor::ExpandShapeOp, tensor::CollapseShapeOp, tensor::CastOp>(
            tail.reader))
      return tail;
    tail.shapes.push_back(tail.reader);
    value = tail.reader->getResult(0);
  }
  return std::nullopt;
}

/// `type` with the elements of the tail's result.
static Type withElement(Type type, Type element) {
  return cast<RankedTensorType>(type).clone(element);
}

/// Writes the product with other operands or another result, its shapes behind
/// it, and puts that in the reader's place.
static void replaceReader(PatternRewriter &rewriter, const Tail &tail,
                          Type element, Value alpha, Value bias) {
  MatmulOp op = tail.product;
  rewriter.setInsertionPoint(tail.reader);
  auto product = MatmulOp::create(
      rewriter, op.getLoc(),
      cast<RankedTensorType>(withElement(op.getType(), element)), op.getA(),
      op.getB(), alpha, op.getBeta(), op.getC(), bias, op.getOffsets(),
      op.getRowNumbers(), op.getBiasKind(), /*pairs=*/false,
      op.getLoweringAttr());
  product->setDiscardableAttr(kImported, rewriter.getUnitAttr());
  Value value = product;
  for (Operation *shape : tail.shapes) {
    IRMapping map;
    map.map(shape->getOperand(0), value);
    Operation *copy = rewriter.clone(*shape, map);
    copy->getResult(0).setType(
        withElement(shape->getResult(0).getType(), element));
    value = copy->getResult(0);
  }
  Type type = tail.reader->getResult(0).getType();
  if (value.getType() != type)
    value = tensor::CastOp::create(rewriter, op.getLoc(), type, value);
  rewriter.replaceOp(tail.reader, value);
}

//===----------------------------------------------------------------------===//
// Conversions
//===----------------------------------------------------------------------===//

namespace {
/// A result that is rounded at once is made so.
struct FoldConversion : OpRewritePattern<MatmulOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(MatmulOp op,
                                PatternRewriter &rewriter) const override {
    std::optional<Tail> tail = tailOf(op);
    if (!tail || !op.getType().getElementType().isF32())
      return rewriter.notifyMatchFailure(op, "nothing of f32 follows");
    StringRef name = tail->reader->getName().getStringRef();
    if (name != "arith.truncf" && name != "tosa.cast" &&
        name != "stablehlo.convert")
      return rewriter.notifyMatchFailure(op, "no conversion follows");
    Type element = getElementTypeOrSelf(tail->reader->getResult(0));
    if (!element.isBF16() && !element.isF16())
      return rewriter.notifyMatchFailure(op, "kernels store no such elements");
    replaceReader(rewriter, *tail, element, op.getAlpha(), op.getBias());
    return success();
  }
};
} // namespace

//===----------------------------------------------------------------------===//
// Sums and factors
//===----------------------------------------------------------------------===//

/// What an op that adds or multiplies elementwise does with the tail's value.
enum class Join { Add, Multiply };

static std::optional<Join> joinOf(Operation *op) {
  return llvm::StringSwitch<std::optional<Join>>(op->getName().getStringRef())
      .Cases({"arith.addf", "tosa.add", "stablehlo.add"}, Join::Add)
      .Cases({"arith.mulf", "stablehlo.multiply"}, Join::Multiply)
      .Default(std::nullopt);
}

namespace {
/// A tensor that is the same along some dimensions of another.
struct Broadcast {
  Value source;
  /// The dimensions of the other along which the source's run.
  SmallVector<int64_t> dimensions;
};
} // namespace

/// Where the dimensions of the operand go, if `op` is a broadcast.
static std::optional<SmallVector<int64_t>> placesOf(Operation *op) {
  if (auto broadcast = dyn_cast_or_null<linalg::BroadcastOp>(op)) {
    SmallVector<int64_t> places;
    int64_t rank = cast<RankedTensorType>(op->getResult(0).getType()).getRank();
    for (int64_t i = 0; i < rank; ++i)
      if (!llvm::is_contained(broadcast.getDimensions(), i))
        places.push_back(i);
    return places;
  }
  // The second operand of the dynamic one says the sizes.
  StringRef name = op ? op->getName().getStringRef() : "";
  bool isBroadcast = name == "stablehlo.broadcast_in_dim" ||
                     name == "stablehlo.dynamic_broadcast_in_dim";
  if (!isBroadcast || op->getNumOperands() == 0)
    return std::nullopt;
  auto places =
      dyn_cast_or_null<DenseI64ArrayAttr>(op->getAttr("broadcast_dimensions"));
  auto source = dyn_cast<RankedTensorType>(op->getOperand(0).getType());
  auto result = dyn_cast<RankedTensorType>(op->getResult(0).getType());
  if (!places || !source || !result || places.size() != source.getRank())
    return std::nullopt;
  // Nobody verifies ops of dialects that are not here.
  for (int64_t place : places.asArrayRef())
    if (place < 0 || place >= result.getRank())
      return std::nullopt;
  return SmallVector<int64_t>(places.asArrayRef());
}

/// What `value` is a broadcast of. TOSA's tensors have ones where they are the
/// same.
static std::optional<Broadcast> broadcastOf(Value value) {
  auto type = dyn_cast<RankedTensorType>(value.getType());
  if (!type)
    return std::nullopt;
  SmallVector<int64_t> places =
      llvm::to_vector(llvm::seq<int64_t>(0, type.getRank()));
  while (auto outer = placesOf(value.getDefiningOp())) {
    for (int64_t &place : *outer)
      place = places[size_t(place)];
    places = *outer;
    value = value.getDefiningOp()->getOperand(0);
  }
  auto source = cast<RankedTensorType>(value.getType());
  Broadcast found{value, {}};
  for (auto [size, place] : llvm::zip(source.getShape(), places))
    if (size != 1)
      found.dimensions.push_back(place);
  return found;
}

/// `source` without dimensions of one element, all but `kept` of them.
static Value dropOnes(ImplicitLocOpBuilder &b, Value source, int64_t kept) {
  auto type = cast<RankedTensorType>(source.getType());
  if (type.getRank() == kept)
    return source;
  SmallVector<ReassociationIndices> groups;
  if (kept == 1) {
    groups.emplace_back();
    for (int64_t i = 0; i < type.getRank(); ++i)
      groups.back().push_back(i);
  }
  return tensor::CollapseShapeOp::create(b, source, groups);
}

namespace {
/// A row vector that is added is a bias, a number that multiplies is alpha.
struct FoldJoin : OpRewritePattern<MatmulOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(MatmulOp op,
                                PatternRewriter &rewriter) const override {
    std::optional<Tail> tail = tailOf(op);
    std::optional<Join> join = tail ? joinOf(tail->reader) : std::nullopt;
    if (!join || tail->reader->getNumOperands() < 2)
      return rewriter.notifyMatchFailure(op, "no sum or factor follows");
    Value value = tail->use->get();
    Value other = tail->reader->getOperand(1 - tail->use->getOperandNumber());
    auto type = cast<RankedTensorType>(value.getType());
    std::optional<Broadcast> found = broadcastOf(other);
    if (!found || tail->reader->getResult(0).getType() != type)
      return rewriter.notifyMatchFailure(op, "the other operand is a tensor");
    ImplicitLocOpBuilder b(op.getLoc(), rewriter);
    b.setInsertionPoint(tail->reader);
    if (*join == Join::Multiply)
      return scale(op, *tail, *found, b, rewriter);
    return add(op, *tail, *found, b, rewriter);
  }

  static LogicalResult scale(MatmulOp op, const Tail &tail,
                             const Broadcast &found, ImplicitLocOpBuilder &b,
                             PatternRewriter &rewriter) {
    auto type = cast<RankedTensorType>(found.source.getType());
    if (!type.hasStaticShape() || type.getNumElements() != 1 ||
        !isa<FloatType>(type.getElementType()) || op.getAlpha() || op.getC() ||
        op.getBias())
      return rewriter.notifyMatchFailure(op, "is not times one number");
    Value number = tensor::ExtractOp::create(b, dropOnes(b, found.source, 0),
                                             ValueRange{});
    if (!number.getType().isF32())
      number = arith::ExtFOp::create(b, b.getF32Type(), number);
    replaceReader(rewriter, tail, op.getType().getElementType(), number, {});
    return success();
  }

  static LogicalResult add(MatmulOp op, const Tail &tail,
                           const Broadcast &found, ImplicitLocOpBuilder &b,
                           PatternRewriter &rewriter) {
    auto last = cast<RankedTensorType>(tail.use->get().getType()).getRank() - 1;
    auto type = cast<RankedTensorType>(found.source.getType());
    // Columns that a reshape joined or cut are others than those of the
    // product.
    int64_t columns = op.getType().getShape().back();
    if (found.dimensions != ArrayRef<int64_t>{last} || op.getBias() ||
        type.getNumElements() != columns || ShapedType::isDynamic(columns) ||
        cast<RankedTensorType>(tail.use->get().getType()).getDimSize(last) !=
            columns ||
        op.getType().getRank() != 2)
      return rewriter.notifyMatchFailure(op, "adds no row vector");
    replaceReader(rewriter, tail, op.getType().getElementType(), op.getAlpha(),
                  dropOnes(b, found.source, 1));
    return success();
  }
};
} // namespace

void importer::populateTailPatterns(RewritePatternSet &patterns) {
  patterns.add<FoldConversion, FoldJoin>(patterns.getContext());
}
