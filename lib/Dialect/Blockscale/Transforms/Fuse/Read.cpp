//===- Read.cpp - what an elementwise op reads of a tensor ----------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Read.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;
using namespace blockscale;
using namespace blockscale::fuse;

SmallVector<int64_t> Read::alongWhich() const {
  SmallVector<int64_t> found;
  for (int64_t place : places)
    if (place != kOne)
      found.push_back(place);
  return found;
}

/// The value of a constant, and of arithmetic on constants, which producers
/// leave to others.
static Attribute knownValue(Value value, unsigned depth = 4) {
  Attribute known;
  Operation *op = value.getDefiningOp();
  if (matchPattern(value, m_Constant(&known)) || !op || depth == 0 ||
      op->getNumResults() != 1)
    return known;
  SmallVector<Attribute> operands;
  for (Value operand : op->getOperands()) {
    operands.push_back(knownValue(operand, depth - 1));
    if (!operands.back())
      return {};
  }
  SmallVector<OpFoldResult> results;
  if (operands.empty() || failed(op->fold(operands, results)) ||
      results.size() != 1)
    return {};
  return llvm::dyn_cast_if_present<Attribute>(results.front());
}

Attribute Read::getConstant() const {
  Attribute value = knownValue(source);
  if (auto splat = dyn_cast_or_null<SplatElementsAttr>(value))
    return splat.getSplatValue<Attribute>();
  return isa_and_nonnull<FloatAttr, IntegerAttr>(value) ? value : Attribute();
}

std::optional<SmallVector<int64_t>> fuse::placesOf(AffineMap map) {
  SmallVector<int64_t> places;
  for (AffineExpr expr : map.getResults()) {
    auto constant = dyn_cast<AffineConstantExpr>(expr);
    auto dim = dyn_cast<AffineDimExpr>(expr);
    if (!dim && !(constant && constant.getValue() == 0))
      return std::nullopt;
    places.push_back(dim ? int64_t(dim.getPosition()) : kOne);
  }
  return places;
}

//===----------------------------------------------------------------------===//
// One step back
//===----------------------------------------------------------------------===//

/// Whether a conversion keeps every value.
static bool widens(Operation *op) {
  return isa_and_nonnull<arith::ExtFOp>(op) &&
         getElementTypeOrSelf(op->getResult(0)).isF32() &&
         (getElementTypeOrSelf(op->getOperand(0)).isBF16() ||
          getElementTypeOrSelf(op->getOperand(0)).isF16());
}

/// Through an op of linalg that copies, or widens, elements of its only input.
static std::optional<Read> behindCopy(linalg::LinalgOp op,
                                      ArrayRef<int64_t> places) {
  if (op.getNumDpsInputs() != 1 || op.getNumDpsInits() != 1 ||
      op.getNumParallelLoops() != op.getNumLoops() ||
      !op.getIndexingMapsArray().back().isIdentity())
    return std::nullopt;
  Block &body = *op.getBlock();
  Value yielded = body.getTerminator()->getOperand(0);
  size_t count = body.getOperations().size();
  bool isCopy = count == 1;
  if (count == 2 && widens(yielded.getDefiningOp())) {
    yielded = yielded.getDefiningOp()->getOperand(0);
    isCopy = true;
  }
  if (!isCopy || yielded != body.getArgument(0))
    return std::nullopt;
  OpOperand *input = op.getDpsInputOperand(0);
  if (!isa<RankedTensorType>(input->get().getType()))
    return Read{input->get(), {}};
  auto inner = fuse::placesOf(op.getMatchingIndexingMap(input));
  if (!inner)
    return std::nullopt;
  for (int64_t &place : *inner)
    if (place != kOne)
      place = places[size_t(place)];
  return Read{input->get(), *inner};
}

/// The only dimension of a group that has more than one element; nothing where
/// several may have.
static std::optional<int64_t> onlyLong(RankedTensorType type,
                                       ArrayRef<int64_t> group) {
  int64_t found = kOne;
  for (int64_t dimension : group) {
    if (type.getDimSize(dimension) == 1)
      continue;
    if (found != kOne)
      return std::nullopt;
    found = dimension;
  }
  return found;
}

/// Through a reshape that adds or drops dimensions of one element.
template <typename ReshapeOp>
static std::optional<Read> behindReshape(ReshapeOp op,
                                         ArrayRef<int64_t> places) {
  constexpr bool kExpands = std::is_same_v<ReshapeOp, tensor::ExpandShapeOp>;
  RankedTensorType longer = kExpands ? op.getResultType() : op.getSrcType();
  SmallVector<int64_t> before(size_t(op.getSrcType().getRank()), kOne);
  for (auto [shortAt, group] : llvm::enumerate(op.getReassociationIndices())) {
    std::optional<int64_t> longAt = onlyLong(longer, group);
    if (!longAt)
      return std::nullopt;
    if (*longAt == kOne)
      continue;
    if (kExpands)
      before[shortAt] = places[size_t(*longAt)];
    else
      before[size_t(*longAt)] = places[shortAt];
  }
  return Read{op.getSrc(), before};
}

static std::optional<Read> oneStepBack(const Read &read) {
  Operation *op = read.source.getDefiningOp();
  if (!op || !isa<RankedTensorType>(read.source.getType()))
    return std::nullopt;
  if (widens(op))
    return Read{op->getOperand(0), read.places};
  if (auto splat = dyn_cast<tensor::SplatOp>(op))
    return Read{splat.getInput(), {}};
  if (auto cast = dyn_cast<tensor::CastOp>(op)) {
    if (!isa<RankedTensorType>(cast.getSource().getType()))
      return std::nullopt;
    return Read{cast.getSource(), read.places};
  }
  if (auto expand = dyn_cast<tensor::ExpandShapeOp>(op))
    return behindReshape(expand, read.places);
  if (auto collapse = dyn_cast<tensor::CollapseShapeOp>(op))
    return behindReshape(collapse, read.places);
  if (auto linalgOp = dyn_cast<linalg::LinalgOp>(op))
    return behindCopy(linalgOp, read.places);
  return std::nullopt;
}

Read fuse::readOf(Value value, ArrayRef<int64_t> places) {
  Read read{value, SmallVector<int64_t>(places)};
  while (std::optional<Read> before = oneStepBack(read))
    read = *before;
  // A dimension of one element is the same everywhere.
  if (auto type = dyn_cast<RankedTensorType>(read.source.getType()))
    for (auto [place, size] : llvm::zip(read.places, type.getShape()))
      if (size == 1)
        place = kOne;
  return read;
}
