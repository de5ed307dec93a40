//===- Product.cpp - a product as its producer wrote it -------------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Product.h"
#include "blockscale/Dialect/Blockscale/IR/ElementTypes.h"
#include "blockscale/Dialect/Blockscale/IR/Promotion.h"
#include "blockscale/Dialect/Blockscale/IR/StoredElements.h"
#include "blockscale/HW/Mma.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

using namespace mlir;
using namespace blockscale;
using namespace blockscale::importer;

static RankedTensorType tensorType(Value value) {
  return cast<RankedTensorType>(value.getType());
}

//===----------------------------------------------------------------------===//
// Shapes
//===----------------------------------------------------------------------===//

static SmallVector<OpFoldResult> sizesOf(ImplicitLocOpBuilder &b, Value value) {
  return tensor::getMixedSizes(b, b.getLoc(), value);
}

Value importer::transpose(ImplicitLocOpBuilder &b, Value value,
                          ArrayRef<int64_t> order) {
  if (llvm::equal(order, llvm::seq<int64_t>(0, int64_t(order.size()))))
    return value;
  SmallVector<OpFoldResult> sizes = sizesOf(b, value), ordered;
  for (int64_t dimension : order)
    ordered.push_back(sizes[size_t(dimension)]);
  Value empty =
      tensor::EmptyOp::create(b, ordered, tensorType(value).getElementType());
  return linalg::TransposeOp::create(b, value, empty, order)->getResult(0);
}

/// The dimensions of a tensor of rank `rank`, all before the last `kept` in one
/// group.
static SmallVector<ReassociationIndices> leadingAsOne(int64_t rank,
                                                      int64_t kept) {
  SmallVector<ReassociationIndices> groups(1);
  for (int64_t i = 0; i < rank; ++i) {
    if (i >= rank - kept)
      groups.emplace_back();
    groups.back().push_back(i);
  }
  return groups;
}

Value importer::joinLeading(ImplicitLocOpBuilder &b, Value value,
                            int64_t kept) {
  RankedTensorType type = tensorType(value);
  int64_t rank = type.getRank();
  if (rank == kept + 1)
    return value;
  if (rank > kept)
    return tensor::CollapseShapeOp::create(b, value, leadingAsOne(rank, kept));
  SmallVector<int64_t> shape(type.getShape());
  shape.insert(shape.begin(), 1);
  SmallVector<ReassociationIndices> groups{{0, 1}};
  for (int64_t i = 2; i <= rank; ++i)
    groups.push_back({i});
  return tensor::ExpandShapeOp::create(
      b, RankedTensorType::get(shape, type.getElementType()), value, groups);
}

Value importer::splitLeading(ImplicitLocOpBuilder &b, Value value, Value like,
                             int64_t kept) {
  RankedTensorType type = tensorType(value), model = tensorType(like);
  int64_t rank = model.getRank();
  if (rank == kept + 1)
    return value;
  SmallVector<int64_t> shape(
      model.getShape().drop_back(size_t(std::min(kept, rank))));
  llvm::append_range(shape, type.getShape().drop_front());
  auto split = RankedTensorType::get(shape, type.getElementType());
  if (rank < kept + 1) {
    SmallVector<ReassociationIndices> groups{{0, 1}};
    for (int64_t i = 2; i < type.getRank(); ++i)
      groups.push_back({i});
    return tensor::CollapseShapeOp::create(b, split, value, groups);
  }
  SmallVector<OpFoldResult> sizes = sizesOf(b, like);
  sizes.resize(size_t(rank - kept));
  llvm::append_range(sizes, ArrayRef(sizesOf(b, value)).drop_front());
  return tensor::ExpandShapeOp::create(
      b, split, value, leadingAsOne(int64_t(shape.size()), kept), sizes);
}

//===----------------------------------------------------------------------===//
// Operands
//===----------------------------------------------------------------------===//

static std::string textOf(Type type) {
  std::string text;
  llvm::raw_string_ostream(text) << '\'' << type << '\'';
  return text;
}

Result<ScaleSpec> importer::tileSpec(Type scales, int64_t block,
                                     int64_t rowBlock, Type zeros) {
  ScaleSpec spec;
  spec.scale = getNumberSpec(scales);
  if (!spec.scale || !isa<FloatType>(scales))
    return Reason("has scales of " + textOf(scales) +
                  "; scales are floats, such as f8E8M0FNU");
  if (zeros)
    spec.zero =
        *parseNumberSpec("int" + std::to_string(zeros.getIntOrFloatBitWidth()));
  spec.columns = TileSpec{unsigned(block), unsigned(block)};
  if (rowBlock != 1)
    spec.rows = TileSpec{unsigned(rowBlock), unsigned(rowBlock)};
  // Its text is read again by the rules of the grammar.
  if (Result<ScaleSpec> legal = parseScaleSpec(print(spec)); !legal)
    return Reason(
        "has a scale for " +
        (rowBlock == 1 ? std::string() : std::to_string(rowBlock) + " x ") +
        std::to_string(block) + " elements: " + legal.why().text);
  return spec;
}

Type importer::elementType(Type element, bool isUnsigned) {
  if (!isUnsigned)
    return element;
  return IntegerType::get(element.getContext(), element.getIntOrFloatBitWidth(),
                          IntegerType::Unsigned);
}

FailureOr<ScaledTensorType> importer::scaledType(Operation *op,
                                                 RankedTensorType data,
                                                 const Result<ScaleSpec> &spec,
                                                 DataOrder order,
                                                 bool isUnsigned) {
  if (!spec)
    return op->emitOpError() << spec.why().text;
  SmallVector<int64_t> shape(data.getShape());
  if (order == DataOrder::MNMajor)
    std::swap(shape[shape.size() - 2], shape[shape.size() - 1]);
  auto type = ScaledTensorType::getChecked(
      [&] { return op->emitOpError("has an operand that cannot be: "); }, shape,
      elementType(data.getElementType(), isUnsigned),
      ScaleSpecAttr::get(op->getContext(), *spec), ScaleLayout::Plain, order);
  if (!type)
    return failure();
  return type;
}

SmallVector<int64_t> importer::exchangeLast(int64_t rank) {
  SmallVector<int64_t> order = llvm::to_vector(llvm::seq<int64_t>(0, rank));
  std::swap(order[size_t(rank - 2)], order[size_t(rank - 1)]);
  return order;
}

bool importer::isNarrowFloat(Value value) {
  auto type = dyn_cast<FloatType>(getElementTypeOrSelf(value));
  constexpr unsigned kByte = 8;
  return type && type.getWidth() <= kByte;
}

/// Whether the chip reads elements with K before the rows.
static bool readsKFirst(Operation *op, Type element) {
  constexpr unsigned kByte = 8;
  auto type = dyn_cast<FloatType>(element);
  if (!type || (type.getWidth() != kByte && !type.isF16() && !type.isBF16()))
    return false;
  std::optional<hw::OperandType> operand = getOperandType(element);
  return operand &&
         llvm::any_of(hw::rowsFor(getTarget(op)), [&](const hw::MmaRow *row) {
           return row->mnMajor.contains(*operand);
         });
}

/// Whether a static size is not `expected`.
static bool differs(int64_t size, int64_t expected) {
  return !ShapedType::isDynamic(size) && !ShapedType::isDynamic(expected) &&
         size != expected;
}

static LogicalResult checkScales(Operation *op, StringRef name,
                                 const Operand &operand) {
  RankedTensorType data = tensorType(operand.data),
                   scales = tensorType(operand.scales);
  auto describe = [&] {
    return op->emitOpError() << "operand '" << name << "' is " << data
                             << " and its scales are " << scales << ": ";
  };
  if (data.getRank() != scales.getRank())
    return describe() << "their ranks differ";
  int64_t rank = data.getRank(), kAt = rank - (operand.kFirst ? 2 : 1);
  for (int64_t i = 0; i < rank; ++i) {
    bool isRows = i == rank - (operand.kFirst ? 1 : 2);
    int64_t size = data.getDimSize(i);
    if (isRows && !ShapedType::isDynamic(size))
      size =
          operand.rowBlock ? llvm::divideCeilSigned(size, operand.rowBlock) : 1;
    if (i != kAt && differs(scales.getDimSize(i), size))
      return describe() << "there are " << scales.getDimSize(i)
                        << " scales for " << data.getDimSize(i)
                        << " rows or matrices";
  }
  int64_t k = data.getDimSize(kAt), blocks = scales.getDimSize(kAt);
  if (ShapedType::isDynamic(k) || ShapedType::isDynamic(blocks))
    return success();
  if (k != blocks * operand.block && operand.block)
    return describe() << blocks << " blocks of " << operand.block
                      << " elements are not " << k;
  return success();
}

/// The type of one side, whose data are in `order`, with plain scales.
static FailureOr<ScaledTensorType> typeOf(Operation *op, const Operand &operand,
                                          RankedTensorType data,
                                          DataOrder order) {
  Result<ScaleSpec> spec = ScaleSpec();
  if (operand.scales)
    spec = tileSpec(tensorType(operand.scales).getElementType(), operand.block,
                    operand.rowBlock,
                    operand.zeros ? tensorType(operand.zeros).getElementType()
                                  : Type());
  return scaledType(op, data, spec, order, operand.isUnsigned);
}

/// The same with K last.
static FailureOr<ScaledTensorType> typeWithKLast(Operation *op,
                                                 const Operand &operand) {
  RankedTensorType data = tensorType(operand.data);
  if (operand.kFirst) {
    SmallVector<int64_t> shape(data.getShape());
    std::swap(shape.back(), shape[shape.size() - 2]);
    data = data.clone(shape);
  }
  return typeOf(op, operand, data, DataOrder::KMajor);
}

/// Whether elements of 8 bits and fewer are stored in 16 beside the others.
static bool isStoredLonger(ScaledTensorType type, ScaledTensorType other) {
  constexpr unsigned kByte = 8;
  std::optional<packing::Recoding> recoding =
      recodingOf(type, other, hw::MmaKind::F8F6F4);
  return recoding && formatInfo(recoding->to).bits > kByte;
}

/// One side as the tensor core reads it: K last or, where the chip reads that,
/// before the rows. Scales that none reads beside `other` stay in the order of
/// their tiles.
static FailureOr<Value> buildOperand(ImplicitLocOpBuilder &b, Operation *op,
                                     StringRef name, Operand operand,
                                     ScaledTensorType other, bool mayBeKFirst) {
  DataOrder order = DataOrder::KMajor;
  if (operand.kFirst) {
    RankedTensorType type = tensorType(operand.data);
    SmallVector<int64_t> exchange = exchangeLast(type.getRank());
    for (Value *part : {&operand.scales, &operand.zeros})
      if (*part)
        *part = transpose(b, *part, exchange);
    if (mayBeKFirst && readsKFirst(op, type.getElementType()))
      order = DataOrder::MNMajor;
    else
      operand.data = transpose(b, operand.data, exchange);
  }
  FailureOr<ScaledTensorType> type =
      typeOf(op, operand, tensorType(operand.data), order);
  if (failed(type))
    return failure();
  Value value = AssembleOp::create(b, *type, operand.data, operand.scales,
                                   operand.zeros, /*tensor_scale=*/Value(),
                                   /*metadata=*/Value());
  if (!hasBlockScales(*type, other))
    return value;
  auto tiled = ScaledTensorType::getChecked(
      [&] { return op->emitOpError() << "operand '" << name << "': "; },
      type->getShape(), type->getElementType(), type->getSpec(),
      ScaleLayout::Tiled128x4, order);
  if (!tiled)
    return failure();
  return RelayoutOp::create(b, tiled, value).getResult();
}

//===----------------------------------------------------------------------===//
// The product
//===----------------------------------------------------------------------===//

bool importer::isResultElement(Type element) {
  return element.isF32() || element.isBF16() || element.isF16();
}

static LogicalResult checkSizes(Operation *op, const Product &product) {
  if (!isResultElement(product.resultElement) &&
      !product.resultElement.isSignlessInteger(32))
    return op->emitOpError() << "has a result of " << product.resultElement
                             << "; products give f32, bf16 or f16";
  auto sizes = [](const Operand &operand) {
    ArrayRef<int64_t> shape = tensorType(operand.data).getShape();
    return std::pair(shape.front(),
                     shape[shape.size() - (operand.kFirst ? 2 : 1)]);
  };
  auto [aBatch, aK] = sizes(product.a);
  auto [bBatch, bK] = sizes(product.b);
  if (differs(aK, bK))
    return op->emitOpError()
           << "has operands of K = " << aK << " and K = " << bK;
  if (tensorType(product.a.data).getRank() == 3 && bBatch != 1 &&
      differs(aBatch, bBatch))
    return op->emitOpError() << "has " << aBatch << " matrices on one side and "
                             << bBatch << " on the other";
  return success();
}

/// Without its batch dimension: of one matrix, or with the matrices' rows one
/// after the other.
static void joinBatch(ImplicitLocOpBuilder &b, Operand &operand) {
  bool isOne = tensorType(operand.data).getDimSize(0) == 1;
  if (operand.kFirst && !isOne) {
    SmallVector<int64_t> exchange = exchangeLast(3);
    for (Value *part : {&operand.data, &operand.scales, &operand.zeros})
      if (*part)
        *part = transpose(b, *part, exchange);
    operand.kFirst = false;
  }
  for (Value *part : {&operand.data, &operand.scales, &operand.zeros})
    if (*part)
      *part = joinLeading(b, *part, 1);
}

/// Whether the rows of a batch are rows of one matrix: tiles of several rows
/// end with each matrix.
static bool isJoinable(const Operand &operand) {
  RankedTensorType type = tensorType(operand.data);
  int64_t rows = type.getDimSize(type.getRank() - (operand.kFirst ? 1 : 2));
  return operand.rowBlock == 1 || type.getDimSize(0) == 1 ||
         (operand.rowBlock && !ShapedType::isDynamic(rows) &&
          rows % operand.rowBlock == 0);
}

FailureOr<Value> importer::buildProduct(ImplicitLocOpBuilder &b, Operation *op,
                                        const Product &given) {
  Product product = given;
  if (failed(checkSizes(op, product)))
    return failure();
  Value batched = product.a.data;
  bool isShared = tensorType(batched).getRank() == 3 &&
                  tensorType(product.b.data).getDimSize(0) == 1;
  if (isShared && !isJoinable(product.a))
    return op->emitOpError()
           << "has matrices with scales for " << product.a.rowBlock
           << " rows each, which do not divide a matrix, on one side and one "
              "matrix on the other";
  if (isShared) {
    joinBatch(b, product.a);
    joinBatch(b, product.b);
    if (product.c)
      product.c = joinLeading(b, product.c, 1);
  }
  for (auto [name, side] :
       {std::pair<StringRef, Operand *>{"a", &product.a}, {"b", &product.b}})
    if (side->scales && failed(checkScales(op, name, *side)))
      return failure();
  auto aWithKLast = typeWithKLast(op, product.a),
       bWithKLast = typeWithKLast(op, product.b);
  if (failed(aWithKLast) || failed(bWithKLast))
    return failure();
  // What is stored in 16 bits beside the other lies along K.
  FailureOr<Value> left =
      buildOperand(b, op, "a", product.a, *bWithKLast,
                   !isStoredLonger(*aWithKLast, *bWithKLast));
  FailureOr<Value> right =
      buildOperand(b, op, "b", product.b, *aWithKLast,
                   !isStoredLonger(*bWithKLast, *aWithKLast));
  if (failed(left) || failed(right))
    return failure();
  auto aType = cast<ScaledTensorType>(left->getType());
  auto bType = cast<ScaledTensorType>(right->getType());
  SmallVector<int64_t> shape;
  if (aType.isBatched())
    shape.push_back(productSizes(aType, bType).batch);
  shape.append({aType.getNumRows(), bType.getNumRows()});
  auto matmul = MatmulOp::create(
      b, RankedTensorType::get(shape, product.resultElement), *left, *right,
      product.alpha, /*beta=*/Value(), product.c, /*bias=*/Value(),
      /*offsets=*/Value(), /*rowNumbers=*/Value(), BiasKind::Column,
      /*pairs=*/false, LoweringAttr());
  matmul->setDiscardableAttr(kImported, b.getUnitAttr());
  Value result = matmul;
  // The batch is that of `a`'s rows, if K was not before them.
  if (isShared && given.a.kFirst)
    batched = transpose(b, batched, exchangeLast(3));
  return isShared ? splitLeading(b, result, batched, 1) : result;
}
