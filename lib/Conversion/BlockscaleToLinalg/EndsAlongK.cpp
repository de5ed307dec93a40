//===- EndsAlongK.cpp - where groups along K end --------------------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "EndsAlongK.h"
#include "blockscale/Dialect/Blockscale/IR/Groups.h"
#include "mlir/Dialect/Arith/Utils/Utils.h"
#include "mlir/Dialect/ControlFlow/IR/ControlFlowOps.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

using namespace mlir;
using namespace blockscale;

void blockscale::checkEndsAlongK(Emitter &e, Value ends, OpFoldResult k,
                                 ProductAttr product) {
  int64_t step = stepAlongK(product.getA(), product.getB(), product.getMma());
  if (knownEnds(ends) || step == 1)
    return;
  Value all = getValueOrCreateConstantIndexOp(e, e.getLoc(), k);
  Value groups = tensor::DimOp::create(e, ends, 0);
  auto loop = scf::ForOp::create(e, e.index(0), groups, e.index(1));
  OpBuilder::InsertionGuard guard(e);
  e.setInsertionPointToStart(loop.getBody());
  Value end = arith::IndexCastOp::create(
      e, e.getIndexType(),
      tensor::ExtractOp::create(e, ends, loop.getInductionVar()));
  Value rest = arith::RemSIOp::create(e, end, e.index(step));
  Value holds =
      arith::CmpIOp::create(e, arith::CmpIPredicate::eq, rest, e.index(0));
  // An instruction finds zeros behind the last element.
  if (step == product.getMma().getK()) {
    Value isLast = arith::CmpIOp::create(e, arith::CmpIPredicate::eq, end, all);
    holds = arith::OrIOp::create(e, holds, isLast);
  }
  cf::AssertOp::create(
      e, holds,
      "'blockscale.matmul': a group along K does not end at a multiple of " +
          std::to_string(step) +
          " elements, as the kernel lets groups end; expected zeros behind its "
          "elements, up to the next one");
}
