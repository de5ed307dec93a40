//===- PlanExpressions.h - affine expressions as text of plans -*- C++ -*-===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef BLOCKSCALE_LIB_TARGET_PTX_PLANEXPRESSIONS_H
#define BLOCKSCALE_LIB_TARGET_PTX_PLANEXPRESSIONS_H

#include "blockscale/Plan/Plan.h"
#include "mlir/IR/AffineMap.h"

namespace blockscale {

/// How tightly the outermost operator of a printed expression binds.
enum class Binding { Sum, Product, Atom };

/// `expression`, in parentheses if it binds less tightly than its place needs.
std::string printAt(mlir::AffineExpr expression, Binding needed);

std::vector<plan::Expression> printResults(mlir::AffineMap map);

/// The minimum of the map's results.
plan::Expression printMinimum(mlir::AffineMap map);

} // namespace blockscale

#endif // BLOCKSCALE_LIB_TARGET_PTX_PLANEXPRESSIONS_H
