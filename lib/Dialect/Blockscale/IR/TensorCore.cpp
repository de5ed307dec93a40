//===- TensorCore.cpp - how NVIDIA's tensor cores compute -----------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "blockscale/Dialect/Blockscale/IR/TensorCore.h"

using namespace mlir;
using namespace blockscale;

static TensorCoreAttr tensorCoreOf(MatmulOp op) {
  return dyn_cast_or_null<TensorCoreAttr>(op.getLoweringAttr());
}

MmaAttr blockscale::getMma(MatmulOp op) {
  TensorCoreAttr lowering = tensorCoreOf(op);
  return lowering ? lowering.getMma() : MmaAttr();
}

ScheduleAttr blockscale::getSchedule(MatmulOp op) {
  TensorCoreAttr lowering = tensorCoreOf(op);
  return lowering ? lowering.getSchedule() : ScheduleAttr();
}

ScheduleAttr blockscale::getScheduleWish(MatmulOp op) {
  if (ScheduleAttr schedule = getSchedule(op))
    return schedule;
  return ScheduleAttr::get(op.getContext(), ScheduleAttr::Fields());
}

void blockscale::setTensorCore(MatmulOp op, MmaAttr mma,
                               ScheduleAttr schedule) {
  op.setLoweringAttr(TensorCoreAttr::get(op.getContext(), mma, schedule));
}

//===----------------------------------------------------------------------===//
// TensorCoreAttr
//===----------------------------------------------------------------------===//

bool TensorCoreAttr::isComplete() const {
  return getMma() && getMma().getM() && getSchedule() &&
         getSchedule().isComplete();
}

void TensorCoreAttr::printClauses(AsmPrinter &printer) const {
  if (MmaAttr mma = getMma()) {
    printer << " mma(";
    printer.printStrippedAttrOrType(mma);
    printer << ")";
  }
  if (ScheduleAttr schedule = getSchedule())
    printer << " schedule(" << schedule << ")";
}

/// `keyword` `(` attribute `)`, or nothing. The attribute may be given without
/// its name.
template <typename Attr>
static ParseResult parseClause(AsmParser &parser, StringRef keyword,
                               Attr &attribute) {
  if (failed(parser.parseOptionalKeyword(keyword)))
    return success();
  return failure(parser.parseLParen() ||
                 parser.parseCustomAttributeWithFallback(attribute) ||
                 parser.parseRParen());
}

FailureOr<TensorCoreAttr>
blockscale::parseTensorCoreClauses(AsmParser &parser) {
  MmaAttr mma;
  ScheduleAttr schedule;
  if (parseClause(parser, "mma", mma) ||
      parseClause(parser, "schedule", schedule))
    return failure();
  if (!mma && !schedule)
    return TensorCoreAttr();
  return TensorCoreAttr::get(parser.getContext(), mma, schedule);
}
