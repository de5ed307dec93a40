// RUN: blockscale-opt %s -blockscale-pipeline='target=sm_103a' -o %t.1.mlir
// RUN: FileCheck %s --implicit-check-not='{{ (arith|cf|math|scf|vector|index)\.[a-z_]+ }}' --implicit-check-not=llvm.call --implicit-check-not=unrealized < %t.1.mlir
// RUN: blockscale-opt %s -blockscale-pipeline='target=sm_103a' -mlir-disable-threading -o %t.2.mlir
// RUN: diff %t.1.mlir %t.2.mlir

// The whole way from a matmul to the LLVM dialect. The same input gives the same
// output, whatever the threads do.

!a = !blockscale.tensor<?x8192xf4E2M1FN, "multi_float32_e4m3fn_t16", layout = tiled_128x4>
!b = !blockscale.tensor<10240x8192xf4E2M1FN, "multi_float32_e4m3fn_t16", layout = tiled_128x4>

// CHECK-LABEL: func.func @qkv
// CHECK-NEXT: %[[Y:.*]] = blockscale.launch @kernels::@qkv(
// CHECK-NEXT: return %[[Y]]
func.func @qkv(%x: !a, %w: !b) -> tensor<?x10240xbf16> {
  %y = blockscale.matmul %x, %w schedule(#blockscale.schedule<tile_n = 256, swap_operands = false, cta_group = 1, mma_k = 64>) : !a, !b -> tensor<?x10240xbf16>
  return %y : tensor<?x10240xbf16>
}

// CHECK: gpu.module @kernels attributes {blockscale.target = #blockscale.target<sm_103a>} {
// CHECK: llvm.mlir.global external @blockscale_shared_memory()
// CHECK: llvm.func @qkv(
// CHECK-SAME: llvm.align = 64 : i64, llvm.byval = !llvm.array<128 x i8>, nvvm.grid_constant
// CHECK-SAME: blockscale.kernel = #blockscale.kernel<grid =
// CHECK-SAME: nvvm.kernel, nvvm.minctasm = 1 : i32, nvvm.reqntid = array<i32: 320>
// One stage is 256 elements along K: 4 copies of A's scales, 8 of B's, then 4
// MMAs, and K has no tail.
// CHECK-COUNT-12: nvvm.tcgen05.cp
// CHECK-COUNT-4: nvvm.tcgen05.mma.block_scale
// CHECK-NOT: nvvm.tcgen05.{{cp|mma}}
// CHECK: nvvm.tcgen05.dealloc
