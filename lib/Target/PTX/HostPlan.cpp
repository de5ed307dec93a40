//===- HostPlan.cpp - what functions do around their kernels --------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

// A launch plan has to account for all that a function computes. Ops whose
// results nothing uses, and constant factors of launches, are no steps of their
// own; every other op is the launch of a kernel, or the host's to do.

#include "blockscale/Target/PTX/HostPlan.h"
#include "blockscale/Dialect/Blockscale/IR/BlockscaleHost.h"
#include "blockscale/HW/Target.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/IR/AsmState.h"
#include "mlir/IR/Matchers.h"
#include "mlir/Interfaces/FunctionInterfaces.h"
#include "llvm/ADT/APFloat.h"
#include "llvm/Support/Path.h"

using namespace mlir;
using namespace blockscale;

namespace {
/// Plans one function.
class FunctionPlanner {
public:
  FunctionPlanner(FunctionOpInterface function, bool hostDuties)
      : function(function), hostDuties(hostDuties),
        names(function, printingFlags()) {}

  FailureOr<plan::Function> plan();

private:
  static OpPrintingFlags printingFlags();
  std::string nameOf(Value value);
  std::string textOf(Operation *op);

  void findLiveOps(Block &block);
  bool isFactorOnly(Operation *op) const;
  LogicalResult addLaunch(LaunchOp launch);
  LogicalResult addDuty(Operation *op);
  LogicalResult addStep(Operation *op);

  FunctionOpInterface function;
  bool hostDuties;
  AsmState names;
  llvm::DenseSet<Operation *> live;
  plan::Function result;
};
} // namespace

//===----------------------------------------------------------------------===//
// Words
//===----------------------------------------------------------------------===//

OpPrintingFlags FunctionPlanner::printingFlags() {
  constexpr int64_t kMostElements = 16;
  return OpPrintingFlags()
      .elideLargeElementsAttrs(kMostElements)
      .elideLargeResourceString(kMostElements);
}

std::string FunctionPlanner::nameOf(Value value) {
  std::string text;
  llvm::raw_string_ostream stream(text);
  value.printAsOperand(stream, names);
  return text;
}

std::string FunctionPlanner::textOf(Operation *op) {
  std::string text;
  llvm::raw_string_ostream stream(text);
  op->print(stream, names);
  return text;
}

static std::string typeName(Type type) {
  std::string text;
  llvm::raw_string_ostream(text) << type;
  return text;
}

/// "proj.mlir:7:8", whatever directory the file is in: plans are compared.
static std::string placeOf(Location location) {
  auto place = location->findInstanceOf<FileLineColLoc>();
  if (!place)
    return "";
  return llvm::sys::path::filename(place.getFilename()).str() + ":" +
         std::to_string(place.getLine()) + ":" +
         std::to_string(place.getColumn());
}

/// How an op that no kernel does could become part of one, or be avoided.
static StringRef remedyFor(Operation *op) {
  if (isa<DensifyOp>(op))
    return "do it on the host and pass the dense tensor to the function "
           "('dense-fallback' puts it before a product whose sparsity no "
           "instruction skips)";
  if (isa<AssembleOp, CompressOp, DisassembleOp, PruneOp, QuantizeOp,
          RelayoutOp, SliceRowsOp>(op))
    return "do it on the host and pass its result to the function";
  return "do it on the host outside of the function, or express it by the "
         "'alpha', 'beta', 'c', 'bias' or 'epilogue' of 'blockscale.matmul'";
}

static LogicalResult refuse(Operation *op) {
  return op->emitError() << "'" << op->getName()
                         << "' becomes part of no kernel, so that compiled "
                            "code would leave it out; "
                         << remedyFor(op)
                         << ", list it in the launch plan with 'host-duties', "
                            "or compile whole functions to host code "
                            "('emit=host-llvm')";
}

//===----------------------------------------------------------------------===//
// Steps
//===----------------------------------------------------------------------===//

/// Marks launches, what has effects, and all that these and the results of the
/// function depend on.
void FunctionPlanner::findLiveOps(Block &block) {
  for (Operation &op : llvm::reverse(block)) {
    bool isLive = isa<LaunchOp>(op) || !wouldOpBeTriviallyDead(&op) ||
                  llvm::any_of(op.getUsers(), [&](Operation *user) {
                    return live.contains(block.findAncestorOpInBlock(*user));
                  });
    if (isLive)
      live.insert(&op);
  }
}

/// The number that `value` always is.
static std::optional<double> constantFactor(Value value) {
  FloatAttr constant;
  if (!value.getType().isF32() || !matchPattern(value, m_Constant(&constant)))
    return std::nullopt;
  return constant.getValue().convertToFloat();
}

/// Whether launches take the op's result, a number, as their own constant.
bool FunctionPlanner::isFactorOnly(Operation *op) const {
  return op->getNumResults() == 1 && constantFactor(op->getResult(0)) &&
         llvm::all_of(op->getUsers(), [&](Operation *user) {
           return isa<LaunchOp>(user) || !live.contains(user);
         });
}

LogicalResult FunctionPlanner::addLaunch(LaunchOp launch) {
  auto kernel = SymbolTable::lookupNearestSymbolFrom<FunctionOpInterface>(
      launch, launch.getKernelAttr());
  assert(kernel && "the verifiers of launch and kernel ask for a function");
  SmallVector<StringRef> operands = launchOperands(kernel);
  // In the LLVM dialect names are gone, and nobody makes a plan.
  if (operands.empty())
    operands.resize(launch.getInputs().size());
  if (operands.size() != launch.getInputs().size()) {
    InFlightDiagnostic diag = launch.emitOpError()
                              << "has " << launch.getInputs().size()
                              << " inputs for a kernel that takes '";
    llvm::interleave(operands, diag, "', '");
    return diag << "'";
  }
  plan::Step step;
  step.op = LaunchOp::getOperationName().str();
  step.kernel = kernel.getName().str();
  for (auto [operand, value] : llvm::zip_equal(operands, launch.getInputs())) {
    std::optional<double> constant = constantFactor(value);
    if (constant && !std::isfinite(*constant))
      return launch.emitOpError()
             << "passes the constant " << *constant << " as '" << operand
             << "'; expected a finite number";
    step.operands.push_back(
        {operand.str(), constant ? "" : nameOf(value), constant});
  }
  for (Value value : launch.getResults())
    step.results.push_back(nameOf(value));
  step.text = textOf(launch);
  step.location = placeOf(launch.getLoc());
  result.steps.push_back(std::move(step));
  return success();
}

/// Values that `op` reads: its operands, and what its regions take from around
/// it.
static llvm::SetVector<Value> valuesReadBy(Operation *op) {
  llvm::SetVector<Value> values(op->operand_begin(), op->operand_end());
  op->walk([&](Operation *inner) {
    for (Value value : inner->getOperands())
      if (!op->isAncestor(value.getParentRegion()->getParentOp()))
        values.insert(value);
  });
  return values;
}

LogicalResult FunctionPlanner::addDuty(Operation *op) {
  LaunchOp inner;
  op->walk([&](LaunchOp launch) { inner = launch; });
  if (inner) {
    InFlightDiagnostic diag =
        op->emitError()
        << "'" << op->getName()
        << "' decides whether or how often a product is computed, but a launch "
           "plan holds steps that run once, one after another; put the product "
           "into a function of its own";
    diag.attachNote(inner.getLoc()) << "the product";
    return diag;
  }
  if (!hostDuties)
    return refuse(op);
  plan::Step step;
  step.op = op->getName().getStringRef().str();
  for (Value value : valuesReadBy(op))
    step.operands.push_back({"", nameOf(value), std::nullopt});
  for (Value value : op->getResults())
    step.results.push_back(nameOf(value));
  step.text = textOf(op);
  step.location = placeOf(op->getLoc());
  result.steps.push_back(std::move(step));
  return success();
}

LogicalResult FunctionPlanner::addStep(Operation *op) {
  if (!live.contains(op) || isFactorOnly(op))
    return success();
  if (auto launch = dyn_cast<LaunchOp>(op))
    return addLaunch(launch);
  return addDuty(op);
}

FailureOr<plan::Function> FunctionPlanner::plan() {
  Region &body = function.getFunctionBody();
  if (!body.hasOneBlock())
    return function.emitError()
           << "has several blocks, but a launch plan holds steps that run "
              "once, "
              "one after another; put each product into a function of its own";
  Block &block = body.front();
  result.name = function.getName().str();
  for (BlockArgument argument : block.getArguments())
    result.arguments.push_back(
        {nameOf(argument), typeName(argument.getType())});
  findLiveOps(block);
  bool failed = false;
  for (Operation &op : block.without_terminator())
    failed |= mlir::failed(addStep(&op));
  if (failed)
    return failure();
  for (Value value : block.getTerminator()->getOperands())
    result.results.push_back(nameOf(value));
  return std::move(result);
}

/// The modules of kernels that `function` launches something of.
static llvm::SetVector<Operation *> launchedModules(Operation *function) {
  llvm::SetVector<Operation *> modules;
  function->walk([&](LaunchOp launch) {
    if (Operation *kernel = SymbolTable::lookupNearestSymbolFrom(
            launch, launch.getKernelAttr()))
      modules.insert(kernel->getParentOp());
  });
  return modules;
}

static LogicalResult refuseSeveral(Operation *function,
                                   ArrayRef<Operation *> modules) {
  InFlightDiagnostic diag = function->emitError() << "launches kernels for ";
  llvm::interleave(
      modules, diag,
      [&](Operation *module) {
        diag << "'" << hw::targetName(getTarget(module)) << "'";
      },
      " and ");
  return diag << ", but a function runs on one device; put the products into "
                 "functions of their own";
}

FailureOr<std::vector<plan::Function>>
blockscale::planFunctions(gpu::GPUModuleOp kernels, bool hostDuties) {
  std::vector<plan::Function> functions;
  bool failed = false;
  for (Operation &op : *kernels->getBlock()) {
    if (isa<gpu::GPUModuleOp>(op))
      continue;
    auto function = dyn_cast<FunctionOpInterface>(op);
    if (!function) {
      op.emitError() << "'" << op.getName()
                     << "' stands outside of functions, where nothing becomes "
                        "part of a kernel; expected functions and modules of "
                        "kernels only";
      failed = true;
      continue;
    }
    if (function.isExternal())
      continue;
    llvm::SetVector<Operation *> launched = launchedModules(function);
    if (launched.size() > 1) {
      failed |= mlir::failed(refuseSeveral(function, launched.getArrayRef()));
      continue;
    }
    if (!launched.empty() && launched.front() != kernels)
      continue;
    auto planned = FunctionPlanner(function, hostDuties).plan();
    failed |= mlir::failed(planned);
    if (mlir::succeeded(planned))
      functions.push_back(std::move(*planned));
  }
  if (failed)
    return failure();
  return functions;
}
