//===- HostPipeline.h - whole functions to host code ------------*- C++ -*-===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// From functions of products and any ops around them to functions that a host
// calls: kernels for the products, upstream's way for the rest.
//
//===----------------------------------------------------------------------===//

#ifndef BLOCKSCALE_PIPELINES_HOSTPIPELINE_H
#define BLOCKSCALE_PIPELINES_HOSTPIPELINE_H

#include "blockscale/Pipelines/Pipelines.h"

namespace mlir {
class DialectRegistry;
} // namespace mlir

namespace blockscale {

/// The levels of a module on its way to host code.
enum class HostStage {
  /// Kernels with all addresses and their launch plans; functions in `linalg`,
  /// `tensor`, `arith`, ..., with `blockscale.launch_into` on tensors.
  Linalg,
  /// Kernels compiled; functions on memrefs, with buffers freed.
  MemRef,
  /// Functions in the LLVM dialect that call the runtime.
  LLVM
};

struct HostPipelineOptions : ProductPipelineOptions<HostPipelineOptions> {
  Option<bool> onHost{*this, "on-host",
                      llvm::cl::desc("Compute the products on the host too, "
                                     "without kernels"),
                      llvm::cl::init(false)};
  Option<bool> quantizeOperands{
      *this, "quantize-operands",
      llvm::cl::desc("Run kernels, not host code, for what quantises operands "
                     "of products"),
      llvm::cl::init(false)};
  Option<bool> gpuLaunch{
      *this, "gpu-launch",
      llvm::cl::desc("Launch kernels by gpu.launch_func, for "
                     "upstream's runtime of the GPU"),
      llvm::cl::init(false)};
  Option<std::string> ptxas{
      *this, "ptxas",
      llvm::cl::desc("CUDA's assembler, to embed machine code and not PTX")};
  Option<HostStage> stage{
      *this, "stage", llvm::cl::desc("Where to stop"),
      llvm::cl::init(HostStage::LLVM),
      llvm::cl::values(
          clEnumValN(HostStage::Linalg, "linalg", "functions on tensors"),
          clEnumValN(HostStage::MemRef, "memref", "functions on memory"),
          clEnumValN(HostStage::LLVM, "llvm",
                     "functions in the LLVM dialect"))};
};

/// Adds the passes from matmuls on tensors to `options.stage`. `pm` runs on a
/// `builtin.module`, in a context that knows `registerHostExtensions`.
/// Tensors in signatures become contiguous memrefs, scaled tensors those of
/// their parts; results are the caller's to free. Public functions get a C
/// interface (`_mlir_ciface_NAME`).
void buildHostPipeline(mlir::OpPassManager &pm,
                       const HostPipelineOptions &options);

/// The same for modules whose products are at `from` already, which is at most
/// `Stage::Assigned`.
void buildHostPipelineFrom(mlir::OpPassManager &pm,
                           const HostPipelineOptions &options, Stage from);

/// Registers what bufferization needs to know of upstream's dialects and ours.
void registerHostExtensions(mlir::DialectRegistry &registry);

/// Registers `blockscale-to-host`, which is `buildHostPipeline`.
void registerHostPipeline();

} // namespace blockscale

#endif // BLOCKSCALE_PIPELINES_HOSTPIPELINE_H
