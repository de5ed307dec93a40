//===- ElementValues.h - the numbers that elements mean ---------*- C++ -*-===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Codes of a scaled tensor read from its parts, dense, sparse or of tables,
// decoded and multiplied by their scales.
//
//===----------------------------------------------------------------------===//

#ifndef BLOCKSCALE_LIB_CONVERSION_BLOCKSCALETOLINALG_ELEMENTVALUES_H
#define BLOCKSCALE_LIB_CONVERSION_BLOCKSCALETOLINALG_ELEMENTVALUES_H

#include "Parts.h"

namespace blockscale {

/// The code of an element of a sparse tensor, 0 where it was pruned.
mlir::Value sparseCode(Emitter &emitter, const Parts &parts,
                       mlir::ValueRange position);

/// The code of an element of a tensor of codebook elements, an i32: the number
/// of its table above its index.
mlir::Value codebookCode(Emitter &emitter, const Parts &parts,
                         mlir::Value index, mlir::ValueRange position);

/// `element * scale` with the zero point, as f32 and without the tensor scale,
/// of every position of the logical shape. Where `saturateProducts`, finite
/// factors give no infinity.
mlir::Value tileScaledValues(Emitter &emitter, const Parts &parts, bool useExtf,
                             bool saturateProducts = false);

/// The elements without their scales as f32, less zero points that count in
/// steps of the scale.
mlir::Value elementValues(Emitter &emitter, const Parts &parts, bool useExtf);

/// The elements of a tensor of integers that mean their integer value as i32,
/// without scales.
mlir::Value integerValues(Emitter &emitter, const Parts &parts);

} // namespace blockscale

#endif // BLOCKSCALE_LIB_CONVERSION_BLOCKSCALETOLINALG_ELEMENTVALUES_H
