//===- FromRaggedDot.cpp - products of groups of rows of JAX --------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

// `jax.lax.ragged_dot` lowers to an op of CHLO, or to the composite of the same
// name where a program was exported: rows of one matrix in groups of given
// sizes, each with a matrix of its own. Rows behind the groups are 0.

#include "Product.h"
#include "Stablehlo.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

using namespace mlir;
using namespace blockscale;
using namespace blockscale::importer;

//===----------------------------------------------------------------------===//
// What it says
//===----------------------------------------------------------------------===//

namespace {
using Numbers = SmallVector<int64_t>;

/// Dimension numbers in the order of the composite's attribute.
enum Dimensions {
  LhsBatch,
  RhsBatch,
  LhsContracting,
  RhsContracting,
  LhsRagged,
  RhsGroup,
  NumDimensions
};
} // namespace

static bool isComposite(Operation *op) {
  auto name = dyn_cast_or_null<StringAttr>(op->getAttr("name"));
  return op->getName().getStringRef() == "stablehlo.composite" && name &&
         name.getValue() == "chlo.ragged_dot";
}

bool importer::isRaggedDot(Operation *op) {
  return op->getName().getStringRef() == "chlo.ragged_dot" || isComposite(op);
}

static std::optional<SmallVector<Numbers>> ofComposite(Operation *op) {
  auto attributes =
      dyn_cast_or_null<DictionaryAttr>(op->getAttr("composite_attributes"));
  auto lists = attributes ? dyn_cast_or_null<ArrayAttr>(
                                attributes.get("ragged_dot_dimension_numbers"))
                          : ArrayAttr();
  if (!lists || lists.size() != NumDimensions)
    return std::nullopt;
  SmallVector<Numbers> found;
  for (Attribute list : lists) {
    auto numbers = dyn_cast<DenseIntElementsAttr>(list);
    if (!numbers)
      return std::nullopt;
    found.emplace_back();
    for (const APInt &number : numbers)
      found.back().push_back(number.getSExtValue());
  }
  return found;
}

static std::optional<SmallVector<Numbers>> dimensionsOf(Operation *op) {
  if (isComposite(op))
    return ofComposite(op);
  Attribute attribute = op->getAttr("ragged_dot_dimension_numbers");
  if (!attribute)
    return std::nullopt;
  std::string text;
  llvm::raw_string_ostream(text) << attribute;
  SmallVector<Numbers> found;
  for (StringRef name :
       {"lhs_batching_dimensions", "rhs_batching_dimensions",
        "lhs_contracting_dimensions", "rhs_contracting_dimensions",
        "lhs_ragged_dimensions", "rhs_group_dimensions"}) {
    std::optional<Numbers> numbers = numbersIn(text, name);
    if (!numbers)
      return std::nullopt;
    found.push_back(*numbers);
  }
  return found;
}

//===----------------------------------------------------------------------===//
// What it becomes
//===----------------------------------------------------------------------===//

/// The row behind each group, from their sizes.
static Value endsOf(ImplicitLocOpBuilder &b, Value sizes) {
  auto type = cast<RankedTensorType>(sizes.getType());
  auto index = [&](int64_t value) {
    return arith::ConstantIndexOp::create(b, value).getResult();
  };
  Value zero = arith::ConstantIntOp::create(b, 0, /*width=*/32);
  Value empty =
      tensor::EmptyOp::create(b, type.getShape(), b.getI32Type()).getResult();
  auto loop = scf::ForOp::create(
      b, index(0), index(type.getDimSize(0)), index(1), ValueRange{empty, zero},
      [&](OpBuilder &inner, Location loc, Value at, ValueRange values) {
        ImplicitLocOpBuilder l(loc, inner);
        Value size = tensor::ExtractOp::create(l, sizes, at);
        if (size.getType() != l.getI32Type())
          size = arith::TruncIOp::create(l, l.getI32Type(), size);
        Value end = arith::AddIOp::create(l, values[1], size);
        Value ends = tensor::InsertOp::create(l, end, values[0], at);
        scf::YieldOp::create(l, ValueRange{ends, end});
      });
  return loop.getResult(0);
}

/// `product` with zeros in the rows from the last of `ends` on.
static Value clearRest(ImplicitLocOpBuilder &b, Value product, Value ends) {
  auto type = cast<RankedTensorType>(product.getType());
  int64_t groups = cast<RankedTensorType>(ends.getType()).getDimSize(0);
  Value last = arith::ConstantIndexOp::create(b, groups - 1);
  last = tensor::ExtractOp::create(b, ends, last);
  last = arith::IndexCastOp::create(b, b.getIndexType(), last);
  Value rows = arith::ConstantIndexOp::create(b, type.getDimSize(0));
  Value zero = arith::ConstantIndexOp::create(b, 0);
  last = arith::MinSIOp::create(b, arith::MaxSIOp::create(b, last, zero), rows);
  Value count = arith::SubIOp::create(b, rows, last);
  OpFoldResult columns = b.getIndexAttr(type.getDimSize(1));
  Value empty = tensor::EmptyOp::create(
      b, ArrayRef<OpFoldResult>{count, columns}, type.getElementType());
  Value nothing =
      arith::ConstantOp::create(b, b.getZeroAttr(type.getElementType()));
  Value zeros = linalg::FillOp::create(b, nothing, empty).getResult(0);
  SmallVector<OpFoldResult> starts{last, b.getIndexAttr(0)},
      sizes{count, columns}, strides(2, b.getIndexAttr(1));
  return tensor::InsertSliceOp::create(b, zeros, product, starts, sizes,
                                       strides);
}

FailureOr<Value> importer::raggedDot(ImplicitLocOpBuilder &b, Operation *op) {
  auto typeAt = [&](unsigned at) {
    return op->getNumOperands() == 3
               ? dyn_cast<RankedTensorType>(op->getOperand(at).getType())
               : RankedTensorType();
  };
  RankedTensorType x = typeAt(0), w = typeAt(1), sizes = typeAt(2);
  auto type = op->getNumResults() == 1
                  ? dyn_cast<RankedTensorType>(op->getResult(0).getType())
                  : RankedTensorType();
  std::optional<SmallVector<Numbers>> numbers = dimensionsOf(op);
  bool isRowsByMatrices =
      numbers && x && w && sizes && type && x.getRank() == 2 &&
      w.getRank() == 3 && sizes.getRank() == 1 && type.getRank() == 2 &&
      (*numbers)[LhsBatch].empty() && (*numbers)[RhsBatch].empty() &&
      (*numbers)[LhsContracting] == Numbers{1} &&
      ((*numbers)[RhsContracting] == Numbers{1} ||
       (*numbers)[RhsContracting] == Numbers{2}) &&
      (*numbers)[LhsRagged] == Numbers{0} && (*numbers)[RhsGroup] == Numbers{0};
  if (!isRowsByMatrices)
    return op->emitError(
        "a product of groups is taken of rows of a matrix with "
        "one matrix for each group, which come first");
  Type element = x.getElementType();
  if (element != w.getElementType() || !(element.isBF16() || element.isF16()) ||
      !isResultElement(type.getElementType()) || !x.hasStaticShape() ||
      !w.hasStaticShape() || !sizes.hasStaticShape() ||
      !sizes.getElementType().isSignlessInteger() ||
      sizes.getElementTypeBitWidth() < 32)
    return op->emitError() << "a product of groups is taken of bf16 or f16 on "
                              "both sides and of known sizes, found "
                           << x << ", " << w << " and " << sizes;
  bool kFirst = (*numbers)[RhsContracting].front() == 1;
  Value matrices = op->getOperand(1);
  if (kFirst)
    matrices = transpose(b, matrices, {0, 2, 1});
  auto scaled = [&](Value data) -> FailureOr<Value> {
    auto assembled =
        scaledType(op, cast<RankedTensorType>(data.getType()), ScaleSpec());
    if (failed(assembled))
      return failure();
    return AssembleOp::create(b, *assembled, data, /*scales=*/Value(),
                              /*zeros=*/Value(), /*tensorScale=*/Value(),
                              /*metadata=*/Value())
        .getResult();
  };
  FailureOr<Value> left = scaled(op->getOperand(0)), right = scaled(matrices);
  if (failed(left) || failed(right))
    return failure();
  Value ends = endsOf(b, op->getOperand(2));
  auto product =
      MatmulOp::create(b, type, *left, *right, /*alpha=*/Value(),
                       /*beta=*/Value(), /*c=*/Value(),
                       /*bias=*/Value(), ends, /*rowNumbers=*/Value(),
                       BiasKind::Column, /*pairs=*/false, LoweringAttr());
  product->setDiscardableAttr(kImported, b.getUnitAttr());
  return clearRest(b, product, ends);
}
