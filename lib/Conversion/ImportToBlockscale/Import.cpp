//===- Import.cpp - products of other dialects ----------------------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Product.h"
#include "Stablehlo.h"
#include "blockscale/Conversion/ImportToBlockscale/Passes.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/IR/Iterators.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "mlir/Transforms/GreedyPatternRewriteDriver.h"
#include "mlir/Transforms/WalkPatternRewriteDriver.h"

namespace blockscale {
#define GEN_PASS_DEF_IMPORT
#include "blockscale/Conversion/ImportToBlockscale/Passes.h.inc"
} // namespace blockscale

using namespace mlir;
using namespace blockscale;

/// Whether a function is one that JAX puts a product of StableHLO into, away
/// from what is done to its result.
static bool isWrapper(func::FuncOp function) {
  return function.isPrivate() && function.getBody().hasOneBlock() &&
         function
             .walk([](Operation *op) {
               return importer::isScaledDot(op) || importer::isRaggedDot(op)
                          ? WalkResult::interrupt()
                          : WalkResult::advance();
             })
             .wasInterrupted();
}

/// Whether a function is arithmetic that JAX gave a name, such as silu, which
/// the epilogue of a product may hold.
static bool isArithmetic(func::FuncOp function) {
  constexpr size_t kMostOps = 64;
  if (!function.isPrivate() || !function.getBody().hasOneBlock())
    return false;
  Block &body = function.getBody().front();
  return body.getOperations().size() <= kMostOps &&
         llvm::all_of(body.without_terminator(),
                      [](Operation &op) { return isPure(&op); });
}

namespace {
struct Import : blockscale::impl::ImportBase<Import> {
  void runOnOperation() override {
    inlineCalls(isWrapper);
    bool refused = false;
    RewritePatternSet products(&getContext());
    importer::populateTosaPatterns(products, refused);
    importer::populateLinalgPatterns(products, refused);
    importer::populateStablehloPatterns(products, refused);
    // Each op is asked once, so that each refusal is heard once.
    walkAndApplyPatterns(getOperation(), std::move(products));
    // What composites stand for is written with such products as well.
    if (!refused)
      eraseDecompositions();
    if (!refused && importer::hasDequantizedDot(getOperation()))
      importDots(refused);
    if (refused)
      return signalPassFailure();
    if (!isAnyImported())
      return;
    RewritePatternSet tails(&getContext());
    importer::populateTailPatterns(tails);
    importer::populateTosaTailPatterns(tails);
    for (StringRef name :
         {tensor::CollapseShapeOp::getOperationName(),
          tensor::ExpandShapeOp::getOperationName(),
          tensor::CastOp::getOperationName(), RelayoutOp::getOperationName()})
      RegisteredOperationName::lookup(name, &getContext())
          ->getCanonicalizationPatterns(tails, &getContext());
    if (failed(applyPatternsGreedily(getOperation(), std::move(tails))))
      return signalPassFailure();
    eraseUnused();
    getOperation()->walk(
        [](MatmulOp op) { op->removeDiscardableAttr(importer::kImported); });
    importer::lowerStablehlo(getOperation(), refused);
    if (refused || failed(importer::lowerTosaBehindProducts(getOperation())))
      return signalPassFailure();
    inlineCalls(isArithmetic);
  }

private:
  void importDots(bool &refused);
  void inlineCalls(llvm::function_ref<bool(func::FuncOp)> isChosen);
  bool isAnyImported();
  void eraseDecompositions();
  void eraseUnused();
};
} // namespace

/// What any op of the module names. Upstream's look-up of uses gives up where
/// an op of a dialect that is not here has a region.
static llvm::DenseSet<StringAttr> namesIn(ModuleOp module) {
  llvm::DenseSet<StringAttr> names;
  module.walk([&](Operation *op) {
    op->getAttrDictionary().walk([&](SymbolRefAttr reference) {
      names.insert(reference.getRootReference());
    });
  });
  return names;
}

/// Those that call none are inlined first; those that call each other never.
static bool callsChosen(func::FuncOp function, SymbolTable &symbols,
                        llvm::function_ref<bool(func::FuncOp)> isChosen) {
  return function
      .walk([&](func::CallOp call) {
        auto callee = symbols.lookup<func::FuncOp>(call.getCallee());
        return callee && isChosen(callee) ? WalkResult::interrupt()
                                          : WalkResult::advance();
      })
      .wasInterrupted();
}

/// Upstream's inliner refuses ops of dialects that are not here.
static void inlineCall(func::CallOp call, func::FuncOp function) {
  OpBuilder builder(call);
  IRMapping map;
  Block &body = function.getBody().front();
  map.map(body.getArguments(), call.getOperands());
  for (Operation &op : body.without_terminator())
    builder.clone(op, map);
  for (auto [result, value] :
       llvm::zip(call.getResults(), body.getTerminator()->getOperands()))
    result.replaceAllUsesWith(map.lookup(value));
  call.erase();
}

/// What is called by one of its kind becomes part of that first.
void Import::inlineCalls(llvm::function_ref<bool(func::FuncOp)> isChosen) {
  SymbolTable symbols(getOperation());
  llvm::SmallPtrSet<Operation *, 4> inlined;
  for (bool isChanged = true; isChanged;) {
    isChanged = false;
    SmallVector<func::CallOp> calls;
    getOperation()->walk([&](func::CallOp call) { calls.push_back(call); });
    for (func::CallOp call : calls) {
      auto function = symbols.lookup<func::FuncOp>(call.getCallee());
      if (!function || !isChosen(function) ||
          callsChosen(function, symbols, isChosen))
        continue;
      inlineCall(call, function);
      inlined.insert(function);
      isChanged = true;
    }
  }
  llvm::DenseSet<StringAttr> used = namesIn(getOperation());
  for (Operation *function : inlined)
    if (!used.count(SymbolTable::getSymbolName(function)))
      function->erase();
}

/// Shows the elements of what is rounded to a narrow type and widened again,
/// which folding joins: products are found by the data that they read.
static void showNarrowElements(ModuleOp module) {
  module.walk([](DequantizeOp op) {
    ScaledTensorType type = op.getInput().getType();
    if (!op.getInput().getDefiningOp<QuantizeOp>() ||
        !type.getSpec().getValue().isUnscaled())
      return;
    ImplicitLocOpBuilder b(op.getLoc(), op);
    auto plain = RankedTensorType::get(type.getShape(), type.getElementType());
    Value data =
        DisassembleOp::create(b, TypeRange{plain}, op.getInput()).getResult(0);
    Value again =
        AssembleOp::create(b, type, data, Value(), Value(), Value(), Value());
    op.getInputMutable().assign(again);
  });
}

/// Products of StableHLO whose scales are multiplied before them: they are
/// found in what linalg makes of them.
void Import::importDots(bool &refused) {
  importer::lowerStablehlo(getOperation(), refused);
  if (refused)
    return;
  inlineCalls(isArithmetic);
  // Each change of shape is one op behind the other, by way of one dimension.
  RewritePatternSet shapes(&getContext());
  for (StringRef name : {tensor::CollapseShapeOp::getOperationName(),
                         tensor::ExpandShapeOp::getOperationName()})
    RegisteredOperationName::lookup(name, &getContext())
        ->getCanonicalizationPatterns(shapes, &getContext());
  RewritePatternSet products(&getContext());
  importer::populateLinalgPatterns(products, refused);
  if (failed(applyPatternsGreedily(getOperation(), std::move(shapes))))
    return signalPassFailure();
  showNarrowElements(getOperation());
  walkAndApplyPatterns(getOperation(), std::move(products));
}

bool Import::isAnyImported() {
  return getOperation()
      ->walk([](MatmulOp op) {
        return op->hasAttr(importer::kImported) ? WalkResult::interrupt()
                                                : WalkResult::advance();
      })
      .wasInterrupted();
}

/// What composites of this name stood for, if nobody calls it.
void Import::eraseDecompositions() {
  ModuleOp module = getOperation();
  SmallVector<Operation *> unused;
  llvm::DenseSet<StringAttr> used = namesIn(module);
  for (Operation &op : module.getBody()->getOperations()) {
    auto symbol = dyn_cast<SymbolOpInterface>(op);
    if (symbol && symbol.isPrivate() &&
        (symbol.getName().starts_with("xla.scaled_dot") ||
         symbol.getName().starts_with("chlo.ragged_dot")) &&
        !used.count(symbol.getNameAttr()))
      unused.push_back(&op);
  }
  for (Operation *op : unused)
    op->erase();
}

/// Whether an op only computes, and only from its operands. Nobody tells MLIR
/// that of ops of dialects that are not here.
static bool isPureByName(Operation *op) {
  static constexpr StringLiteral kPure[] = {
      "stablehlo.add",
      "stablehlo.broadcast_in_dim",
      "stablehlo.compare",
      "stablehlo.concatenate",
      "stablehlo.constant",
      "stablehlo.convert",
      "stablehlo.dynamic_broadcast_in_dim",
      "stablehlo.get_dimension_size",
      "stablehlo.multiply",
      "stablehlo.reshape",
      "stablehlo.subtract"};
  return llvm::is_contained(kPure, op->getName().getStringRef());
}

/// JAX asserts that unknown sizes which it gave one name are equal. Kernels
/// take each size from one operand, so that nothing reads the others.
static bool isShapeAssertion(Operation *op) {
  auto target = dyn_cast_or_null<StringAttr>(op->getAttr("call_target_name"));
  return op->getName().getStringRef() == "stablehlo.custom_call" && target &&
         target.getValue() == "shape_assertion";
}

/// What was a factor, a bias or arithmetic on sizes before.
void Import::eraseUnused() {
  getOperation()->walk<WalkOrder::PostOrder, ReverseIterator>(
      [](Operation *op) {
        if (op->use_empty() && (isPureByName(op) || isShapeAssertion(op)))
          op->erase();
      });
}
