//===- Groups.h - products of groups of rows --------------------*- C++ -*-===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef BLOCKSCALE_DIALECT_BLOCKSCALE_IR_GROUPS_H
#define BLOCKSCALE_DIALECT_BLOCKSCALE_IR_GROUPS_H

#include "blockscale/Dialect/Blockscale/IR/Blockscale.h"

namespace blockscale {

/// Why no kernel computes a product whose rows are in groups, with operands
/// swapped or not; empty if one can.
std::optional<Reason> whyNotGrouped(MmaAttr mma, bool isSwapped,
                                    int64_t splits);

/// Why no kernel computes one of which memory says how many rows of each matrix
/// of 'a' are there.
std::optional<Reason> whyNotMasked(int64_t splits);

/// Why no kernel computes a product whose rows are gathered by number, with
/// operands swapped or not, and with factors for the rows of 'a' or without;
/// empty if one can.
std::optional<Reason> whyNotGathered(bool isSwapped, bool hasRowFactors);

/// Whether the epilogue reads a scale for each row of 'a'.
bool hasRowFactors(MatmulOp op);

/// Elements of K that groups along K begin and end at multiples of in a kernel
/// with this instruction: as many as the shortest one of its kind adds up, as
/// tensor maps reach and, where sums are multiplied by scales of tiles of so
/// many elements of the operands in registers, else 0, as tiles have.
int64_t stepAlongK(MmaAttr mma, int64_t aBlock, int64_t bBlock);
int64_t stepAlongK(ScaledTensorType a, ScaledTensorType b, MmaAttr mma);
int64_t stepAlongK(KernelMatmulOp op);

/// Where groups end if the program says so, in any type; else null.
mlir::DenseIntElementsAttr knownEnds(mlir::Value offsets);

/// Why groups along K do not end where kernels let them, at multiples of `step`
/// elements or, where an instruction adds up as many, behind the last one of K,
/// if the program says where they end. Without a step: with what an instruction
/// of such elements has.
std::optional<Reason> whyNotEndsAlongK(MatmulOp op, int64_t step,
                                       int64_t ofInstruction);
std::optional<Reason> whyNotEndsAlongK(MatmulOp op);

/// What groups along K of a product end at multiples of in a kernel, for whose
/// instruction nobody has decided yet.
int64_t expectedStepAlongK(MatmulOp op);

/// Why no epilogue reads the scales of operands of these types, whose K is in
/// groups: those of whole matrices that all groups share come before others;
/// empty if one does.
std::optional<Reason> whyNotGroupsAlongK(ScaledTensorType a,
                                         ScaledTensorType b);

/// Why whole functions do not hand scales of such operands to a kernel: they
/// have longer tiles or more rows than an instruction has one for, so that a
/// host that knows the ends of groups repeats them; empty if they do.
std::optional<Reason> whyNotRepeatedAlongK(ScaledTensorType a,
                                           ScaledTensorType b);

/// Why no kernel computes a product whose K is in groups that end at multiples
/// of `step` elements; empty if one can.
std::optional<Reason> whyNotGroupedAlongK(MmaAttr mma, int64_t step,
                                          Scheduler scheduler, int64_t splits);

/// The most rows that the scales of `rows` rows in `groups` groups take where
/// each group starts at a multiple of 128 rows.
mlir::AffineExpr groupedScaleRows(mlir::AffineExpr rows,
                                  mlir::AffineExpr groups);

/// The most tiles of `unit` elements along K that the scales of a row take
/// where each of `groups` groups along K starts a new one.
mlir::AffineExpr groupedScaleTilesAlongK(mlir::AffineExpr k,
                                         mlir::AffineExpr groups, int64_t unit);

} // namespace blockscale

#endif // BLOCKSCALE_DIALECT_BLOCKSCALE_IR_GROUPS_H
