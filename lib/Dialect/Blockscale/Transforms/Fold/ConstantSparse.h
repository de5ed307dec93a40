//===- ConstantSparse.h - constants with structured sparsity ----*- C++ -*-===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Metadata of constant tensors in logical order, and tensors without them.
//
//===----------------------------------------------------------------------===//

#ifndef BLOCKSCALE_LIB_DIALECT_BLOCKSCALE_TRANSFORMS_FOLD_CONSTANTSPARSE_H
#define BLOCKSCALE_LIB_DIALECT_BLOCKSCALE_TRANSFORMS_FOLD_CONSTANTSPARSE_H

#include "ConstantQuantize.h"

namespace blockscale {

/// Bytes of metadata, row after row, as they are stored in the type's layout,
/// and back.
std::vector<uint32_t> storeMetadata(ScaledTensorType type,
                                    std::vector<uint32_t> rows);
std::vector<uint32_t> loadMetadata(ScaledTensorType type,
                                   std::vector<uint32_t> stored);

/// The tensor `parts` of type `from` as one of type `to`, its dense form in
/// tiles that divide its own. Nothing if metadata name no elements, or other
/// than kept ones.
std::optional<ConstantParts> densifyConstant(ScaledTensorType from,
                                             ConstantParts parts,
                                             ScaledTensorType to);

/// The tensor `parts` of type `from`, whose zero points, if it has any, count
/// in steps of its scales, as one of type `to` without the elements that are 0.
/// Nothing if more of a group are not than the pattern of `to` keeps.
std::optional<ConstantParts> compressConstant(ScaledTensorType from,
                                              ConstantParts parts,
                                              ScaledTensorType to);

} // namespace blockscale

#endif // BLOCKSCALE_LIB_DIALECT_BLOCKSCALE_TRANSFORMS_FOLD_CONSTANTSPARSE_H
