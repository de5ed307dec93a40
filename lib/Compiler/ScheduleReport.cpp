//===- ScheduleReport.cpp - why a kernel has the schedule it has ----------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "blockscale/Compiler/ScheduleReport.h"
#include "blockscale/Dialect/Blockscale/IR/Blockscale.h"
#include "blockscale/Dialect/Blockscale/IR/Promotion.h"
#include "blockscale/Dialect/Blockscale/IR/QuantizedResult.h"
#include "blockscale/Dialect/Blockscale/IR/Stores.h"
#include "blockscale/Dialect/Blockscale/IR/TensorCore.h"
#include "blockscale/Dialect/Blockscale/IR/WarpSchedules.h"
#include "blockscale/Dialect/Blockscale/IR/WideTiles.h"
#include "blockscale/Dialect/Blockscale/Transforms/Passes.h"
#include "blockscale/Dialect/Blockscale/Transforms/ScheduleChoices.h"
#include "mlir/Interfaces/FunctionInterfaces.h"
#include "mlir/Pass/PassManager.h"

using namespace mlir;
using namespace blockscale;

static std::string text(int64_t number) { return std::to_string(number); }

/// What the epilogue does otherwise than it does by itself.
static std::string describeEpilogue(ScheduleAttr schedule) {
  std::string text;
  if (schedule.getStores() == Stores::Tma)
    text += ", D stored by TMA";
  if (schedule.getCLoads() == Loads::Tma)
    text += ", C loaded by TMA";
  if (schedule.warpsOfQuarter() > 1)
    text += ", " + ::text(schedule.getEpilogueWarps()) + " warps store";
  if (schedule.consumerGroups() > 1)
    text += ", tiles by " + ::text(schedule.consumerGroups()) +
            " groups of warps in turns";
  return text;
}

static std::string describe(const ScheduleChoice &choice) {
  ScheduleAttr schedule = choice.schedule;
  std::string result = "tile " + text(schedule.getTileM()) + " x " +
                       text(schedule.getTileN()) + " x " +
                       text(schedule.getTileK());
  if (hasHalves(choice.mma, schedule))
    result += " in halves";
  if (schedule.ctaGroup() == 2)
    result += " over a pair of CTAs";
  if (schedule.clusterM() * schedule.clusterN() > schedule.ctaGroup())
    result += ", cluster " + text(schedule.clusterM()) + " x " +
              text(schedule.clusterN());
  result += ", instructions of K = " + text(choice.mma.getK()) + ", " +
            text(schedule.getStages()) + " stages";
  if (schedule.hasScaleRing())
    result += ", " + text(schedule.scaleStages()) + " of scales";
  if (schedule.splits() > 1)
    result += ", K in " + text(schedule.splits()) + " parts" +
              (schedule.clusterK() > 1 ? " of one cluster" : "");
  if (schedule.shares() > 1)
    result += ", tiles shared out over " + text(schedule.shares()) +
              (schedule.clusterSize() == 1 ? " CTAs"
               : schedule.clusterSize() == 2 && schedule.ctaGroup() == 2
                   ? " pairs"
                   : " clusters");
  if (schedule.getSwapOperands() && schedule.getSwapOperands().getValue())
    result += ", A and B exchanged";
  return result + describeEpilogue(schedule);
}

static std::string printed(Attribute attribute) {
  std::string result;
  llvm::raw_string_ostream stream(result);
  attribute.print(stream);
  return result;
}

/// Whether the epilogue that `schedule` asks for is one of `op` beside its
/// instruction `mma`.
static bool isLegalEpilogue(MatmulOp op, MmaAttr mma, ScheduleAttr schedule) {
  hw::Target target = getTarget(op);
  StoredResult result = storedResult(op);
  QuantizeOp quantizer = quantizerOf(op);
  return !whyNotHalves(op, mma, schedule) &&
         !whyNotStores(schedule, result, target) &&
         !whyNotLoadsOfC(schedule, loadedAddend(op), target) &&
         !whyNotEpilogueWarps(schedule, result.isPromoting, target) &&
         !(quantizer && whyNotQuantized(op, quantizer, schedule, target));
}

/// The schedule whose warps take tiles in turns, where one is legal, or the one
/// whose warps share them.
static void addTurns(MatmulOp op, const ScheduleChoice &choice,
                     const std::string &common,
                     std::vector<ScheduleTwin> &list) {
  hw::Target target = getTarget(op);
  if (hw::hasTensorMemory(target) || getScheduleWish(op).getConsumerGroups())
    return;
  ScheduleAttr::Fields fields = choice.schedule.getFields();
  fields.stages = getScheduleWish(op).getStages();
  fields.consumerGroups = choice.schedule.consumerGroups() > 1 ? 0 : 2;
  auto twin = ScheduleAttr::get(op.getContext(), fields);
  ScaledTensorType a = op.getA().getType(), b = op.getB().getType();
  bool swap = fields.swapOperands && fields.swapOperands.getValue();
  QuantizeOp quantizer = quantizerOf(op);
  if (!whyNotConsumerGroups(twin, storedResult(op).element, target) &&
      !whyNotPromotion(choice.mma, twin, promotionBlock(a, b),
                       columnsOfScale(a, b, swap), columnsOfResult(op),
                       target) &&
      !(quantizer && whyNotQuantized(op, quantizer, twin, target)))
    list.push_back({common + describeEpilogue(twin), twin});
}

/// `schedule` with other epilogues, which are not among those that are
/// compared: the formula does not tell them apart. What the user has asked for
/// stays.
static std::vector<ScheduleTwin> twinsOf(MatmulOp op,
                                         const ScheduleChoice &choice) {
  constexpr int64_t kFewerWarps = 4, kMoreWarps = 8;
  ScheduleAttr::Fields fields = choice.schedule.getFields();
  std::string common = describe(choice);
  common.resize(common.size() - describeEpilogue(choice.schedule).size());
  std::vector<ScheduleTwin> list;
  if (fields.stores == Stores::Tma || fields.cLoads == Loads::Tma)
    return list;
  fields.stages = getScheduleWish(op).getStages();
  fields.scaleStages = getScheduleWish(op).getScaleStages();
  SmallVector<int64_t, 2> counts{fields.epilogueWarps};
  if (!getScheduleWish(op).getEpilogueWarps())
    counts.push_back(fields.epilogueWarps ? kFewerWarps : kMoreWarps);
  for (int64_t warps : counts)
    for (auto [stores, loads] : {std::pair(false, false),
                                 {true, false},
                                 {false, true},
                                 {true, true}}) {
      bool isOther = stores || loads || warps != counts.front();
      fields.stores = stores ? std::optional(Stores::Tma) : std::nullopt;
      fields.cLoads = loads ? std::optional(Loads::Tma) : std::nullopt;
      fields.epilogueWarps = warps;
      auto twin = ScheduleAttr::get(op.getContext(), fields);
      if (isOther && isLegalEpilogue(op, choice.mma, twin))
        list.push_back({common + describeEpilogue(twin), twin});
    }
  addTurns(op, choice, common, list);
  return list;
}

static ScheduleReport reportSchedule(MatmulOp op, unsigned index,
                                     int64_t expectedRows) {
  ScheduleReport report;
  report.function = op->getParentOfType<FunctionOpInterface>().getName().str();
  report.index = index;
  report.expectedRows = expectedRows;
  report.variants = op->getAttr(VariantAttr::arrayName);
  if (ScheduleAttr wish = getScheduleWish(op);
      wish != ScheduleAttr::get(op.getContext(), ScheduleAttr::Fields()))
    report.wish = printed(wish);
  ScheduleChoices choices =
      listScheduleChoices(op, getTarget(op), expectedRows);
  for (const ScheduleChoice &choice : choices.legal)
    report.compared.push_back({describe(choice), choice.microseconds,
                               hw::gemmLimitName(choice.limit), choice.schedule,
                               twinsOf(op, choice), choice.reduction});
  for (const Reason &why : choices.refused) {
    auto known = llvm::find_if(report.refused, [&](const auto &each) {
      return each.first == why.text;
    });
    if (known == report.refused.end())
      report.refused.emplace_back(why.text, 1);
    else
      ++known->second;
  }
  return report;
}

FailureOr<std::vector<ScheduleReport>>
blockscale::reportSchedules(ModuleOp module, const CompilerOptions &options) {
  std::vector<ScheduleReport> reports;
  bool hasProducts = false;
  module.walk([&](MatmulOp op) { hasProducts |= !op.isScheduled(); });
  if (!hasProducts)
    return reports;
  if (targetsOf(options).size() > 1)
    return module.emitError()
           << "schedules are compared for one target, found '" << options.target
           << "'";
  OwningOpRef<ModuleOp> copy(module.clone());
  PassManager pm(module.getContext());
  PipelineOptions pipeline;
  pipeline.target = options.target;
  pipeline.denseFallback = options.denseFallback;
  pipeline.quantize = !options.hostDuties;
  buildLegalization(pm, pipeline);
  if (!options.dispatchRows.empty()) {
    DispatchRowsOptions dispatch;
    dispatch.rows = options.dispatchRows;
    dispatch.expectedRows = options.expectedRows;
    pm.addPass(createDispatchRows(dispatch));
  }
  if (failed(pm.run(*copy)))
    return failure();
  llvm::StringMap<unsigned> counts;
  copy->walk([&](MatmulOp op) {
    auto function = op->getParentOfType<FunctionOpInterface>();
    if (!function)
      return;
    unsigned index = counts[function.getName()]++;
    if (!op.isScheduled())
      reports.push_back(reportSchedule(op, index, options.expectedRows));
  });
  return reports;
}
