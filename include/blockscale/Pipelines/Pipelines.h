//===- Pipelines.h - named pipelines ----------------------------*- C++ -*-===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The order of the passes from matmuls on tensors to the LLVM dialect, and the
// levels in between at which a reader can stop.
//
//===----------------------------------------------------------------------===//

#ifndef BLOCKSCALE_PIPELINES_PIPELINES_H
#define BLOCKSCALE_PIPELINES_PIPELINES_H

#include "mlir/Pass/PassOptions.h"

namespace mlir {
class OpPassManager;
}

namespace blockscale {

/// What every pipeline that makes kernels of products can be told.
template <typename Derived>
struct ProductPipelineOptions : mlir::PassPipelineOptions<Derived> {
  template <typename T> using Option = mlir::detail::PassOptions::Option<T>;

  Option<std::string> target{*this, "target",
                             llvm::cl::desc("Chip to compile for, such as "
                                            "sm_100a or sm_103a, where the "
                                            "module names none")};
  Option<int64_t> expectedRows{
      *this, "expected-rows",
      llvm::cl::desc("Value of a dynamic M or N for the cost model"),
      llvm::cl::init(4096)};
  Option<std::string> dispatchRows{
      *this, "dispatch-rows",
      llvm::cl::desc("Up to how many rows products with an unknown number of "
                     "rows get kernels of their own, such as 16,512; auto for "
                     "what the model of time finds")};
  Option<bool> denseFallback{
      *this, "dense-fallback",
      llvm::cl::desc("Multiply sparse operands that no instruction takes as "
                     "dense ones"),
      llvm::cl::init(false)};
};

struct PipelineOptions : ProductPipelineOptions<PipelineOptions> {
  Option<bool> splitGroups{
      *this, "split-groups",
      llvm::cl::desc(
          "Write products with groups that the target has no kernels "
          "for as loops of products"),
      llvm::cl::init(false)};
  Option<bool> quantize{
      *this, "quantize",
      llvm::cl::desc("Make kernels of functions that only quantise or convert"),
      llvm::cl::init(true)};
  Option<bool> quantizeOperands{
      *this, "quantize-operands",
      llvm::cl::desc("Make kernels of what quantises operands of products"),
      llvm::cl::init(false)};
};

/// The levels of a program, from the top.
enum class Stage {
  /// Matmuls on tensors with their instruction and schedule.
  Tensor,
  /// Kernels with warp roles and tile loops, without addresses.
  Kernel,
  /// The same with all offsets, columns and scale ids.
  Assigned,
  /// Kernels in the NVVM dialect, `scf`, `arith`, `vector` and `math`.
  NVVM,
  /// Kernels in the LLVM and NVVM dialects, ready for translation.
  LLVM
};

/// Adds the passes that lead from matmuls on tensors to `stage`. `pm` runs on a
/// `builtin.module`. Host code keeps its level; kernels are in the `gpu.module`
/// that the passes make.
void buildPipelineTo(mlir::OpPassManager &pm, const PipelineOptions &options,
                     Stage stage);

/// Adds the passes before a schedule is chosen: products have their target, the
/// kind of their instruction and, with `quantize`, the mark that their kernels
/// quantise what they compute.
void buildLegalization(mlir::OpPassManager &pm, const PipelineOptions &options);

/// Adds the first of these passes: products become kernels that say what they
/// compute and not yet how, and know nothing of each other.
void buildKernelFormation(mlir::OpPassManager &pm,
                          const PipelineOptions &options);

/// The whole of it, to `Stage::LLVM`.
void buildPipeline(mlir::OpPassManager &pm, const PipelineOptions &options);

/// Adds the passes that lead from `from` to `to`, for modules that already are
/// at `from`; functions that only quantise become kernels with `quantize`.
void buildPipelineBetween(mlir::OpPassManager &pm, Stage from, Stage to,
                          bool quantize = true, bool quantizeOperands = false);

/// Registers `blockscale-pipeline`, which is `buildPipeline`.
void registerPipelines();

} // namespace blockscale

#endif // BLOCKSCALE_PIPELINES_PIPELINES_H
