// The ops of an epilogue, done on the vectors of a kernel: rows of tensor
// memory, pairs of registers where there is none. An input is loaded where it is
// first read, and not at all if nothing reads it.

// RUN: blockscale-opt %s --split-input-file -pass-pipeline='builtin.module(blockscale-form-kernels,gpu.module(blockscale-expand-kernels,canonicalize,cse))' | FileCheck %s

!a = !blockscale.tensor<256x256xf4E2M1FN, "e4m3fn_t16", layout = tiled_128x4>
!b = !blockscale.tensor<512x256xf4E2M1FN, "e4m3fn_t16", layout = tiled_128x4>

// CHECK-LABEL: gpu.func @gate(
// CHECK-SAME: epilogue = <inputs = 3, steps = [#blockscale.epilogue_step<op = "arith.constant", type = f32, value = 1.000000e+00 : f32>, #blockscale.epilogue_step<op = "math.tanh", type = f32, operands = [2]>,
// CHECK-SAME: #blockscale.epilogue_step<op = "arith.cmpf", type = i1, operands = [0, 3], predicate = "olt">,
// CHECK-SAME: result = 6>
// CHECK: %[[ONE:.*]] = arith.constant dense<1.000000e+00> : vector<32xf32>
// CHECK: %[[SUM:.*]] = blockscale.load_accumulator
// CHECK: blockscale.load_row {{.*}} -> vector<32xbf16>
// CHECK: %[[BIAS:.*]] = arith.extf
// CHECK: %[[TANH:.*]] = math.tanh %[[BIAS]] : vector<32xf32>
// CHECK: %[[X:.*]] = arith.mulf %[[SUM]], %{{.*}} : vector<32xf32>
// CHECK-NOT: load_row
// CHECK: %[[IS:.*]] = arith.cmpf olt, %[[X]], %[[ONE]] : vector<32xf32>
// CHECK: %[[Y:.*]] = arith.select %[[IS]], %[[X]], %[[TANH]] : vector<32xi1>, vector<32xf32>
// CHECK: blockscale.store_row %[[Y]]
func.func @gate(%a: !a, %b: !b, %alpha: f32, %c: tensor<256x512xf16>, %v: tensor<512xbf16>) -> tensor<256x512xf32> {
  %0 = blockscale.matmul %a, %b alpha(%alpha) c(%c) bias(%v) epilogue(%x, %y, %bias) {
    %one = arith.constant 1.0 : f32
    %1 = math.tanh %bias : f32
    %2 = arith.cmpf olt, %x, %one : f32
    %3 = arith.select %2, %x, %1 : f32
    blockscale.yield %3
  } mma(<kind = mxf4nvf4, a = e2m1, b = e2m1, scale = ue4m3, block = 16, m = 128, n = 128, k = 64>) schedule(#blockscale.schedule<tile_m = 128, tile_n = 128, tile_k = 256, stages = 4, accumulators = 2, swap_operands = false, group_m = 8>) : !a, !b, tensor<256x512xf16>, tensor<512xbf16> -> tensor<256x512xf32>
  return %0 : tensor<256x512xf32>
}

// -----

!a = !blockscale.tensor<256x256xf4E2M1FN, "e4m3fn_t16", layout = tiled_128x4>
!b = !blockscale.tensor<512x256xf4E2M1FN, "e4m3fn_t16", layout = tiled_128x4>

// The kernel-level op has the region too.
// CHECK-LABEL: gpu.func @warp_level(
// CHECK: blockscale.finish_fragments
// CHECK: %[[PAIR:.*]] = vector.shuffle %{{.*}} [0, 1]
// CHECK: %[[SQUARE:.*]] = arith.mulf %[[PAIR]], %[[PAIR]] : vector<2xf32>
// CHECK: %[[NARROW:.*]] = arith.truncf %[[SQUARE]] : vector<2xf32> to vector<2xbf16>
// CHECK: %[[WIDE:.*]] = arith.extf %[[NARROW]] : vector<2xbf16> to vector<2xf32>
// CHECK: blockscale.store_row %[[WIDE]]
module attributes {blockscale.target = #blockscale.target<sm_120a>} {
  func.func @warp_level(%a: !a, %b: !b) -> tensor<256x512xf32> {
    %0 = blockscale.matmul %a, %b epilogue(%x) {
      %1 = arith.mulf %x, %x : f32
      %2 = arith.truncf %1 : f32 to bf16
      %3 = arith.extf %2 : bf16 to f32
      blockscale.yield %3
    } mma(<kind = mxf4nvf4, a = e2m1, b = e2m1, scale = ue4m3, block = 16, m = 16, n = 8, k = 64>) schedule(#blockscale.schedule<tile_m = 128, tile_n = 128, tile_k = 256, stages = 2, accumulators = 1, swap_operands = false, group_m = 8>) : !a, !b -> tensor<256x512xf32>
    return %0 : tensor<256x512xf32>
  }
}
