//===- Passes.td - kernels to the NVVM dialect -------------*- tablegen -*-===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef BLOCKSCALE_CONVERSION_BLOCKSCALETONVVM_PASSES_TD
#define BLOCKSCALE_CONVERSION_BLOCKSCALETONVVM_PASSES_TD

include "mlir/Pass/PassBase.td"

def ConvertBlockscaleToNVVM
    : Pass<"convert-blockscale-to-nvvm", "::mlir::gpu::GPUModuleOp"> {
  let summary = "Convert kernels of the dialect to the NVVM dialect";
  let description = [{
    Converts each `gpu.func` with a `blockscale.kernel` attribute to an
    `llvm.func` with `nvvm.kernel`; other functions stay. The kernel must have
    been through `blockscale-assign-memory` and `blockscale-assign-steps`:
    what has no place yet is an error that names the pass to run.

    Afterwards no op or type of the dialect is left in the kernel; control flow
    is still in `scf`, arithmetic in `arith`, `math` and `vector`, and
    `convert-blockscale-kernels-to-llvm` takes it further. The attributes
    `blockscale.kernel` and `blockscale.parameter` stay for the host.

    | before | after |
    |---|---|
    | `!blockscale.shared`, `!blockscale.barrier` | `i32`, a byte address in shared memory |
    | `!blockscale.tmem` | `i32`, a tensor-memory address |
    | `!blockscale.tensor_map` | `!llvm.ptr`, a `nvvm.grid_constant` parameter |
    | `!blockscale.global` | `!llvm.ptr<1>` |

    Before:
    ```mlir
    blockscale.commit %empty[%stage] : !blockscale.barrier<4>
    ```
    After:
    ```mlir
    %offset = arith.muli %stage, %c8 : i32
    %address = arith.addi %empty, %offset : i32
    %pointer = llvm.inttoptr %address : i32 to !llvm.ptr<3>
    nvvm.tcgen05.commit %pointer : !llvm.ptr<3>
    ```
  }];
  let dependentDialects = [
    "::mlir::arith::ArithDialect", "::mlir::LLVM::LLVMDialect",
    "::mlir::math::MathDialect", "::mlir::scf::SCFDialect",
    "::mlir::vector::VectorDialect"];
}

def ConvertKernelsToLLVM
    : Pass<"convert-blockscale-kernels-to-llvm", "::mlir::gpu::GPUModuleOp"> {
  let summary = "Convert what is left in kernels to the LLVM dialect";
  let description = [{
    Takes the `arith`, `cf`, `index`, `math` and `vector` ops of a `gpu.module`
    whose functions are `llvm.func` to the LLVM dialect in one conversion.
    Upstream's passes do the same one dialect at a time, and that for `cf` on a
    whole `builtin.module`, the host's code included. Run
    `convert-scf-to-cf` before it. An op without a conversion is an error. The
    attributes `blockscale.parameter` go: LLVM IR has no place for them.

    Before:
    ```mlir
    %address = arith.addi %base, %offset : i32
    ```
    After:
    ```mlir
    %address = llvm.add %base, %offset : i32
    ```
  }];
  let dependentDialects = ["::mlir::LLVM::LLVMDialect"];
}

#endif // BLOCKSCALE_CONVERSION_BLOCKSCALETONVVM_PASSES_TD
