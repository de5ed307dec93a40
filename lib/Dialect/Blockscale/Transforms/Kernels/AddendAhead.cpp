//===- AddendAhead.cpp - C that is loaded before it is needed -------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "AddendAhead.h"
#include "blockscale/Dialect/Blockscale/IR/Epilogue.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

using namespace mlir;
using namespace blockscale;

bool AddendAhead::isPossible(KernelFrame &frame) {
  // Blocks that are quantised take the registers.
  return Epilogue(frame.op).reads(EpilogueInput::C) &&
         frame.schedule.getCLoads() != Loads::Tma && !frame.quantizes() &&
         !frame.bringsRows();
}

Value AddendAhead::load(const Chunk &chunk) {
  return math.loadCodesOfC(
      math.fragmentAt(chunk.tile, chunk.row, chunk.column));
}

void AddendAhead::begin(const Chunk &first) {
  if (b.known(first.isThere)) {
    codes = load(first);
    return;
  }
  auto nothing = arith::ConstantOp::create(b, b.getZeroAttr(math.typeOfC()));
  codes = loadIf(first, nothing);
}

Value AddendAhead::loadIf(const Chunk &chunk, Value otherwise) {
  auto choice = scf::IfOp::create(b, TypeRange(otherwise.getType()),
                                  chunk.isThere, /*withElseRegion=*/true);
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(choice.thenBlock());
  scf::YieldOp::create(b, load(chunk));
  b.setInsertionPointToStart(choice.elseBlock());
  scf::YieldOp::create(b, otherwise);
  return choice.getResult(0);
}

void AddendAhead::passOn() {
  // Else nothing is done for what nobody reads.
  if (next.isThere)
    codes = loadIf(next, codes);
}

Value AddendAhead::passOn(Value finished) {
  if (next.isThere)
    finished = vectorKnownFromHere(b, finished);
  passOn();
  return finished;
}
