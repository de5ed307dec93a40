//===- ElementwiseSource.h - sources whose threads work alone ---*- C++ -*-===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What sources of kernels have in common that multiply nothing: those that
// quantise and those that convert.
//
//===----------------------------------------------------------------------===//

#ifndef BLOCKSCALE_LIB_DIALECT_BLOCKSCALE_TRANSFORMS_KERNELS_ELEMENTWISESOURCE_H
#define BLOCKSCALE_LIB_DIALECT_BLOCKSCALE_TRANSFORMS_KERNELS_ELEMENTWISESOURCE_H

#include "StorageAccess.h"
#include "blockscale/Dialect/Blockscale/Transforms/KernelSource.h"

namespace blockscale {

/// Whether the function around `op` does nothing else.
bool isWholeFunction(mlir::Operation *op);

/// Why the 32-bit arithmetic of kernels does not reach all rows, elements of K
/// or matrices.
std::optional<Reason> whyNotReached(const QuantizedStorage &storage);

/// Why so many threads of a kernel are too many.
std::optional<Reason> whyNotCounted(mlir::AffineExpr threads);

/// Adds a parameter for each size that only the launch knows.
void addSizes(const QuantizedStorage &storage,
              llvm::SmallVectorImpl<KernelParameter> &parameters);

/// As i32.
struct LaunchSizes {
  mlir::Value rows, k, batch;
};

/// The sizes of a launch, from its parameters or constants.
LaunchSizes
launchSizes(const QuantizedStorage &storage, mlir::ImplicitLocOpBuilder &b,
            llvm::function_ref<mlir::Value(ParameterRole)> argument);

/// The parameters of a kernel that computes numbers from a scaled tensor;
/// scales, zero points and the tensor scale are null where the type has none.
struct ScaledOperandArguments {
  mlir::Value data, scales, zeros, tensorScale, result;
  LaunchSizes sizes;
};

/// Those of operand A and result D.
ScaledOperandArguments
scaledOperandArguments(const QuantizedStorage &storage,
                       mlir::ImplicitLocOpBuilder &b,
                       llvm::function_ref<mlir::Value(ParameterRole)> argument);

/// The part of the interface that is alike where a source is all of its
/// function and there is nothing to choose; `whyNotKernel` of the op says what
/// cannot be.
template <typename Model, typename OpT>
struct ElementwiseModel : KernelSourceOpInterface::ExternalModel<Model, OpT> {
  bool isWanted(mlir::Operation *op) const { return isWholeFunction(op); }
  mlir::LogicalResult legalize(mlir::Operation *, hw::Target, bool) const {
    return mlir::success();
  }
  mlir::LogicalResult selectSchedule(mlir::Operation *, hw::Target,
                                     int64_t) const {
    return mlir::success();
  }
  mlir::LogicalResult checkReady(mlir::Operation *op) const {
    if (std::optional<Reason> why = whyNotKernel(mlir::cast<OpT>(op)))
      return op->emitOpError() << why->text;
    return mlir::success();
  }
};

/// How a kernel is launched that has a thread for each of `count` things.
KernelAttr elementwiseLaunch(mlir::AffineExpr count);
/// The same of `ctas` with so many threads.
KernelAttr elementwiseLaunch(mlir::AffineExpr ctas, int64_t threads);

} // namespace blockscale

#endif // BLOCKSCALE_LIB_DIALECT_BLOCKSCALE_TRANSFORMS_KERNELS_ELEMENTWISESOURCE_H
