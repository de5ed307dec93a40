//===- KernelNeighbours.cpp - what kernels are beside others --------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "KernelNeighbours.h"
#include "DequantizeSource.h"
#include "PruneSource.h"
#include "QuantizeSource.h"
#include "RelayoutSource.h"
#include "SparseSource.h"
#include "TileSumsSource.h"
#include "blockscale/Dialect/Blockscale/IR/QuantizedResult.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace blockscale;

bool blockscale::isOfKernel(QuantizeOp op) {
  auto product = op.getInput().getDefiningOp<MatmulOp>();
  return product && quantizerOf(product) == op;
}

bool blockscale::isDoneByKernel(QuantizeOp op) {
  return !whyNotKernel(op) && !repeatsScales(op);
}

bool blockscale::isConvertible(Operation *op) {
  return TypeSwitch<Operation *, bool>(op)
      .Case([](DequantizeOp dequantize) {
        bool hasZeros = dequantize.getInput()
                            .getType()
                            .getSpec()
                            .getValue()
                            .zero.has_value();
        return !whyNotKernel(dequantize) && !repeatsScales(dequantize) &&
               !hasZeros;
      })
      .Case<RelayoutOp, PruneOp, CompressOp, DensifyOp, TileSumsOp>(
          [](auto conversion) { return !whyNotKernel(conversion); })
      .Default([](Operation *) { return false; });
}

bool blockscale::isReader(Operation *op) {
  return isa<MatmulOp>(op) || isConvertible(op);
}

bool blockscale::isMadeByKernel(Value operand) {
  Operation *source = operand.getDefiningOp();
  if (auto assemble = dyn_cast_or_null<AssembleOp>(source))
    source = assemble.getData().getDefiningOp();
  auto quantizer = dyn_cast_or_null<QuantizeOp>(source);
  if (quantizer && !isOfKernel(quantizer))
    return isDoneByKernel(quantizer);
  return source && (quantizer || isReader(source));
}

bool blockscale::isForKernels(QuantizeOp op, IsReader reads) {
  return !op->use_empty() && llvm::all_of(op->getUsers(), reads);
}

bool blockscale::isAmongKernels(Operation *op, IsReader reads) {
  Operation *source = op->getOperand(0).getDefiningOp();
  // Elements without scales are a part and all of it.
  if (auto assemble = dyn_cast_or_null<AssembleOp>(source))
    source = assemble.getData().getDefiningOp();
  if (source && (reads(source) || isa<QuantizeOp>(source)))
    return true;
  auto readsOnDevice = [&](Operation *user) {
    return reads(user) || isa<QuantizeOp>(user) ||
           (isa<AssembleOp>(user) && !user->use_empty() &&
            llvm::all_of(user->getUsers(), reads));
  };
  return !op->use_empty() && llvm::all_of(op->getUsers(), readsOnDevice);
}
