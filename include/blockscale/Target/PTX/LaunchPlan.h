//===- LaunchPlan.h - the launch plan of compiled kernels -------*- C++ -*-===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Reads kernels at the kernel level of the dialect, after
// `blockscale-assign-memory`, and says what a host must know to launch them.
// Plan/Plan.h holds the plan itself.
//
//===----------------------------------------------------------------------===//

#ifndef BLOCKSCALE_TARGET_PTX_LAUNCHPLAN_H
#define BLOCKSCALE_TARGET_PTX_LAUNCHPLAN_H

#include "blockscale/Dialect/Blockscale/IR/Blockscale.h"
#include "blockscale/Plan/Plan.h"
#include "mlir/IR/BuiltinOps.h"
#include <string>
#include <vector>

namespace blockscale {

/// A matmul as it stood before it became a kernel. The kernel has its tiles
/// and loops; of the product's meaning only this tells.
struct Product {
  /// The function that held it.
  std::string sourceFunction;
  ScaledTensorType a, b;
  mlir::RankedTensorType d;
  /// Null where the product has none.
  mlir::RankedTensorType c, bias;
  bool alpha = false, beta = false;
  BiasKind biasKind = BiasKind::Column;
  std::optional<Activation> activation;
  /// With the operands as the instruction has them: exchanged if `schedule`
  /// says so.
  MmaAttr mma;
  ScheduleAttr schedule;
};

/// The products of `module` in the order in which `blockscale-form-kernels`
/// makes kernels of them. They need complete `mma` and `schedule` attributes;
/// those without are left out.
std::vector<Product> collectProducts(mlir::ModuleOp module);

/// The plan of all kernels of `module`, whose memory is assigned; `products`
/// are those that they were made from. Emits an error and fails if the two do
/// not fit together, if a kernel lacks its attributes, or if a function does
/// what no kernel does, unless `hostDuties` puts that into the plan too.
mlir::FailureOr<plan::Plan> buildLaunchPlan(mlir::ModuleOp module,
                                            llvm::ArrayRef<Product> products,
                                            bool hostDuties = false);

/// `expression` in the syntax of Plan/Expression.h. Symbols 0 to 5 are M, N,
/// K, batch, num_sms and max_clusters; there are no dimensions.
std::string printExpression(mlir::AffineExpr expression);

} // namespace blockscale

#endif // BLOCKSCALE_TARGET_PTX_LAUNCHPLAN_H
