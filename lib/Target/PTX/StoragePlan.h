//===- StoragePlan.h - the plan of a scaled tensor in memory ----*- C++ -*-===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef BLOCKSCALE_LIB_TARGET_PTX_STORAGEPLAN_H
#define BLOCKSCALE_LIB_TARGET_PTX_STORAGEPLAN_H

#include "blockscale/Dialect/Blockscale/IR/Quantization.h"
#include "blockscale/HW/Metadata.h"
#include "blockscale/Plan/Plan.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"

namespace blockscale {

/// What threads read and write at once, which addresses have to suit.
inline constexpr unsigned kPlannedAccessBytes = 16;

/// How the elements and the scales of `operand` lie.
plan::DataPacking dataPacking(const QuantizedStorage &storage,
                              llvm::StringRef operand);
plan::ScalePacking scalePacking(const QuantizedStorage &storage,
                                ScaledTensorType type, llvm::StringRef operand);
plan::VectorScales floatScales(const QuantizedStorage &storage,
                               llvm::StringRef operand);

/// How the metadata of `operand` lie, but for the alignment of its address.
plan::MetadataPacking
metadataPacking(hw::SparsePattern pattern,
                const hw::StorageLayout<mlir::AffineExpr> &storage,
                mlir::AffineExpr batch, llvm::StringRef operand);

/// Name, grid, sizes and parameters of a kernel that multiplies nothing, and
/// what whole blocks along K ask of the sizes.
mlir::LogicalResult planElementwise(mlir::gpu::GPUFuncOp kernel,
                                    KernelAttr attribute,
                                    const QuantizedStorage &storage,
                                    plan::Kernel &result);

} // namespace blockscale

#endif // BLOCKSCALE_LIB_TARGET_PTX_STORAGEPLAN_H
