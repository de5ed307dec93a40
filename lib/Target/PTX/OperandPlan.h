//===- OperandPlan.h - how operands of a product lie in memory --*- C++ -*-===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef BLOCKSCALE_LIB_TARGET_PTX_OPERANDPLAN_H
#define BLOCKSCALE_LIB_TARGET_PTX_OPERANDPLAN_H

#include "PlannedProduct.h"
#include "blockscale/Plan/Plan.h"

namespace blockscale {

/// Elements of A or B, which the kernel loads through `map`.
plan::DataPacking dataPacking(const PlannedProduct &product, bool isA,
                              TensorMapType map);
/// Scales of tiles that instructions read.
plan::ScalePacking scalePacking(const PlannedProduct &product, bool isA,
                                TensorMapType map);
/// The metadata of a sparse A.
plan::MetadataPacking metadataOf(const PlannedProduct &product,
                                 TensorMapType map);
/// What lies row by row: D, C, the bias, offsets of groups and row numbers.
std::vector<plan::PlainOperand> plainOperands(const PlannedProduct &product);
/// One factor for each matrix of the batch.
std::vector<plan::TensorScales> tensorScales(const PlannedProduct &product);
/// The scales of operands whose scales the epilogue reads.
std::vector<plan::VectorScales> vectorScales(const PlannedProduct &product);

/// How whoever packs makes the terms of zero points in real units.
std::vector<plan::ZeroTerms> zeroTermsOf(const PlannedProduct &product);

} // namespace blockscale

#endif // BLOCKSCALE_LIB_TARGET_PTX_OPERANDPLAN_H
