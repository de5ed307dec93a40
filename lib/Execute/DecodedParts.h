//===- DecodedParts.h - the numbers of scaled results -----------*- C++ -*-===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef BLOCKSCALE_LIB_EXECUTE_DECODEDPARTS_H
#define BLOCKSCALE_LIB_EXECUTE_DECODEDPARTS_H

#include "Arrays.h"
#include "blockscale/Compiler/Compiler.h"

namespace blockscale::execute {

/// What host code makes of each of `values`, the parts of a scaled tensor of
/// type `type`, when it dequantises it: an array of f32. Nothing where it
/// cannot, or has its elements in another order than `type`.
std::vector<HostArray>
decodeParts(ScaledTensorType type,
            llvm::ArrayRef<std::vector<HostArray>> values,
            const CompilerOptions &options);

} // namespace blockscale::execute

#endif // BLOCKSCALE_LIB_EXECUTE_DECODEDPARTS_H
