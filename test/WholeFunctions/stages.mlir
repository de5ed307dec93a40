// The stages of a whole function; what one prints the passes of the next read.

// RUN: blockscale compile --emit=host-linalg %s -o %t.linalg.mlir
// RUN: FileCheck %s --check-prefix=LINALG < %t.linalg.mlir
// RUN: blockscale compile --emit=host-memref %s -o %t.memref.mlir
// RUN: FileCheck %s --check-prefix=MEMREF < %t.memref.mlir
// RUN: blockscale compile --emit=host-llvm %s -o %t.llvm.mlir
// RUN: FileCheck %s --check-prefix=LLVM < %t.llvm.mlir
// RUN: blockscale-opt %s --blockscale-to-host="stage=memref" | FileCheck %s --check-prefix=MEMREF
// RUN: blockscale-opt %t.memref.mlir --convert-blockscale-to-runtime | FileCheck %s --check-prefix=CALL
// RUN: mlir-translate --mlir-to-llvmir %t.llvm.mlir | FileCheck %s --check-prefix=IR

// LINALG-LABEL: func.func @twice
// LINALG: blockscale.launch_into @kernels::@twice
// LINALG: arith.addf
// LINALG: blockscale.launch_into @kernels::@twice_1
// LINALG: gpu.module @kernels attributes {blockscale.plan = "{
// LINALG: blockscale.mma

// MEMREF-LABEL: func.func @twice
// MEMREF-SAME: memref<?x256xf8E4M3FN>, %{{.*}}: memref<?x2x32x16xf8E8M0FNU>
// MEMREF: blockscale.launch_into @kernels::@twice
// MEMREF-SAME: outs(%[[Y:.*]] : memref<?x64xf32>)
// MEMREF: linalg.generic
// MEMREF: blockscale.launch_into @kernels::@twice_1
// MEMREF: memref.dealloc
// MEMREF: gpu.binary @kernels [#gpu.object<#nvvm.target<O = 3, chip = "sm_100a">, properties = {blockscale.plan = "{
// MEMREF-SAME: assembly = "//

// CALL-NOT: blockscale.launch
// CALL-NOT: gpu.binary
// CALL-DAG: llvm.mlir.global internal @blockscale_kernels() {{.*}} : !llvm.struct<(ptr, i64, ptr, i64, ptr)>
// CALL-DAG: llvm.func @blockscaleRuntimeRun(!llvm.ptr, !llvm.ptr, !llvm.ptr, i64)
// CALL: llvm.call @blockscaleRuntimeRun
// CALL: llvm.call @blockscaleRuntimeRun

// LLVM-NOT: blockscale.
// LLVM: llvm.func @_mlir_ciface_twice
// IR: call void @blockscaleRuntimeRun(ptr @blockscale_kernels, ptr @blockscale_twice, ptr %{{.*}}, i64 5)

!x = !blockscale.tensor<?x256xf8E4M3FN, "e8m0_t32", layout = tiled_128x4>
!w = !blockscale.tensor<64x256xf8E4M3FN, "e8m0_t32", layout = tiled_128x4>
!h = !blockscale.tensor<?x64xf8E4M3FN, "e8m0_t32", layout = tiled_128x4>
!v = !blockscale.tensor<64x64xf8E4M3FN, "e8m0_t32", layout = tiled_128x4>
module attributes {blockscale.target = #blockscale.target<sm_100a>} {
func.func @twice(%x: !x, %w: !w, %v: !v) -> tensor<?x64xf32> {
  %y = blockscale.matmul %x, %w : !x, !w -> tensor<?x64xf32>
  %z = arith.addf %y, %y : tensor<?x64xf32>
  %h = blockscale.quantize %z : tensor<?x64xf32> to !h
  %r = blockscale.matmul %h, %v : !h, !v -> tensor<?x64xf32>
  return %r : tensor<?x64xf32>
}
}
