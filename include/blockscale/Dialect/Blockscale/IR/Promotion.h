//===- Promotion.h - tile scales applied in registers -----------*- C++ -*-===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef BLOCKSCALE_DIALECT_BLOCKSCALE_IR_PROMOTION_H
#define BLOCKSCALE_DIALECT_BLOCKSCALE_IR_PROMOTION_H

#include "blockscale/Dialect/Blockscale/IR/Blockscale.h"

namespace blockscale {

/// The format of scales that are bytes where kernels multiply sums by them:
/// ue8m0, ue4m3, ue5m3 and e5m2; none for longer ones and for others.
std::optional<ElementFormat> byteFactor(const NumberSpec &scale);

/// Whether numbers of that type are bytes that no instruction converts and
/// kernels decode where they multiply sums by them: f8E4M3FNUZ, f8E5M2FNUZ,
/// f8E4M3B11FNUZ and f8E3M4.
bool isDecodedFactor(mlir::Type type);

/// Whether kernels multiply sums by scales of that format: they are such bytes,
/// or float32, float16 or bfloat16.
bool isFactor(mlir::MLIRContext *context, const NumberSpec &scale);

/// Whether the operand has scales of tiles along K that no instruction reads,
/// float ones or, with its elements, bytes: the sum over each block of K is
/// multiplied by them in registers and added to those of the blocks before, it
/// is promoted.
bool hasPromotedScales(ScaledTensorType type);

/// The same beside `other`: no instruction reads scales beside elements of 16
/// bits, nor ue4m3, ue5m3 and tiles of 16 beside others than e2m1, nor scales
/// of two formats.
bool hasPromotedScales(ScaledTensorType type, ScaledTensorType other);

/// Whether it has scales of tiles along K that instructions read beside
/// `other`.
bool hasBlockScales(ScaledTensorType type, ScaledTensorType other);

/// The same as hasPromotedScales() of scales that are bytes with a fraction,
/// ue4m3 and ue5m3, which instructions read beside e2m1 alone.
bool hasPromotedFractions(const ScaleSpec &spec, mlir::Type element);

/// Elements of K in such a block: those of the shorter tile where both operands
/// have such scales, 0 where neither has.
int64_t promotionBlock(int64_t aBlock, int64_t bBlock);
int64_t promotionBlock(ScaledTensorType a, ScaledTensorType b);

/// Columns of an instruction that share such a scale, at the least, where the
/// operands change sides with `swap`; 0 if all do.
int64_t columnsOfScale(ScaledTensorType a, ScaledTensorType b, bool swap);

/// Columns of a tile, at the most, of a kernel with this instruction, null
/// where none is chosen, on tensor memory that promotes such sums and whose
/// result has blocks of `columnsOfResult` columns, 0 if it is not quantised.
int64_t mostPromotedColumns(MmaAttr mma, int64_t block, int64_t columnsOfScale,
                            int64_t columnsOfResult);

/// Why a kernel with this instruction and schedule does not promote the sums of
/// blocks of `block` elements under scales of `columnsOfScale` columns; empty
/// if it does, or `block` is 0. A block of the result, if it is quantised, is
/// made of `columnsOfResult` columns, else 0.
std::optional<Reason> whyNotPromotion(MmaAttr mma, ScheduleAttr schedule,
                                      int64_t block, int64_t columnsOfScale,
                                      int64_t columnsOfResult,
                                      hw::Target target);

/// Groups of four warps that promote side by side, and the columns of each: a
/// thread keeps the sums of one row of them.
int64_t promotingGroups(int64_t tileN);
int64_t promotedColumns(int64_t tileN);

} // namespace blockscale

#endif // BLOCKSCALE_DIALECT_BLOCKSCALE_IR_PROMOTION_H
