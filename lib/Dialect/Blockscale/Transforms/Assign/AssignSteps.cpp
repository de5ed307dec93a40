//===- AssignSteps.cpp - list the instructions of each MMA ----------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

// Writes down, for every instruction of a K tile, where its operands start and
// which column and byte its scales start at, and where its metadata lie; where
// scales are in registers, which lanes and bytes supply them.

#include "blockscale/Dialect/Blockscale/IR/Blockscale.h"
#include "blockscale/Dialect/Blockscale/Transforms/Passes.h"
#include "blockscale/HW/Descriptor.h"
#include "blockscale/HW/Fragments.h"
#include "blockscale/HW/Metadata.h"
#include "blockscale/HW/ScaleLayout.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/Matchers.h"
#include "llvm/Support/MathExtras.h"

namespace blockscale {
#define GEN_PASS_DEF_ASSIGNSTEPS
#include "blockscale/Dialect/Blockscale/Transforms/Passes.h.inc"
} // namespace blockscale

using namespace mlir;
using namespace blockscale;

namespace {
struct AssignSteps : blockscale::impl::AssignStepsBase<AssignSteps> {
  using AssignStepsBase::AssignStepsBase;
  void runOnOperation() override;
};
} // namespace

/// Byte offset of instruction `index`, counted from the start of the op's group
/// of stages, in the stage of an operand that it starts in.
static FailureOr<int64_t> operandOffset(MmaOp op, SharedType type,
                                        BoolAttr mnMajor, int64_t extent,
                                        int64_t k, unsigned index) {
  if (KRangeAttr range = op.getRangeAttr()) {
    if (k == hw::kK96) {
      Result<hw::K96Step> step = hw::k96Step(index);
      if (!step)
        return op.emitOpError() << step.why().text;
      return int64_t(step->startByte);
    }
    index -= range.getPart() * type.getShape()[2] / k;
  }
  hw::OperandTile tile = operandTile(type, mnMajor && mnMajor.getValue());
  hw::OperandStep step;
  step.mmaMn = extent;
  step.mmaK = k;
  step.kIndex = index;
  Result<hw::StepAddress> address = hw::stepAddress(tile, step);
  if (!address)
    return op.emitOpError() << address.why().text;
  return int64_t(address->startOffset);
}

static FailureOr<StepAttr> makeStep(MmaOp op, unsigned index) {
  MmaAttr mma = op.getInstruction();
  // Each CTA of a pair supplies half of the rows.
  int64_t ctas = mma.getCtaGroup();
  FailureOr<int64_t> a =
      operandOffset(op, op.getA().getType(), mma.getAMnMajor(),
                    mma.getM() / ctas, mma.getStoredK(mma.getK()), index);
  FailureOr<int64_t> b =
      operandOffset(op, op.getB().getType(), mma.getBMnMajor(),
                    mma.getN() / ctas, mma.getK(), index);
  if (failed(a) || failed(b))
    return failure();
  hw::MetadataStep metadata{0, 0};
  if (mma.getSparse())
    metadata = hw::metadataStep(mma.getKind(), index);
  if (!op.getSfa())
    return StepAttr::get(op.getContext(), *a, *b, std::nullopt, std::nullopt,
                         std::nullopt, std::nullopt, metadata.column,
                         metadata.selector);
  unsigned scales = hw::scalesPerMma(mma.getKind(), mma.getBlock(), mma.getK(),
                                     mma.getSparse());
  auto scaleStep = [&](TensorMemoryType type) {
    auto layout = cast<TmemScalesAttr>(type.getLayout());
    auto step = hw::scaleStep(scales, layout.getWordStride(), index);
    if (!step || !op.getRange())
      return step;
    int64_t words = std::max<int64_t>(1, type.getShape()[1] / hw::kAtomScales);
    hw::ScaleStep wrapped = *step;
    wrapped.column %= words * layout.getWordStride();
    return Result<hw::ScaleStep>(wrapped);
  };
  auto sfa = scaleStep(op.getSfa().getType());
  auto sfb = scaleStep(op.getSfb().getType());
  if (!sfa || !sfb)
    return op.emitOpError() << (sfa ? sfb : sfa).why().text;
  return StepAttr::get(op.getContext(), *a, *b, sfa->column, sfa->id,
                       sfb->column, sfb->id, metadata.column,
                       metadata.selector);
}

static LogicalResult assignSteps(MmaOp op) {
  if (op.getSteps())
    return success();
  int64_t instructionK = op.getInstruction().getK();
  int64_t begin = 0, end = op.getB().getType().getShape()[2];
  if (KRangeAttr range = op.getRangeAttr()) {
    begin = range.getBegin();
    end = range.getEnd();
  }
  APInt valid;
  if (op.getValid() && matchPattern(op.getValid(), m_ConstantInt(&valid))) {
    if (valid.getSExtValue() < 1)
      return op.emitOpError()
             << "expected at least 1 valid element of K, found "
             << valid.getSExtValue();
    end = std::min(end, valid.getSExtValue());
    op.getValidMutable().clear();
  }
  SmallVector<Attribute> steps;
  for (int64_t i = begin / instructionK,
               e = llvm::divideCeil(std::max(begin, end), instructionK);
       i < e; ++i) {
    FailureOr<StepAttr> step = makeStep(op, i);
    if (failed(step))
      return failure();
    steps.push_back(*step);
  }
  op.setStepsAttr(ArrayAttr::get(op.getContext(), steps));
  return success();
}

static LogicalResult assignSelectors(WarpMmaOp op) {
  if (op.getSfaId() || !op.getSfa())
    return success();
  MmaAttr mma = op.getInstruction();
  unsigned scales = hw::scalesPerMma(mma.getKind(), mma.getBlock(), mma.getK(),
                                     mma.getSparse());
  auto select = [&](hw::WarpOperand operand,
                    int64_t tile) -> FailureOr<ScaleSelectorAttr> {
    auto selector = hw::scaleSelector(operand, scales, tile, op.getStep());
    if (!selector)
      return op.emitOpError() << selector.why().text;
    return ScaleSelectorAttr::get(op.getContext(), selector->byteId,
                                  selector->threadId);
  };
  auto a = select(hw::WarpOperand::ScaleA, op.getRowTile());
  auto b = select(hw::WarpOperand::ScaleB, op.getColumnTile());
  if (failed(a) || failed(b))
    return failure();
  op.setSfaIdAttr(*a);
  op.setSfbIdAttr(*b);
  return success();
}

void AssignSteps::runOnOperation() {
  WalkResult result = getOperation()->walk([&](MmaOp op) {
    if (failed(assignSteps(op)))
      return WalkResult::interrupt();
    numInstructions += op.getSteps()->size();
    return WalkResult::advance();
  });
  WalkResult warpResult = getOperation()->walk([&](WarpMmaOp op) {
    ++numInstructions;
    return failed(assignSelectors(op)) ? WalkResult::interrupt()
                                       : WalkResult::advance();
  });
  if (result.wasInterrupted() || warpResult.wasInterrupted())
    signalPassFailure();
}
