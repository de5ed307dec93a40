//===- WidenDivisions.cpp - divisions of small numbers --------------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "WidenDivisions.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/InstIterator.h"

using namespace llvm;

static bool isSmallDivision(const Instruction &each) {
  constexpr unsigned kBits = 32;
  return (each.getOpcode() == Instruction::UDiv ||
          each.getOpcode() == Instruction::URem) &&
         each.getType()->isIntegerTy() &&
         each.getType()->getIntegerBitWidth() < kBits;
}

static void widen(Instruction &narrow) {
  IRBuilder<> builder(&narrow);
  auto wide = [&](Value *value) {
    return builder.CreateZExt(value, builder.getInt32Ty());
  };
  Value *result = builder.CreateBinOp(
      Instruction::BinaryOps(narrow.getOpcode()), wide(narrow.getOperand(0)),
      wide(narrow.getOperand(1)));
  narrow.replaceAllUsesWith(builder.CreateTrunc(result, narrow.getType()));
  narrow.eraseFromParent();
}

void blockscale::widenDivisions(Function &function) {
  for (Instruction &each : make_early_inc_range(instructions(function)))
    if (isSmallDivision(each))
      widen(each);
}
