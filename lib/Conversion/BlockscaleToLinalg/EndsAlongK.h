//===- EndsAlongK.h - where groups along K end ------------------*- C++ -*-===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef BLOCKSCALE_LIB_CONVERSION_BLOCKSCALETOLINALG_ENDSALONGK_H
#define BLOCKSCALE_LIB_CONVERSION_BLOCKSCALETOLINALG_ENDSALONGK_H

#include "Parts.h"

namespace blockscale {

class ProductAttr;

/// Stops the program where a group of `ends` does not end at an element of K,
/// of which there are `k`, that the kernel of `product` takes for an end: it
/// would multiply elements of another group, or leave some out. Nothing where
/// the program says where they end, as whoever made the kernel has asked.
void checkEndsAlongK(Emitter &e, mlir::Value ends, mlir::OpFoldResult k,
                     ProductAttr product);

} // namespace blockscale

#endif // BLOCKSCALE_LIB_CONVERSION_BLOCKSCALETOLINALG_ENDSALONGK_H
