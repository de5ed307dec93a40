//===- KernelSource.cpp - what becomes a kernel ---------------------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "blockscale/Dialect/Blockscale/Transforms/KernelSource.h"
#include "DequantizeSource.h"
#include "MatmulSource.h"
#include "PruneSource.h"
#include "QuantizeSource.h"
#include "RelayoutSource.h"
#include "SparseSource.h"
#include "TileSumsSource.h"

using namespace mlir;
using namespace blockscale;

#include "blockscale/Dialect/Blockscale/Transforms/KernelSource.cpp.inc"

void blockscale::registerKernelSources(DialectRegistry &registry) {
  registry.addExtension(+[](MLIRContext *context, BlockscaleDialect *) {
    attachMatmulSource(*context);
    attachMatmulBody(*context);
    attachQuantizeSource(*context);
    attachDequantizeSource(*context);
    attachRelayoutSource(*context);
    attachPruneSource(*context);
    attachSparseSources(*context);
    attachTileSumsSource(*context);
  });
}

bool blockscale::isKernelSource(Operation *op) {
  auto source = dyn_cast<KernelSourceOpInterface>(op);
  return source && source.isWanted();
}
