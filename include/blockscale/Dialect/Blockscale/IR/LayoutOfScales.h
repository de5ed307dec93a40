//===- LayoutOfScales.h - scales beside metadata ----------------*- C++ -*-===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A type names one layout, and a sparse tensor may have two: its metadata lie
// as instructions read them, and its scales row by row where no instruction
// reads those.
//
//===----------------------------------------------------------------------===//

#ifndef BLOCKSCALE_DIALECT_BLOCKSCALE_IR_LAYOUTOFSCALES_H
#define BLOCKSCALE_DIALECT_BLOCKSCALE_IR_LAYOUTOFSCALES_H

#include "blockscale/Dialect/Blockscale/IR/Blockscale.h"

namespace blockscale {

/// The layout of the scales and zero points: that of the type, but 'plain'
/// where this is the layout of metadata alone, because the scales are for all
/// of K or sums are multiplied by them in registers.
ScaleLayout getScaleLayout(ScaledTensorType type);

/// The layout of the metadata of a sparse tensor: that of the type, but 'plain'
/// where no instruction reads them.
ScaleLayout getMetadataLayout(ScaledTensorType type);

} // namespace blockscale

#endif // BLOCKSCALE_DIALECT_BLOCKSCALE_IR_LAYOUTOFSCALES_H
