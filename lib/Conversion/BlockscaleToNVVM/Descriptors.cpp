//===- Descriptors.cpp - descriptors of the instructions of an MMA --------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Descriptors.h"
#include "blockscale/Dialect/Blockscale/IR/Layouts.h"
#include "blockscale/HW/Memory.h"
#include "blockscale/HW/ScaleLayout.h"

using namespace mlir;
using namespace blockscale;

/// The constant bits of the descriptor of an operand's stage, which starts on
/// the boundary of its swizzle: everything but the start address, and for K =
/// 96 the address at which a row continues.
static Result<uint64_t> operandDescriptor(SharedType ring, BoolAttr mnMajor,
                                          int64_t mn, int64_t k) {
  hw::OperandTile tile = operandTile(ring, mnMajor && mnMajor.getValue());
  if (auto why = hw::whyNot(tile))
    return *why;
  if (ring.getStageBytes() % hw::swizzleAlignment(ring.getSwizzle()) != 0)
    return Reason("a stage of " + std::to_string(ring.getStageBytes()) +
                  " bytes is not a multiple of the swizzle's " +
                  std::to_string(hw::swizzleAlignment(ring.getSwizzle())));
  if (k == hw::kK96) {
    if (tile.major != hw::OperandMajor::K || tile.swizzle != hw::Swizzle::B128)
      return Reason("K = 96 reads K-major operands with swizzle '128B' only");
    return hw::encode(*hw::k96Descriptor({0, 0, 0}, /*index=*/0));
  }
  hw::OperandStep step;
  step.mmaMn = mn;
  step.mmaK = k;
  auto descriptor = hw::stepDescriptor(tile, step, /*base=*/0);
  if (!descriptor)
    return descriptor.why();
  return hw::encode(*descriptor);
}

static bool isMNMajor(BoolAttr flag) { return flag && flag.getValue(); }

static Result<uint32_t> scaledDescriptor(MmaOp op, StepAttr step) {
  MmaAttr mma = op.getInstruction();
  hw::BlockScaledInstr instr;
  instr.variant = hw::instrVariant(mma.getKind());
  instr.a = *mma.getA().format();
  instr.b = *mma.getB().format();
  instr.scale = *mma.getScale();
  instr.sparse = mma.getSparse();
  instr.aMnMajor = isMNMajor(mma.getAMnMajor());
  instr.bMnMajor = isMNMajor(mma.getBMnMajor());
  instr.m = mma.getM();
  instr.n = mma.getN();
  instr.sfaId = *step.getSfaId();
  instr.sfbId = *step.getSfbId();
  instr.kSize = *hw::kSize(mma.getKind(), mma.getK(), mma.getSparse());
  instr.rowPerLaneA = isRowPerLane(op.getSfa().getType());
  return hw::encode(instr);
}

static Result<uint32_t> plainDescriptor(MmaAttr mma, StepAttr step) {
  hw::PlainInstr instr;
  instr.kind = mma.getKind();
  auto a = hw::plainType(mma.getA()), b = hw::plainType(mma.getB());
  if (!a || !b)
    return Reason("operands of '" + (a ? mma.getB() : mma.getA()).name() +
                  "' have no code in the descriptor of kind '" +
                  std::string(hw::kindName(mma.getKind())) + "'");
  instr.a = *a;
  instr.b = *b;
  instr.d = mma.getKind() == hw::MmaKind::I8 ? hw::PlainType::S32
                                             : hw::PlainType::F32;
  instr.sparse = mma.getSparse();
  instr.sparsitySelector = step.getSelector();
  instr.aMnMajor = isMNMajor(mma.getAMnMajor());
  instr.bMnMajor = isMNMajor(mma.getBMnMajor());
  instr.m = mma.getM();
  instr.n = mma.getN();
  instr.isWide =
      hw::kSize(mma.getKind(), mma.getK(), mma.getSparse()) == hw::KSize::Wide;
  return hw::encode(instr);
}

Result<uint32_t> blockscale::instructionDescriptor(MmaOp op, StepAttr step) {
  MmaAttr mma = op.getInstruction();
  return hw::isBlockScaled(mma.getKind()) ? scaledDescriptor(op, step)
                                          : plainDescriptor(mma, step);
}

Result<uint64_t> blockscale::operandDescriptorA(MmaOp op) {
  MmaAttr mma = op.getInstruction();
  return operandDescriptor(op.getA().getType(), mma.getAMnMajor(),
                           mma.getM() / mma.getCtaGroup(),
                           mma.getStoredK(mma.getK()));
}

Result<uint64_t> blockscale::operandDescriptorB(MmaOp op) {
  MmaAttr mma = op.getInstruction();
  return operandDescriptor(op.getB().getType(), mma.getBMnMajor(),
                           mma.getN() / mma.getCtaGroup(), mma.getK());
}

/// One descriptor reaches to the end of a swizzled row, and to the start of
/// another buffer where it holds that one's address.
static LogicalResult checkRow(MmaOp op, SharedType ring, BoolAttr mnMajor,
                              int64_t k, int64_t offset) {
  if (mnMajor && mnMajor.getValue())
    return success();
  int64_t width = hw::swizzleWidth(ring.getSwizzle());
  int64_t bytes = k * ring.getContainer() / 8;
  bool crosses =
      ring.getSwizzle() != hw::Swizzle::None && offset % width + bytes > width;
  if (crosses == static_cast<bool>(op.getPrevious()))
    return success();
  InFlightDiagnostic diag = op.emitOpError()
                            << "an instruction that reads " << bytes
                            << " bytes from byte " << offset % width << " on ";
  if (crosses)
    return diag << "crosses the end of a row of " << width
                << " bytes; expected steps within rows, or 'previous'";
  return diag << "ends in 'previous'; expected it to cross the end of a row of "
              << width << " bytes";
}

LogicalResult blockscale::checkDescriptors(MmaOp op) {
  for (const auto &descriptor :
       {operandDescriptorA(op), operandDescriptorB(op)})
    if (!descriptor)
      return op.emitOpError() << descriptor.why().text;
  for (auto step : op.getSteps()->getAsRange<StepAttr>()) {
    MmaAttr mma = op.getInstruction();
    auto descriptor = instructionDescriptor(op, step);
    if (!descriptor)
      return op.emitOpError() << descriptor.why().text;
    if (failed(checkRow(op, op.getA().getType(), mma.getAMnMajor(),
                        mma.getStoredK(mma.getK()), step.getA())) ||
        failed(checkRow(op, op.getB().getType(), mma.getBMnMajor(), mma.getK(),
                        step.getB())))
      return failure();
  }
  return success();
}
