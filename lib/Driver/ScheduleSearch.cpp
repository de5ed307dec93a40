//===- ScheduleSearch.cpp - schedules tried on the timeline ---------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "ScheduleSearch.h"
#include "KernelTime.h"
#include "blockscale/Dialect/Blockscale/IR/QuantizedResult.h"
#include "blockscale/Dialect/Blockscale/IR/TensorCore.h"
#include "blockscale/Formats/Text.h"
#include "blockscale/HW/GemmModel.h"
#include "blockscale/HW/Mma.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/Interfaces/FunctionInterfaces.h"

#include <algorithm>

using namespace mlir;
using namespace blockscale;
using namespace blockscale::driver;

/// The chip that `op` is compiled for: the one that it names, or an op around
/// it, else the one that was asked for.
static hw::Target targetOf(MatmulOp op, const CompilerOptions &options) {
  if (std::optional<hw::Target> named = findTarget(op))
    return *named;
  Result<hw::Target> asked = hw::parseTarget(options.target);
  return asked ? *asked : hw::kDefaultTarget;
}

/// The product that `report` is about.
static MatmulOp findProduct(ModuleOp module, const ScheduleReport &report) {
  unsigned index = 0;
  MatmulOp found;
  module.walk([&](MatmulOp op) {
    auto function = op->getParentOfType<FunctionOpInterface>();
    if (function && function.getName() == report.function &&
        index++ == report.index)
      found = op;
  });
  return found;
}

/// `schedule` as a wish that leaves nothing free: one that does not say in how
/// many parts K is, where they meet, whether tiles are shared out, or how many
/// warps store asks for the best.
static ScheduleAttr pinned(ScheduleAttr schedule, hw::Target target) {
  constexpr int64_t kQuarters = 4;
  ScheduleAttr::Fields fields = schedule.getFields();
  fields.splitK = schedule.splits();
  fields.clusterK = schedule.clusterK();
  fields.streamK = schedule.shares();
  if (hw::hasTensorMemory(target))
    fields.epilogueWarps = kQuarters * schedule.warpsOfQuarter();
  return ScheduleAttr::get(schedule.getContext(), fields);
}

/// The quantisation that becomes part of the kernel of `op`, if any does.
static QuantizeOp quantizationWith(MatmulOp op,
                                   const CompilerOptions &options) {
  if (options.hostDuties || !op->hasOneUse())
    return {};
  auto reader = dyn_cast<QuantizeOp>(*op->user_begin());
  bool isPart = reader && reader.getInput() == op.getResult() &&
                !whyNotQuantized(op, reader, targetOf(op, options));
  return isPart ? reader : QuantizeOp();
}

/// A module with nothing but a copy of `op`, and of the quantisation in its
/// kernel. Their operands are arguments.
static OwningOpRef<ModuleOp> isolate(ModuleOp module, MatmulOp op,
                                     ScheduleAttr schedule,
                                     const CompilerOptions &options) {
  QuantizeOp quantizer = quantizationWith(op, options);
  SmallVector<Value> arguments(op->getOperands());
  if (quantizer)
    for (Value operand : quantizer->getOperands())
      if (operand != op.getResult() && !llvm::is_contained(arguments, operand))
        arguments.push_back(operand);
  Operation *last = quantizer ? quantizer.getOperation() : op.getOperation();
  OwningOpRef<ModuleOp> alone(ModuleOp::create(op.getLoc()));
  (*alone)->setAttrs(module->getAttrs());
  hw::Target target = targetOf(op, options);
  (*alone)->setAttr(TargetAttr::name, TargetAttr::get(op.getContext(), target));
  auto b = OpBuilder::atBlockEnd(alone->getBody());
  auto type = b.getFunctionType(ValueRange(arguments).getTypes(),
                                last->getResultTypes());
  auto function = func::FuncOp::create(b, op.getLoc(), "product", type);
  Block *body = function.addEntryBlock();
  b.setInsertionPointToEnd(body);
  IRMapping mapping;
  mapping.map(arguments, body->getArguments());
  Operation *copy = b.clone(*op, mapping);
  setTensorCore(cast<MatmulOp>(copy), getMma(op), pinned(schedule, target));
  if (quantizer)
    copy = b.clone(*quantizer, mapping);
  func::ReturnOp::create(b, op.getLoc(), copy->getResults());
  return alone;
}

Result<double> driver::replaySchedule(ModuleOp module,
                                      const ScheduleReport &product,
                                      const ComparedSchedule &compared,
                                      const CompilerOptions &options) {
  MatmulOp op = findProduct(module, product);
  if (!op)
    return Reason("the product is no more in '" + product.function + "'");
  OwningOpRef<ModuleOp> alone = isolate(module, op, compared.schedule, options);
  CompilerOptions plain;
  plain.expectedRows = options.expectedRows;
  plain.denseFallback = options.denseFallback;
  plain.withReport = false;
  FailureOr<std::vector<Compilation>> compiled = compile(*alone, plain);
  if (failed(compiled) || compiled->size() != 1 ||
      compiled->front().plan.kernels.size() != 1)
    return Reason("the product does not compile alone with this schedule");
  const Compilation &only = compiled->front();
  // Sums that are brought together between tiles are no time of their own.
  bool hasSums = compared.schedule.shares() > 1 && compared.reduction == 0;
  TimedKernel timed = timeKernel(only, only.plan.kernels.front(),
                                 options.expectedRows, hasSums);
  if (!timed.estimate)
    return Reason(timed.why);
  return timed.estimate->microseconds + compared.reduction +
         hw::kLaunchMicroseconds;
}

/// Whether a host can give a kernel of `schedule` what it gives those for few
/// rows: it packs and aligns operands before it knows how many rows there are.
static bool suitsVariants(const ScheduleReport &product,
                          ScheduleAttr schedule) {
  auto variants = dyn_cast_or_null<ArrayAttr>(product.variants);
  if (!variants || variants.empty())
    return true;
  auto variant = cast<VariantAttr>(variants[0]);
  MmaAttr mma = variant.getMma();
  auto isPacked = [&](int64_t k) {
    return hw::readsPacked(mma.getKind(), k, mma.getSparse());
  };
  return schedule.getStores() == variant.getSchedule().getStores() &&
         schedule.getCLoads() == variant.getSchedule().getCLoads() &&
         isPacked(schedule.getMmaK()) == isPacked(mma.getK());
}

/// The one of the first `count` schedules that the timeline finds fastest.
static Result<const ComparedSchedule *>
fastest(ModuleOp module, const ScheduleReport &product, unsigned count,
        const CompilerOptions &options, double &least) {
  const ComparedSchedule *best = nullptr;
  for (const ComparedSchedule &each :
       ArrayRef(product.compared).take_front(count)) {
    if (!suitsVariants(product, each.schedule))
      continue;
    Result<double> time = replaySchedule(module, product, each, options);
    if (!time)
      return time.why();
    if (best && *time >= least)
      continue;
    best = &each;
    least = *time;
  }
  return best;
}

/// `best`, or the same with another epilogue if the timeline finds that faster
/// by more than it may be off between two kernels that are so much alike.
static Result<ComparedSchedule> bestTwin(ModuleOp module,
                                         const ScheduleReport &product,
                                         const ComparedSchedule &best,
                                         const CompilerOptions &options,
                                         double &least) {
  constexpr double kMargin = 0.99;
  ComparedSchedule taken = best;
  double limit = kMargin * least;
  for (const ScheduleTwin &other : best.twins) {
    if (!suitsVariants(product, other.schedule))
      continue;
    ComparedSchedule twin = best;
    twin.schedule = other.schedule;
    twin.text = other.text;
    Result<double> time = replaySchedule(module, product, twin, options);
    if (!time)
      return time.why();
    if (*time >= limit)
      continue;
    least = limit = *time;
    taken = twin;
  }
  return taken;
}

LogicalResult
driver::searchSchedules(ModuleOp module, unsigned count,
                        const CompilerOptions &options,
                        const std::function<void(const std::string &)> &found) {
  FailureOr<std::vector<ScheduleReport>> products =
      reportSchedules(module, options);
  if (failed(products))
    return failure();
  for (const ScheduleReport &product : *products) {
    unsigned tried = std::min<size_t>(count, product.compared.size());
    if (!tried)
      continue; // compiling says why none is legal
    double least = 0;
    Result<const ComparedSchedule *> best =
        fastest(module, product, tried, options, least);
    MatmulOp op = findProduct(module, product);
    if (!best)
      return op.emitOpError() << "cannot be timed: " << best.why().text;
    Result<ComparedSchedule> moved =
        bestTwin(module, product, **best, options, least);
    if (!moved)
      return op.emitOpError() << "cannot be timed: " << moved.why().text;
    setTensorCore(op, getMma(op),
                  pinned(moved->schedule, targetOf(op, options)));
    // Those for few rows are not to be what is best for any number.
    if (product.variants)
      op->setAttr(VariantAttr::arrayName, product.variants);
    found("product " + std::to_string(product.index) + " of '" +
          product.function + "': " + moved->text + ", " +
          formatNumber("%.2f", least) + " us by the timeline, number " +
          std::to_string(*best - product.compared.data() + 1) + " of the " +
          std::to_string(tried) + " best by the formula");
  }
  return success();
}
