//===- Passes.td - kernels as data of the host -------------*- tablegen -*-===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef BLOCKSCALE_TARGET_PTX_PASSES_TD
#define BLOCKSCALE_TARGET_PTX_PASSES_TD

include "mlir/Pass/PassBase.td"

def AttachPlan : Pass<"blockscale-attach-plan", "::mlir::ModuleOp"> {
  let summary = "Write the launch plan of each module of kernels beside them";
  let description = [{
    Sets `blockscale.plan` on each `gpu.module` that holds kernels of ours: the
    launch plan (docs/launch-plan.md) as JSON, without functions. The kernels
    have their memory assigned (`blockscale-assign-memory`) and are not lowered
    further yet. What this pass says of them the later forms no longer tell.
  }];
  let dependentDialects = ["::blockscale::BlockscaleDialect"];
}

def SerializeKernels : Pass<"blockscale-serialize-kernels", "::mlir::ModuleOp"> {
  let summary = "Compile modules of kernels to PTX or machine code";
  let description = [{
    Each `gpu.module` with a `blockscale.plan`, whose kernels are in the LLVM
    dialect, becomes a `gpu.binary` of the same name with one object: PTX, or a
    cubin where `ptxas` names an assembler. The plan is its property
    `blockscale.plan`.

    Before:
    ```mlir
    gpu.module @kernels attributes {blockscale.plan = "{...}"} {
      llvm.func @proj(...) attributes {nvvm.kernel} {...}
    }
    ```
    After:
    ```mlir
    gpu.binary @kernels [#gpu.object<#nvvm.target<chip = "sm_100a">, properties = {blockscale.plan = "{...}"}, assembly = "...">]
    ```
  }];
  let options = [Option<"ptxas", "ptxas", "std::string", /*default=*/"",
                        "CUDA's assembler, for a cubin in place of PTX">];
  let dependentDialects = ["::mlir::gpu::GPUDialect"];
}

#endif // BLOCKSCALE_TARGET_PTX_PASSES_TD
