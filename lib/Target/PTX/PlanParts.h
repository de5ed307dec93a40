//===- PlanParts.h - parts of plans that all kernels have -------*- C++ -*-===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef BLOCKSCALE_LIB_TARGET_PTX_PLANPARTS_H
#define BLOCKSCALE_LIB_TARGET_PTX_PLANPARTS_H

#include "blockscale/HW/Layout.h"
#include "blockscale/Plan/Plan.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/IR/AffineExpr.h"

namespace blockscale {
class KernelAttr;

/// "bf16", "f32", ...
std::string planTypeName(mlir::Type type);

/// The parameters with the places that PTX gives them: in order, each at the
/// next multiple of its alignment.
mlir::FailureOr<std::vector<plan::Parameter>>
parametersOf(mlir::gpu::GPUFuncOp kernel);

/// Limits that depend on dynamic sizes.
mlir::FailureOr<std::vector<plan::Limit>> limitsOf(mlir::gpu::GPUFuncOp kernel);

/// The workspace of a kernel that has a parameter for one.
mlir::LogicalResult planWorkspace(mlir::gpu::GPUFuncOp kernel,
                                  KernelAttr attribute, plan::Kernel &result);

/// How elements of so many bits lie in their bytes.
std::string bitOrder(unsigned bits);

/// The byte of row `r` and block `j` of matrix `l` in `storage`; of element `k`
/// instead, if blocks of `blockSize` are counted in elements. Storage may have
/// a line for `rowsOfLine` rows, or one for all if these are 0.
plan::Expression
placeFormula(const hw::StorageLayout<mlir::AffineExpr> &storage,
             int64_t blockSize = 1, int64_t rowsOfLine = 1);

/// The extent of `source` with padding, times `unit`.
plan::Expression
paddedExtent(const hw::StorageLayout<mlir::AffineExpr> &storage, hw::Dim source,
             int64_t unit = 1);

} // namespace blockscale

#endif // BLOCKSCALE_LIB_TARGET_PTX_PLANPARTS_H
