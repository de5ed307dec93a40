//===- StablehloDynamic.cpp - tensors of unknown sizes around products ----===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

// What JAX writes where sizes have names: the sizes themselves, numbers and
// rows that are stretched to them, and arithmetic on tensors of one type.

#include "Stablehlo.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

using namespace mlir;
using namespace blockscale;
using namespace blockscale::importer;

static RankedTensorType rankedType(Value value) {
  return dyn_cast<RankedTensorType>(value.getType());
}

/// The size of a dimension, as the number that the op gives.
static Value sizeOf(ImplicitLocOpBuilder &b, Operation *op) {
  auto dimension = dyn_cast_or_null<IntegerAttr>(op->getAttr("dimension"));
  RankedTensorType source = rankedType(op->getOperand(0));
  RankedTensorType type = rankedType(op->getResult(0));
  if (!dimension || !source || dimension.getInt() < 0 ||
      dimension.getInt() >= source.getRank() || !type || type.getRank() != 0 ||
      !type.getElementType().isSignlessInteger())
    return {};
  Value size = tensor::DimOp::create(b, op->getOperand(0), dimension.getInt());
  Value number = arith::IndexCastOp::create(b, type.getElementType(), size);
  return tensor::FromElementsOp::create(b, type, ValueRange{number});
}

/// A tensor of known sizes, stretched to those that another tensor says.
static Value stretched(ImplicitLocOpBuilder &b, Operation *op) {
  Value source = op->getOperand(0), shape = op->getOperand(1);
  RankedTensorType from = rankedType(source), sizes = rankedType(shape);
  RankedTensorType type = rankedType(op->getResult(0));
  auto places = numbersOf(op, "broadcast_dimensions");
  if (!from || !from.hasStaticShape() || !type || !sizes || !places ||
      sizes.getShape() != ArrayRef<int64_t>{type.getRank()} ||
      !sizes.getElementType().isIntOrIndex() ||
      int64_t(places->size()) != from.getRank())
    return {};
  SmallVector<AffineExpr> read;
  for (auto [size, place] : llvm::zip(from.getShape(), *places)) {
    if (place >= type.getRank() ||
        (size != 1 && type.getDimSize(place) != size))
      return {};
    read.push_back(size == 1 ? b.getAffineConstantExpr(0)
                             : b.getAffineDimExpr(unsigned(place)));
  }
  SmallVector<Value> unknown;
  for (int64_t i = 0; i < type.getRank(); ++i) {
    if (!type.isDynamicDim(i))
      continue;
    Value at = arith::ConstantIndexOp::create(b, i);
    Value size = tensor::ExtractOp::create(b, shape, ValueRange{at});
    if (!size.getType().isIndex())
      size = arith::IndexCastOp::create(b, b.getIndexType(), size);
    unknown.push_back(size);
  }
  auto rank = unsigned(type.getRank());
  Value empty = tensor::EmptyOp::create(b, type, unknown);
  AffineMap maps[] = {AffineMap::get(rank, 0, read, b.getContext()),
                      b.getMultiDimIdentityMap(rank)};
  auto generic = linalg::GenericOp::create(
      b, TypeRange{type}, ValueRange{source}, ValueRange{empty}, maps,
      parallel(rank), [](OpBuilder &inner, Location loc, ValueRange v) {
        linalg::YieldOp::create(inner, loc, v[0]);
      });
  return generic.getResult(0);
}

/// f32 to f16 or bf16, or back.
static Value converted(ImplicitLocOpBuilder &b, Value value,
                       RankedTensorType type) {
  RankedTensorType from = rankedType(value);
  auto isHalf = [](Type element) {
    return element.isBF16() || element.isF16();
  };
  if (!from || !type || from.getShape() != type.getShape())
    return {};
  if (from.getElementType().isF32() && isHalf(type.getElementType()))
    return arith::TruncFOp::create(b, type, value);
  if (isHalf(from.getElementType()) && type.getElementType().isF32())
    return arith::ExtFOp::create(b, type, value);
  return {};
}

Value importer::ofUnknownSizes(ImplicitLocOpBuilder &b, Operation *op) {
  StringRef name = stablehloName(op);
  unsigned count = op->getNumOperands();
  if (op->getNumResults() != 1)
    return {};
  RankedTensorType type = rankedType(op->getResult(0));
  if (name == "get_dimension_size" && count == 1)
    return sizeOf(b, op);
  if (name == "dynamic_broadcast_in_dim" && count == 2)
    return stretched(b, op);
  if (name == "convert" && count == 1)
    return converted(b, op->getOperand(0), type);
  bool isOfOneType =
      type && type.getElementType().isF32() &&
      llvm::all_of(op->getOperandTypes(), [&](Type t) { return t == type; });
  return isOfOneType ? floatOp(b, name, op->getOperands()) : Value();
}
