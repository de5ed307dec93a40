//===- Lowering.h - what the patterns of the conversion share ---*- C++ -*-===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef BLOCKSCALE_LIB_CONVERSION_BLOCKSCALETONVVM_LOWERING_H
#define BLOCKSCALE_LIB_CONVERSION_BLOCKSCALETONVVM_LOWERING_H

#include "blockscale/Dialect/Blockscale/IR/Blockscale.h"
#include "blockscale/HW/Memory.h"
#include "blockscale/HW/Target.h"
#include "blockscale/HW/TensorMap.h"
#include "blockscale/Upstream/NVVM.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"
#include "mlir/Transforms/DialectConversion.h"

namespace blockscale {

//===----------------------------------------------------------------------===//
// Address spaces
//===----------------------------------------------------------------------===//

using nvvm::AddressSpace;

using hw::kBarrierBytes;
using hw::kTensorMapAlignment;
using hw::kTensorMapBytes;
using hw::kWarpSize;

/// The name of the array of dynamic shared memory.
inline constexpr llvm::StringLiteral kSharedMemoryName =
    "blockscale_shared_memory";

//===----------------------------------------------------------------------===//
// Small pieces of code
//===----------------------------------------------------------------------===//

mlir::Value constantI32(mlir::ImplicitLocOpBuilder &b, int64_t value);

mlir::Value add(mlir::ImplicitLocOpBuilder &b, mlir::Value x, mlir::Value y);
mlir::Value add(mlir::ImplicitLocOpBuilder &b, mlir::Value x, int64_t y);

/// base + index * stride, all i32.
mlir::Value element(mlir::ImplicitLocOpBuilder &b, mlir::Value base,
                    mlir::Value index, int64_t stride);

/// Pointers into `space`.
mlir::LLVM::LLVMPointerType pointerType(mlir::MLIRContext *context,
                                        AddressSpace space);

/// The pointer with an i32 address in `space`.
mlir::Value pointer(mlir::ImplicitLocOpBuilder &b, mlir::Value address,
                    AddressSpace space);

/// Pointer to barrier `index` of an array at `barriers`.
mlir::Value barrierPointer(mlir::ImplicitLocOpBuilder &b, mlir::Value barriers,
                           mlir::Value index);

/// A word with all bits of those scales set that come before scale `valid`; the
/// word's own first scale is `first`.
mlir::Value scalesBelow(mlir::ImplicitLocOpBuilder &b, mlir::Value valid,
                        int64_t first);

/// The mask of CTAs as instructions take it; null stays null.
mlir::Value multicastMask(mlir::ImplicitLocOpBuilder &b, mlir::Value mask);

/// The address in the cluster's window of what lies at the shared address
/// `address` in the CTA with `rank`.
mlir::Value mapToRank(mlir::ImplicitLocOpBuilder &b, mlir::Value address,
                      mlir::Value rank);

/// The thread's number in its CTA.
mlir::Value threadIndex(mlir::ImplicitLocOpBuilder &b);

//===----------------------------------------------------------------------===//
// Patterns by theme
//===----------------------------------------------------------------------===//

/// warps, elect, tile_coordinates and the ids of gpu ops.
void populateRolePatterns(const mlir::TypeConverter &converter,
                          mlir::RewritePatternSet &patterns);
/// Ranks and barriers of clusters, cluster launch control, dependent launches.
void populateClusterPatterns(const mlir::TypeConverter &converter,
                             mlir::RewritePatternSet &patterns);
/// What all CTAs of a grid do together.
void populateGridPatterns(const mlir::TypeConverter &converter,
                          mlir::RewritePatternSet &patterns);
/// mbarriers, TMA loads and accesses to scales in shared memory.
void populateSharedPatterns(const mlir::TypeConverter &converter,
                            mlir::RewritePatternSet &patterns);
/// Everything that becomes a tcgen05 op.
void populateTcgen05Patterns(const mlir::TypeConverter &converter,
                             mlir::RewritePatternSet &patterns);
/// Fragments, scales in registers and mma.sync.
void populateWarpPatterns(const mlir::TypeConverter &converter,
                          mlir::RewritePatternSet &patterns);
/// Rows in global memory.
void populateRowPatterns(const mlir::TypeConverter &converter,
                         mlir::RewritePatternSet &patterns);
/// Codes, and functions of `math`.
void populateEpiloguePatterns(const mlir::TypeConverter &converter,
                              mlir::RewritePatternSet &patterns);
/// Boxes in shared memory that TMA stores, and sums that CTAs exchange.
void populateStorePatterns(const mlir::TypeConverter &converter,
                           mlir::RewritePatternSet &patterns);
/// Which functions of `math` the chip has an instruction for.
void populateEpilogueLegality(mlir::ConversionTarget &target);

} // namespace blockscale

#endif // BLOCKSCALE_LIB_CONVERSION_BLOCKSCALETONVVM_LOWERING_H
