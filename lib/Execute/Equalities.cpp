//===- Equalities.cpp - dimensions that are equal -------------------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Equalities.h"
#include "blockscale/Dialect/Blockscale/IR/BlockscaleSums.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "mlir/Interfaces/ControlFlowInterfaces.h"
#include "mlir/Interfaces/LoopLikeInterface.h"

using namespace mlir;
using namespace blockscale;
using namespace blockscale::execute;

unsigned Equalities::nodeOf(Value value, int64_t dimension) {
  auto [it, isNew] = nodes.try_emplace(
      Node(value.getAsOpaquePointer(), dimension), unsigned(nodes.size()));
  if (isNew) {
    order.push_back(it->first);
    std::optional<int64_t> size;
    if (dimension != kNumber) {
      int64_t given = cast<ShapedType>(value.getType()).getDimSize(dimension);
      if (!ShapedType::isDynamic(given))
        size = given;
    }
    sizes.push_back(size);
  }
  return it->second;
}

void Equalities::finish() {
  if (isFinished)
    return;
  isFinished = true;
  classes.grow(unsigned(nodes.size()));
  for (auto [x, y] : joined)
    classes.join(x, y);
  classes.compress();
  facts.resize(classes.getNumClasses());
  for (unsigned node = 0; node < order.size(); ++node) {
    Facts &found = facts[classes[node]];
    if (sizes[node])
      found.known = sizes[node];
    found.isDimension |= order[node].second != kNumber;
  }
  for (auto [node, role] : roles)
    facts[classes[node]].role = std::min(facts[classes[node]].role, role);
  for (auto [half, whole] : halves) {
    facts[classes[half]].twice = classes[whole];
    facts[classes[whole]].half = classes[half];
  }
}

unsigned Equalities::classOf(Value value, int64_t dimension) {
  if (!isFinished)
    nodeOf(value, dimension);
  auto it = nodes.find(Node(value.getAsOpaquePointer(), dimension));
  finish();
  return classes[it->second];
}

/// Each dimension of one with that of the other.
void Equalities::joinAlike(Value x, Value y) {
  if (x.getType().isIndex() && y.getType().isIndex())
    join(x, kNumber, y, kNumber);
  if (rankOf(x) != rankOf(y))
    return;
  for (int64_t i = 0, e = rankOf(x); i < e; ++i)
    join(x, i, y, i);
}

void Equalities::joinLists(ValueRange xs, ValueRange ys) {
  for (auto [x, y] : llvm::zip(xs, ys))
    joinAlike(x, y);
}

static bool isConstant(Value value) {
  Operation *op = value.getDefiningOp();
  return op && op->hasTrait<OpTrait::ConstantLike>();
}

static SmallVector<Value> valuesOf(Operation *op) {
  SmallVector<Value> values(op->getOperands());
  llvm::append_range(values, op->getResults());
  // A constant has users that have nothing to do with each other.
  llvm::erase_if(values, [](Value value) {
    return isConstant(value) && value.getType().isIndex();
  });
  return values;
}

/// For ops that work element by element.
void Equalities::joinAlikeIn(Operation *op) {
  SmallVector<Value> values = valuesOf(op);
  for (auto [i, x] : llvm::enumerate(values))
    for (Value y : ArrayRef(values).drop_front(i + 1))
      joinAlike(x, y);
}

/// For ops of which nothing is known.
void Equalities::joinAllIn(Operation *op) {
  std::optional<std::pair<Value, int64_t>> first;
  auto add = [&](Value value, int64_t dimension) {
    if (first)
      join(first->first, first->second, value, dimension);
    else
      first = {value, dimension};
  };
  for (Value value : valuesOf(op)) {
    if (value.getType().isIndex())
      add(value, kNumber);
    for (int64_t i = 0, e = rankOf(value); i < e; ++i)
      if (cast<ShapedType>(value.getType()).isDynamicDim(unsigned(i)))
        add(value, i);
  }
}

void Equalities::setRole(Value value, int64_t dimension, Role role) {
  roles.emplace_back(nodeOf(value, dimension), role);
}

//===----------------------------------------------------------------------===//
// What the ops want to be equal
//===----------------------------------------------------------------------===//

/// Groups along K have a matrix of the result each.
void Equalities::addGroupsAlongK(MatmulOp op) {
  Value a = op.getA(), b = op.getB(), d = op.getResult();
  join(a, 0, d, 1);
  join(b, 0, d, 2);
  join(a, 1, b, 1);
  join(op.getOffsets(), 0, d, 0);
  setRole(a, 1, Role::K);
  setRole(d, 2, Role::N);
  setRole(d, 1, Role::M);
  setRole(d, 0, Role::Batch);
  if (op.getC())
    joinAlike(op.getC(), d);
  if (op.getBias()) {
    join(op.getBias(), 0, d, 0);
    join(op.getBias(), 1, d, 2);
  }
}

void Equalities::addBias(MatmulOp op) {
  Value bias = op.getBias(), b = op.getB(), d = op.getResult();
  if (op.getBiasKind() == BiasKind::Column)
    join(bias, rankOf(bias) - 1, b, rankOf(b) - 2);
  else
    join(bias, rankOf(bias) - 1, d, rankOf(d) - 2);
}

void Equalities::addMatmul(MatmulOp op) {
  Value a = op.getA(), b = op.getB(), d = op.getResult();
  if (op.isGroupedAlongK())
    return addGroupsAlongK(op);
  int64_t rank = rankOf(d), rankOfB = rankOf(b);
  if (op.isGathered())
    join(op.getRowNumbers(), 0, d, 0);
  else
    join(a, rank - 2, d, rank - 2);
  // With pairs the result has half as many columns.
  if (op.getPairs())
    halves.emplace_back(nodeOf(d, rank - 1), nodeOf(b, rankOfB - 2));
  else
    join(b, rankOfB - 2, d, rank - 1);
  join(a, rank - 1, b, rankOfB - 1);
  if (rank > 2) {
    join(a, 0, b, 0);
    join(a, 0, d, 0);
    setRole(d, 0, Role::Batch);
  }
  if (op.isGrouped() || op.isMasked()) {
    join(b, 0, op.getOffsets(), 0);
    if (op.getBias() && op.getBiasKind() == BiasKind::Column)
      join(b, 0, op.getBias(), 0);
    setRole(b, 0, Role::Batch);
  }
  setRole(a, rank - 1, Role::K);
  setRole(b, rankOfB - 2, Role::N);
  setRole(d, rank - 2, Role::M);
  if (op.getC())
    joinAlike(op.getC(), d);
  if (op.getBias())
    addBias(op);
}

/// The sizes of other parts follow from the type once its own are known.
void Equalities::addAssemble(AssembleOp op) {
  assembles.push_back(op);
  ScaledTensorType type = op.getType();
  int64_t rank = type.getRank();
  bool mnMajor = type.getOrder() == DataOrder::MNMajor;
  Value whole = op.getResult(), data = op.getData();
  join(whole, rank - 2, data, mnMajor ? rank - 1 : rank - 2);
  if (!type.getSpec().getValue().isSparse())
    join(whole, rank - 1, data, mnMajor ? rank - 2 : rank - 1);
  if (rank > 2)
    join(whole, 0, data, 0);
  setRole(whole, rank - 1, Role::K);
}

void Equalities::addLinalg(linalg::LinalgOp op) {
  std::map<unsigned, std::pair<Value, int64_t>> first;
  for (OpOperand &operand : op->getOpOperands()) {
    if (rankOf(operand.get()) == 0)
      continue;
    AffineMap map = op.getMatchingIndexingMap(&operand);
    for (auto [i, expression] : llvm::enumerate(map.getResults())) {
      // A dimension of one element is read everywhere.
      if (isa<AffineConstantExpr>(expression))
        continue;
      auto loop = dyn_cast<AffineDimExpr>(expression);
      if (!loop)
        return joinAllIn(op);
      auto [it, isNew] = first.try_emplace(
          loop.getPosition(), std::pair(operand.get(), int64_t(i)));
      if (!isNew)
        join(it->second.first, it->second.second, operand.get(), int64_t(i));
    }
  }
  joinLists(op.getDpsInits(), op->getResults());
}

void Equalities::addCall(CallOpInterface op) {
  auto callee = dyn_cast_or_null<FunctionOpInterface>(op.resolveCallable());
  if (!callee || callee.isExternal())
    return joinAllIn(op);
  addFunction(callee);
  joinLists(op.getArgOperands(), callee.getArguments());
  for (Block &block : callee.getFunctionBody())
    if (block.getTerminator()->hasTrait<OpTrait::ReturnLike>())
      joinLists(op->getResults(), block.getTerminator()->getOperands());
}

/// A slice may be smaller than what it is of, but must not be larger.
void Equalities::addSlice(OffsetSizeAndStrideOpInterface op) {
  if (joins == Joins::Certain)
    return;
  SmallVector<Value> shaped;
  for (Value value : valuesOf(op))
    if (rankOf(value))
      shaped.push_back(value);
  int64_t rank = int64_t(op.getMixedSizes().size());
  if (llvm::any_of(shaped, [&](Value value) { return rankOf(value) != rank; }))
    return joinAllIn(op);
  for (int64_t i = 0; i < rank; ++i) {
    // What is static in one of them says nothing of the other.
    SmallVector<std::pair<Value, int64_t>> dynamic;
    for (Value value : shaped)
      if (cast<ShapedType>(value.getType()).isDynamicDim(unsigned(i)))
        dynamic.emplace_back(value, i);
    for (OpFoldResult number : {op.getMixedOffsets()[i], op.getMixedSizes()[i]})
      if (auto value = dyn_cast<Value>(number); value && !isConstant(value))
        dynamic.emplace_back(value, kNumber);
    for (auto [value, dimension] : dynamic)
      join(dynamic.front().first, dynamic.front().second, value, dimension);
  }
}

/// One dimension of `joined` stays as it is or is several of `cut`.
void Equalities::addReshape(Value joined, Value cut,
                            ArrayRef<ReassociationIndices> groups) {
  for (auto [i, group] : llvm::enumerate(groups))
    for (int64_t each : group)
      if (group.size() == 1 ||
          (joins == Joins::Likely &&
           cast<ShapedType>(cut.getType()).isDynamicDim(unsigned(each))))
        join(joined, int64_t(i), cut, each);
}

/// All dimensions but the one along which parts lie.
void Equalities::addConcat(tensor::ConcatOp op) {
  for (Value part : op.getInputs())
    for (int64_t i = 0, e = rankOf(part); i < e; ++i)
      if (uint64_t(i) != op.getDim())
        join(part, i, op.getResult(), i);
}

/// Whether an op computes with numbers of type index only, of sizes others, or
/// lets a tensor have any shape.
static bool saysNothing(Operation *op) {
  if (isa<tensor::ReshapeOp, tensor::FromElementsOp>(op))
    return true;
  return isa_and_nonnull<arith::ArithDialect>(op->getDialect()) &&
         llvm::all_of(op->getResultTypes(), llvm::IsaPred<IndexType>) &&
         llvm::all_of(op->getOperandTypes(), llvm::IsaPred<IndexType>);
}

bool Equalities::addOurs(Operation *op) {
  if (auto product = dyn_cast<MatmulOp>(op)) {
    addMatmul(product);
  } else if (isa<QuantizeOp, DequantizeOp, RelayoutOp, PruneOp, CompressOp,
                 DensifyOp>(op)) {
    joinAlike(op->getOperand(0), op->getResult(0));
  } else if (auto sums = dyn_cast<TileSumsOp>(op)) {
    int64_t rank = rankOf(sums.getInput());
    join(sums.getInput(), rank - 2, sums.getResult(), rank - 1);
    if (rank > 2)
      join(sums.getInput(), 0, sums.getResult(), 0);
  } else if (auto dim = dyn_cast<DimOp>(op)) {
    join(dim.getResult(), kNumber, dim.getInput(), dim.getDimension());
  } else if (auto assemble = dyn_cast<AssembleOp>(op)) {
    addAssemble(assemble);
  } else {
    return false;
  }
  return true;
}

bool Equalities::addTensorOp(Operation *op) {
  auto joinSizes = [&](Value tensor, ValueRange dynamic) {
    for (int64_t i = 0, e = rankOf(tensor); i < e; ++i) {
      if (!cast<ShapedType>(tensor.getType()).isDynamicDim(unsigned(i)))
        continue;
      if (!isConstant(dynamic.front()))
        join(tensor, i, dynamic.front(), kNumber);
      dynamic = dynamic.drop_front();
    }
  };
  if (auto dim = dyn_cast<tensor::DimOp>(op)) {
    std::optional<int64_t> number = dim.getConstantIndex();
    if (!number || rankOf(dim.getSource()) == 0)
      joinAllIn(op);
    else
      join(dim.getResult(), kNumber, dim.getSource(), *number);
  } else if (auto empty = dyn_cast<tensor::EmptyOp>(op)) {
    joinSizes(empty.getResult(), empty.getDynamicSizes());
  } else if (auto generate = dyn_cast<tensor::GenerateOp>(op)) {
    joinSizes(generate.getResult(), generate.getDynamicExtents());
  } else if (isa<tensor::CastOp>(op)) {
    joinAlike(op->getOperand(0), op->getResult(0));
  } else if (auto expand = dyn_cast<tensor::ExpandShapeOp>(op)) {
    addReshape(expand.getSrc(), expand.getResult(),
               expand.getReassociationIndices());
    joinSizes(expand.getResult(), expand.getOutputShape());
  } else if (auto collapse = dyn_cast<tensor::CollapseShapeOp>(op)) {
    addReshape(collapse.getResult(), collapse.getSrc(),
               collapse.getReassociationIndices());
  } else if (auto concat = dyn_cast<tensor::ConcatOp>(op)) {
    addConcat(concat);
  } else if (auto splat = dyn_cast<tensor::SplatOp>(op)) {
    joinSizes(splat.getResult(), splat.getDynamicSizes());
  } else if (joins == Joins::Certain && saysNothing(op)) {
    return true;
  } else if (auto slice = dyn_cast<OffsetSizeAndStrideOpInterface>(op)) {
    addSlice(slice);
  } else if (auto structured = dyn_cast<linalg::LinalgOp>(op)) {
    addLinalg(structured);
  } else if (op->hasTrait<OpTrait::Elementwise>() ||
             isa<linalg::SoftmaxOp>(op)) {
    joinAlikeIn(op);
  } else {
    return false;
  }
  return true;
}

bool Equalities::addControlFlow(Operation *op) {
  if (auto loop = dyn_cast<LoopLikeOpInterface>(op)) {
    OperandRange inits = loop.getInits();
    joinLists(inits, loop.getRegionIterArgs());
    joinLists(inits, loop.getYieldedValues());
    if (auto results = loop.getLoopResults())
      joinLists(inits, *results);
    // An scf.while may give out what it does not take in.
    if (!inits.empty() && !isa<scf::ForOp>(op))
      joinAllIn(op);
  } else if (auto branch = dyn_cast<scf::IfOp>(op)) {
    for (Region *region : branch.getRegions())
      if (!region->empty())
        joinLists(op->getResults(),
                  region->front().getTerminator()->getOperands());
  } else if (auto jump = dyn_cast<BranchOpInterface>(op)) {
    for (unsigned i = 0, e = op->getNumSuccessors(); i < e; ++i)
      joinLists(jump.getSuccessorOperands(i).getForwardedOperands(),
                op->getSuccessor(i)->getArguments());
  } else if (auto call = dyn_cast<CallOpInterface>(op)) {
    addCall(call);
  } else {
    return op->hasTrait<OpTrait::ConstantLike>() ||
           op->hasTrait<OpTrait::IsTerminator>();
  }
  return true;
}

void Equalities::addOp(Operation *op) {
  if (!addOurs(op) && !addTensorOp(op) && !addControlFlow(op))
    joinAllIn(op);
}

void Equalities::addFunction(FunctionOpInterface function) {
  if (!seen.insert(function).second)
    return;
  function.getFunctionBody().walk<WalkOrder::PreOrder>([&](Operation *op) {
    addOp(op);
    return isa<MatmulOp, linalg::LinalgOp>(op) ? WalkResult::skip()
                                               : WalkResult::advance();
  });
  for (Value argument : function.getArguments()) {
    for (int64_t i = 0, e = rankOf(argument); i < e; ++i)
      nodeOf(argument, i);
    if (rankOf(argument) > 2)
      setRole(argument, 0, Role::Batch);
    // Of one that no product takes K has to be legal all the same.
    if (isa<ScaledTensorType>(argument.getType()))
      setRole(argument, rankOf(argument) - 1, Role::K);
    if (argument.getType().isIndex())
      nodeOf(argument, kNumber);
  }
}
