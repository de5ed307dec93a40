//===- Passes.td - launches to calls ------------------------*- tablegen -*-===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef BLOCKSCALE_CONVERSION_BLOCKSCALETORUNTIME_PASSES_TD
#define BLOCKSCALE_CONVERSION_BLOCKSCALETORUNTIME_PASSES_TD

include "mlir/Pass/PassBase.td"

def ConvertBlockscaleToRuntime
    : Pass<"convert-blockscale-to-runtime", "::mlir::ModuleOp"> {
  let summary = "Convert launches on memory to calls of the runtime";
  let description = [{
    Each `blockscale.launch_into` on memrefs becomes a call of
    `blockscaleRuntimeRun` (include/blockscale-runtime/Runtime.h) with the
    operands' addresses, sizes and strides. Each `gpu.binary` that
    `blockscale-serialize-kernels` made becomes the constants that the call
    passes: the launch plan and the code of the kernels. Attributes of ours that
    name the target have done their work and go.

    Before:
    ```mlir
    blockscale.launch_into @kernels::@proj ["a_data", ...] ins(%x, ... : memref<?x256xf8E4M3FN>, ...) outs(%d : memref<?x64xf32>)
    ```
    With `gpu-launch` the launch itself is a `gpu.launch_func` of the binary,
    which stays, for compilers that have upstream's runtime of the GPU: calls
    before it copy the operands, make the tensor maps and give the grid, one after
    it copies the result back.

    After:
    ```mlir
    %kernels = llvm.mlir.addressof @kernels : !llvm.ptr
    ...
    llvm.call @blockscaleRuntimeRun(%kernels, %name, %operands, %count) : (!llvm.ptr, !llvm.ptr, !llvm.ptr, i64) -> ()
    ```
  }];
  let options = [Option<"gpuLaunch", "gpu-launch", "bool", /*default=*/"false",
                        "Launch by gpu.launch_func">];
  let dependentDialects = [
    "::mlir::LLVM::LLVMDialect", "::mlir::arith::ArithDialect",
    "::mlir::gpu::GPUDialect", "::mlir::scf::SCFDialect"];
}

def StructureLoops : Pass<"blockscale-structure-loops"> {
  let summary = "Write loops of blocks as loops of scf";
  let description = [{
    Of functions on tensors, before they are bufferized: a region of blocks that
    has a loop, or a branch to more than two places, becomes `scf.while`,
    `scf.if` and `scf.index_switch`. Others stay as they are. Tensors of
    `ub.poison`, which nobody reads, become empty ones.

    Before:
    ```mlir
      cf.br ^head(%x : tensor<4xf32>)
    ^head(%v: tensor<4xf32>):
      %w = arith.negf %v : tensor<4xf32>
      cf.cond_br %again, ^head(%w : tensor<4xf32>), ^end
    ```
    After:
    ```mlir
      %r = scf.while (%v = %x) : (tensor<4xf32>) -> tensor<4xf32> {
        %w = arith.negf %v : tensor<4xf32>
        scf.condition(%again) %w : tensor<4xf32>
      } do {
      ^bb0(%w: tensor<4xf32>):
        scf.yield %w : tensor<4xf32>
      }
    ```
  }];
  let dependentDialects = [
    "::mlir::arith::ArithDialect", "::mlir::cf::ControlFlowDialect",
    "::mlir::scf::SCFDialect", "::mlir::tensor::TensorDialect",
    "::mlir::ub::UBDialect"];
}

def DecomposeHostOps : Pass<"blockscale-decompose-host-ops"> {
  let summary = "Write ops that are several loops as several ops";
  let description = [{
    `linalg.softmax`, `linalg.pack`, `linalg.unpack`, `tensor.concat` and their
    like have no loops or no buffers of their own; what they are made of has.
    `scf.index_switch` of tensors, of which MLIR 22's bufferization makes wrong
    code, becomes one `scf.if` in another.
  }];
  let dependentDialects = [
    "::mlir::affine::AffineDialect", "::mlir::arith::ArithDialect",
    "::mlir::linalg::LinalgDialect", "::mlir::math::MathDialect",
    "::mlir::scf::SCFDialect", "::mlir::tensor::TensorDialect"];
}

def RequireBufferizable
    : Pass<"blockscale-require-bufferizable", "::mlir::ModuleOp"> {
  let summary = "Refuse what upstream's bufferization does not know";
  let description = [{
    Names each op on tensors outside of modules of kernels that has no
    `BufferizableOpInterface`, with its place.
  }];
}

def ExpandCopies : Pass<"blockscale-expand-copies"> {
  let summary = "Write copies of memory as linalg";
  let description = [{
    `memref.copy` of memrefs that are not contiguous becomes a call of a library
    of upstream's; as `linalg.generic` it becomes loops.
  }];
  let dependentDialects = ["::mlir::linalg::LinalgDialect"];
}

def RequireLLVM : Pass<"blockscale-require-llvm", "::mlir::ModuleOp"> {
  let summary = "Refuse what no pass has lowered to the LLVM dialect";
  let description = [{
    Names each op outside of modules of kernels that is not of the LLVM dialect,
    with its place.
  }];
}

#endif // BLOCKSCALE_CONVERSION_BLOCKSCALETORUNTIME_PASSES_TD
