//===- ConstantQuantize.h - quantize of constants ---------------*- C++ -*-===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// `blockscale.quantize` and `blockscale.dequantize` while compiling.
//
//===----------------------------------------------------------------------===//

#ifndef BLOCKSCALE_LIB_DIALECT_BLOCKSCALE_TRANSFORMS_FOLD_CONSTANTQUANTIZE_H
#define BLOCKSCALE_LIB_DIALECT_BLOCKSCALE_TRANSFORMS_FOLD_CONSTANTQUANTIZE_H

#include "ConstantTensors.h"

namespace blockscale {

/// Codes of the parts of a dense tensor, in logical order; empty if it has no
/// such part.
struct ConstantParts {
  std::vector<uint32_t> data, scales, zeros, tensorScale;
  /// Bytes with the numbers of tables, of codebook elements.
  std::vector<uint32_t> metadata;
  /// Which elements were not pruned, 1 for each, 0 for others; empty if none
  /// was, or without zero points.
  std::vector<uint32_t> kept;
};

/// Quantizes to the op's type, which is static and dense, with zero points too.
/// `tensorScale` is empty if none is given.
ConstantParts quantizeConstant(QuantizeOp op, llvm::ArrayRef<float> values,
                               llvm::ArrayRef<float> tensorScale);

/// The values of a dense tensor as codes of `result`, a float.
std::vector<uint32_t> dequantizeConstant(ScaledTensorType type,
                                         const ConstantParts &parts,
                                         mlir::Type result);

} // namespace blockscale

#endif // BLOCKSCALE_LIB_DIALECT_BLOCKSCALE_TRANSFORMS_FOLD_CONSTANTQUANTIZE_H
