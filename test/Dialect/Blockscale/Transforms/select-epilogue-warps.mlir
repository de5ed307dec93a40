// Eight warps store by themselves where they make the epilogue shorter: where CTAs of a
// cluster meet while the last stores run, or a chunk of columns waits for what it loads.
// Four where the port for stores decides, where all columns that accumulators share are
// one chunk of four warps, and with TMA. Of tiles in halves they load a half at once.

// RUN: blockscale-opt %s -blockscale-attach-target=target=sm_100a -blockscale-legalize-scales -blockscale-select-schedule | FileCheck %s --implicit-check-not=epilogue_warps

!a = !blockscale.tensor<2048x4096xf4E2M1FN, "e4m3fn_t16", layout = tiled_128x4>
!b = !blockscale.tensor<4096x4096xf4E2M1FN, "e4m3fn_t16", layout = tiled_128x4>

// CHECK-LABEL: func.func @pair(
// CHECK: cta_group = 2, {{.*}}epilogue_warps = 8>
func.func @pair(%a: !a, %b: !b) -> tensor<2048x4096xbf16> {
  %0 = blockscale.matmul %a, %b : !a, !b -> tensor<2048x4096xbf16>
  return %0 : tensor<2048x4096xbf16>
}

// CHECK-LABEL: func.func @wished(
// CHECK: cta_group = 2, {{.*}}epilogue_warps = 4>
func.func @wished(%a: !a, %b: !b) -> tensor<2048x4096xbf16> {
  %0 = blockscale.matmul %a, %b schedule(#blockscale.schedule<epilogue_warps = 4>) : !a, !b -> tensor<2048x4096xbf16>
  return %0 : tensor<2048x4096xbf16>
}

// CHECK-LABEL: func.func @one_cta(
// CHECK: cta_group = 1,
func.func @one_cta(%a: !a, %b: !b) -> tensor<2048x4096xbf16> {
  %0 = blockscale.matmul %a, %b schedule(#blockscale.schedule<tile_n = 128, cta_group = 1, cluster_m = 1, cluster_n = 1, swap_operands = false>) : !a, !b -> tensor<2048x4096xbf16>
  return %0 : tensor<2048x4096xbf16>
}

// CHECK-LABEL: func.func @addend(
// CHECK: cta_group = 1, {{.*}}epilogue_warps = 8>
func.func @addend(%a: !a, %b: !b, %c: tensor<2048x4096xbf16>) -> tensor<2048x4096xbf16> {
  %0 = blockscale.matmul %a, %b c(%c) schedule(#blockscale.schedule<tile_n = 128, cta_group = 1, cluster_m = 1, cluster_n = 1, swap_operands = false, stream_k = 1>) : !a, !b, tensor<2048x4096xbf16> -> tensor<2048x4096xbf16>
  return %0 : tensor<2048x4096xbf16>
}

// C of a chunk comes while another one is stored, for whose f32 the port is busy.
// CHECK-LABEL: func.func @wide_addend(
// CHECK: cta_group = 2,
!m = !blockscale.tensor<512x2048xf8E4M3FN, "e8m0_t32", layout = tiled_128x4>
!n = !blockscale.tensor<7168x2048xf8E4M3FN, "e8m0_t32", layout = tiled_128x4>
func.func @wide_addend(%a: !m, %b: !n, %c: tensor<512x7168xf32>) -> tensor<512x7168xf32> {
  %0 = blockscale.matmul %a, %b c(%c) : !m, !n, tensor<512x7168xf32> -> tensor<512x7168xf32>
  return %0 : tensor<512x7168xf32>
}

// CHECK-LABEL: func.func @boxes(
// CHECK: cta_group = 2, {{.*}}stores = tma>
func.func @boxes(%a: !a, %b: !b) -> tensor<2048x4096xbf16> {
  %0 = blockscale.matmul %a, %b schedule(#blockscale.schedule<stores = tma>) : !a, !b -> tensor<2048x4096xbf16>
  return %0 : tensor<2048x4096xbf16>
}

// CHECK-LABEL: func.func @groups(
// CHECK: tile_n = 256, {{.*}}cta_group = 2
!x = !blockscale.tensor<?x4096xf8E4M3FN, "e8m0_t32", layout = grouped_128x4>
!w = !blockscale.tensor<2x2048x4096xf8E4M3FN, "e8m0_t32", layout = tiled_128x4>
func.func @groups(%x: !x, %w: !w, %ends: tensor<2xi32>) -> tensor<?x2048xbf16> {
  %0 = blockscale.matmul %x, %w groups(%ends : tensor<2xi32>) schedule(#blockscale.schedule<tile_n = 256, cta_group = 2, accumulators = 2>) : !x, !w -> tensor<?x2048xbf16>
  return %0 : tensor<?x2048xbf16>
}

// CHECK-LABEL: func.func @halves(
// CHECK: accumulators = 3, {{.*}}epilogue_warps = 8>
func.func @halves(%x: !x, %w: !w, %ends: tensor<2xi32>) -> tensor<?x2048xbf16> {
  %0 = blockscale.matmul %x, %w groups(%ends : tensor<2xi32>) schedule(#blockscale.schedule<tile_n = 256, cta_group = 2>) : !x, !w -> tensor<?x2048xbf16>
  return %0 : tensor<?x2048xbf16>
}
