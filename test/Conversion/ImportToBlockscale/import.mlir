// RUN: blockscale-opt %S/Inputs/tosa.mlir --blockscale-import | FileCheck %s --check-prefix=TOSA
// RUN: blockscale-opt %S/Inputs/linalg.mlir --blockscale-import | FileCheck %s --check-prefix=LINALG
// RUN: blockscale-opt %S/Inputs/float-scales.mlir --blockscale-import | FileCheck %s --check-prefix=FLOAT
// RUN: blockscale-opt %S/Inputs/jax/call.mlir --allow-unregistered-dialect --blockscale-import | FileCheck %s --check-prefix=JAX
// RUN: blockscale-opt %s --blockscale-import | FileCheck %s

// One matrix for all: the rows of A's matrices one after the other.
// TOSA-LABEL: @shared(
// TOSA: tensor.collapse_shape %{{.*}} {{\[\[}}0, 1], [2]] : tensor<4x?x128xf4E2M1FN> into tensor<?x128xf4E2M1FN>
// TOSA: blockscale.matmul {{.*}} -> tensor<?x64xf32>
// TOSA: tensor.expand_shape {{.*}} output_shape [4, %{{.*}}, 64]
// TOSA-LABEL: @batch(
// TOSA-NOT: collapse_shape
// TOSA: blockscale.matmul {{.*}} -> tensor<4x48x64xf32>

// Quantised into the layout of the kernel; bias and conversion are the kernel's.
// TOSA-LABEL: @linear(
// TOSA: blockscale.quantize %{{.*}} rule(round_up) : tensor<48x128xf32> to !blockscale.tensor<48x128xf8E4M3FN, "e8m0_t32", layout = tiled_128x4>
// TOSA: blockscale.matmul %{{.*}}, %{{.*}} bias(%{{.*}}) {{.*}} -> tensor<48x64xbf16>
// TOSA-NEXT: return

// LINALG-LABEL: @iree(
// LINALG-SAME: %[[A:[a-z0-9]+]]: {{[^%]*}}%[[B:[a-z0-9]+]]: {{[^%]*}}%[[SA:[a-z0-9]+]]: {{[^%]*}}%[[SB:[a-z0-9]+]]:
// LINALG: %[[AK:.*]] = tensor.collapse_shape %[[A]] {{\[\[}}0], [1, 2]]
// LINALG: %[[BK:.*]] = tensor.collapse_shape %[[B]] {{\[\[}}0], [1, 2]]
// LINALG: blockscale.assemble %[[AK]], %[[SA]]
// LINALG: blockscale.assemble %[[BK]], %[[SB]]
// LINALG-LABEL: @contract(
// LINALG: order = mn_major
// LINALG: blockscale.matmul %{{.*}}, %{{.*}} alpha(%{{.*}}) c(%{{.*}})
// LINALG-LABEL: @dequantised(
// LINALG-NOT: linalg.matmul
// LINALG: blockscale.matmul %{{.*}}, %{{.*}} alpha(%{{.*}}) {{.*}}"e4m3fn_t16"
// LINALG-LABEL: @elementwise(
// LINALG-NOT: linalg.batch_matmul
// LINALG: blockscale.matmul {{.*}} -> tensor<3x48x128xf32>

// Scales that no instruction reads stay in the order of their tiles.
// FLOAT-NOT: blockscale.relayout
// FLOAT-LABEL: @deepseek(
// FLOAT: blockscale.matmul {{.*}}"float32_t128">, {{.*}}"float32_t128_t128">
// FLOAT-LABEL: @joined(
// FLOAT: blockscale.matmul {{.*}}<?x128xf8E5M2, "float16_t64">, {{.*}}<96x128xf8E4M3FN, "bfloat16_t32_t64", order = mn_major>
// FLOAT-LABEL: @cut(
// FLOAT-NOT: expand_shape %{{.*}} {{\[\[}}0], [1, 2]]
// FLOAT: blockscale.matmul {{.*}}"float32_t128">, {{.*}}"float32_t0">
// FLOAT-LABEL: @loops(
// FLOAT: blockscale.matmul {{.*}}"float32_t64">, {{.*}}"float32_t64">
// FLOAT-LABEL: @int4(
// FLOAT: linalg.transpose ins(%{{.*}} : tensor<128x72xi4>)
// FLOAT: blockscale.matmul {{.*}}<40x128xbf16>, !blockscale.tensor<72x128xi4, "bfloat16_t32">
// FLOAT-LABEL: @zeros(
// FLOAT: arith.extui %{{.*}} : tensor<72x2xi4> to tensor<72x2xi8>
// FLOAT: blockscale.matmul {{.*}}<40x256xf16>, !blockscale.tensor<72x256xui4, "float16_int8_t128">
// FLOAT-LABEL: @shared(
// FLOAT: blockscale.matmul {{.*}}<40x256xf8E4M3FN, "float32_t0_t16">, !blockscale.tensor<72x256xi8, "float32_t0">
// FLOAT-LABEL: @bytes(
// FLOAT: blockscale.matmul {{.*}}<40x256xbf16>, !blockscale.tensor<72x256xi8

// JAX-LABEL: @main(
// JAX-NOT: stablehlo
// JAX: blockscale.matmul %{{.*}}, %{{.*}} alpha(%{{.*}}) bias(%{{.*}}) {{.*}} -> tensor<48x64xbf16>
// JAX-NOT: @_scaled_matmul

// Chips without tensor memory read bytes with K last only, and 16 bits either way.
// CHECK-LABEL: @on_warps(
// CHECK: linalg.transpose ins(%{{.*}} : tensor<128x64xf8E4M3FN>)
// CHECK-NOT: mn_major
#a = affine_map<(m, n, k) -> (m, k)>
#sa = affine_map<(m, n, k) -> (m, k floordiv 32)>
#b = affine_map<(m, n, k) -> (k, n)>
#sb = affine_map<(m, n, k) -> (k floordiv 32, n)>
#o = affine_map<(m, n, k) -> (m, n)>
#t = affine_map<(m, n, k) -> (n, m)>
#loops = {indexing_maps = [#a, #sa, #b, #sb, #o], iterator_types = ["parallel", "parallel", "reduction"]}
func.func @on_warps(%a: tensor<48x128xf8E4M3FN>, %sa: tensor<48x4xf8E8M0FNU>, %b: tensor<128x64xf8E4M3FN>, %sb: tensor<4x64xf8E8M0FNU>, %c: tensor<48x64xf32>) -> tensor<48x64xf32> attributes {blockscale.target = #blockscale.target<sm_120a>} {
  %r = linalg.generic #loops ins(%a, %sa, %b, %sb : tensor<48x128xf8E4M3FN>, tensor<48x4xf8E8M0FNU>, tensor<128x64xf8E4M3FN>, tensor<4x64xf8E8M0FNU>) outs(%c : tensor<48x64xf32>) {
  ^bb0(%x: f8E4M3FN, %s: f8E8M0FNU, %y: f8E4M3FN, %t: f8E8M0FNU, %o: f32):
    %0 = arith.scaling_extf %x, %s : f8E4M3FN, f8E8M0FNU to f32
    %1 = arith.scaling_extf %y, %t : f8E4M3FN, f8E8M0FNU to f32
    %2 = arith.mulf %0, %1 : f32
    %3 = arith.addf %o, %2 : f32
    linalg.yield %3 : f32
  } -> tensor<48x64xf32>
  return %r : tensor<48x64xf32>
}

// CHECK-LABEL: @halves_on_warps(
// CHECK-NOT: linalg.transpose
// CHECK: blockscale.matmul {{.*}}<40x128xbf16, order = mn_major>
func.func @halves_on_warps(%a: tensor<128x40xbf16>, %b: tensor<72x128xi8>, %t: tensor<72x4xbf16>, %c: tensor<40x72xf32>) -> tensor<40x72xf32> attributes {blockscale.target = #blockscale.target<sm_120a>} {
  %r = linalg.generic {indexing_maps = [affine_map<(m, n, k) -> (k, m)>, affine_map<(m, n, k) -> (n, k)>, affine_map<(m, n, k) -> (n, k floordiv 32)>, #o], iterator_types = ["parallel", "parallel", "reduction"]} ins(%a, %b, %t : tensor<128x40xbf16>, tensor<72x128xi8>, tensor<72x4xbf16>) outs(%c : tensor<40x72xf32>) {
  ^bb0(%x: bf16, %y: i8, %q: bf16, %o: f32):
    %0 = arith.extf %x : bf16 to f32
    %1 = arith.sitofp %y : i8 to f32
    %2 = arith.extf %q : bf16 to f32
    %3 = arith.mulf %1, %2 : f32
    %4 = arith.mulf %0, %3 : f32
    %5 = arith.addf %o, %4 : f32
    linalg.yield %5 : f32
  } -> tensor<40x72xf32>
  return %r : tensor<40x72xf32>
}

// The result's columns first: the sides change places.
// CHECK-LABEL: @transposed(
// CHECK-SAME: %[[A:[a-z0-9]+]]: {{[^%]*}}%[[SA:[a-z0-9]+]]: {{[^%]*}}%[[B:[a-z0-9]+]]:
// CHECK: %[[L:.*]] = blockscale.assemble %[[B]], %
// CHECK: %[[LT:.*]] = blockscale.relayout %[[L]]
// CHECK: %[[R:.*]] = blockscale.assemble %[[A]], %
// CHECK: %[[RT:.*]] = blockscale.relayout %[[R]]
// CHECK: blockscale.matmul %[[LT]], %[[RT]] {{.*}} -> tensor<64x48xf32>
func.func @transposed(%a: tensor<48x128xf8E4M3FN>, %sa: tensor<48x4xf8E8M0FNU>, %b: tensor<128x64xf8E4M3FN>, %sb: tensor<4x64xf8E8M0FNU>, %c: tensor<64x48xf32>) -> tensor<64x48xf32> {
  %r = linalg.generic {indexing_maps = [#a, #sa, #b, #sb, #t], iterator_types = ["parallel", "parallel", "reduction"]} ins(%a, %sa, %b, %sb : tensor<48x128xf8E4M3FN>, tensor<48x4xf8E8M0FNU>, tensor<128x64xf8E4M3FN>, tensor<4x64xf8E8M0FNU>) outs(%c : tensor<64x48xf32>) {
  ^bb0(%x: f8E4M3FN, %s: f8E8M0FNU, %y: f8E4M3FN, %t: f8E8M0FNU, %o: f32):
    %0 = arith.scaling_extf %x, %s : f8E4M3FN, f8E8M0FNU to f32
    %1 = arith.scaling_extf %y, %t : f8E4M3FN, f8E8M0FNU to f32
    %2 = arith.mulf %0, %1 : f32
    %3 = arith.addf %o, %2 : f32
    linalg.yield %3 : f32
  } -> tensor<64x48xf32>
  return %r : tensor<64x48xf32>
}

// Elements of 8 bits without scales, beside others and beside bf16 that is rounded
// before.
// CHECK-LABEL: @unscaled(
// CHECK: blockscale.matmul {{.*}} : !blockscale.tensor<48x128xf8E4M3FN>, !blockscale.tensor<64x128xf8E4M3FN>, tensor<48x64xf32>
// CHECK: arith.truncf
// CHECK: blockscale.matmul {{.*}} : !blockscale.tensor<48x128xbf16>, !blockscale.tensor<64x128xf8E4M3FN>, tensor<48x64xf32>
func.func @unscaled(%a: tensor<48x128xf8E4M3FN>, %b: tensor<64x128xf8E4M3FN>, %s: tensor<48x128xf32>, %c: tensor<48x64xf32>) -> (tensor<48x64xf32>, tensor<48x64xf32>) {
  %0 = linalg.matmul indexing_maps = [#a, affine_map<(m, n, k) -> (n, k)>, #o] ins(%a, %b : tensor<48x128xf8E4M3FN>, tensor<64x128xf8E4M3FN>) outs(%c : tensor<48x64xf32>) -> tensor<48x64xf32>
  %w = arith.extf %a : tensor<48x128xf8E4M3FN> to tensor<48x128xf32>
  %m = arith.mulf %w, %s : tensor<48x128xf32>
  %n = arith.truncf %m : tensor<48x128xf32> to tensor<48x128xbf16>
  %v = arith.extf %b : tensor<64x128xf8E4M3FN> to tensor<64x128xbf16>
  %1 = linalg.matmul indexing_maps = [#a, affine_map<(m, n, k) -> (n, k)>, #o] ins(%n, %v : tensor<48x128xbf16>, tensor<64x128xbf16>) outs(%c : tensor<48x64xf32>) -> tensor<48x64xf32>
  return %0, %1 : tensor<48x64xf32>, tensor<48x64xf32>
}

// Not ours: a factor for each place along K, bf16 on both sides, integers with powers
// of two (which are other numbers in the dialect), powers of two beside bf16, a zero
// point of integers with a sign, scales of blocks of 8.
#nk = affine_map<(m, n, k) -> (n, k)>
#tile = affine_map<(m, n, k) -> (n, k floordiv 32)>
// CHECK-LABEL: @others(
// CHECK-NOT: blockscale.
// CHECK: return
func.func @others(%h: tensor<48x128xbf16>, %a: tensor<48x128xf8E4M3FN>, %i: tensor<64x128xi8>, %f: tensor<64x128xf4E2M1FN>, %along: tensor<128xf32>, %p: tensor<64x4xf8E8M0FNU>, %z: tensor<64x4xi8>, %s: tensor<64x4xf32>, %short: tensor<64x16xf32>, %c: tensor<48x64xf32>) -> tensor<48x64xf32> {
  %0 = linalg.generic {indexing_maps = [#a, #nk, affine_map<(m, n, k) -> (k)>, #o], iterator_types = ["parallel", "parallel", "reduction"]} ins(%h, %f, %along : tensor<48x128xbf16>, tensor<64x128xf4E2M1FN>, tensor<128xf32>) outs(%c : tensor<48x64xf32>) {
  ^bb0(%x: bf16, %y: f4E2M1FN, %q: f32, %o: f32):
    %r = arith.extf %x : bf16 to f32
    %t = arith.extf %y : f4E2M1FN to f32
    %u = arith.mulf %t, %q : f32
    %v = arith.mulf %r, %u : f32
    %w = arith.addf %o, %v : f32
    linalg.yield %w : f32
  } -> tensor<48x64xf32>
  %1 = linalg.generic {indexing_maps = [#a, #nk, #tile, #o], iterator_types = ["parallel", "parallel", "reduction"]} ins(%h, %i, %p : tensor<48x128xbf16>, tensor<64x128xi8>, tensor<64x4xf8E8M0FNU>) outs(%0 : tensor<48x64xf32>) {
  ^bb0(%x: bf16, %y: i8, %q: f8E8M0FNU, %o: f32):
    %r = arith.extf %x : bf16 to f32
    %s0 = arith.extf %q : f8E8M0FNU to f32
    %t = arith.sitofp %y : i8 to f32
    %u = arith.mulf %t, %s0 : f32
    %v = arith.mulf %r, %u : f32
    %w = arith.addf %o, %v : f32
    linalg.yield %w : f32
  } -> tensor<48x64xf32>
  %2 = linalg.generic {indexing_maps = [#a, #nk, #tile, #o], iterator_types = ["parallel", "parallel", "reduction"]} ins(%h, %f, %p : tensor<48x128xbf16>, tensor<64x128xf4E2M1FN>, tensor<64x4xf8E8M0FNU>) outs(%1 : tensor<48x64xf32>) {
  ^bb0(%x: bf16, %y: f4E2M1FN, %q: f8E8M0FNU, %o: f32):
    %r = arith.extf %x : bf16 to f32
    %t = arith.scaling_extf %y, %q : f4E2M1FN, f8E8M0FNU to f32
    %v = arith.mulf %r, %t : f32
    %w = arith.addf %o, %v : f32
    linalg.yield %w : f32
  } -> tensor<48x64xf32>
  %3 = linalg.generic {indexing_maps = [#a, #nk, #tile, #tile, #o], iterator_types = ["parallel", "parallel", "reduction"]} ins(%h, %i, %s, %z : tensor<48x128xbf16>, tensor<64x128xi8>, tensor<64x4xf32>, tensor<64x4xi8>) outs(%2 : tensor<48x64xf32>) {
  ^bb0(%x: bf16, %y: i8, %q: f32, %n: i8, %o: f32):
    %r = arith.extf %x : bf16 to f32
    %s0 = arith.sitofp %n : i8 to f32
    %t = arith.sitofp %y : i8 to f32
    %d = arith.subf %t, %s0 : f32
    %u = arith.mulf %d, %q : f32
    %v = arith.mulf %r, %u : f32
    %w = arith.addf %o, %v : f32
    linalg.yield %w : f32
  } -> tensor<48x64xf32>
  %4 = linalg.generic {indexing_maps = [#a, #nk, affine_map<(m, n, k) -> (n, k floordiv 8)>, #o], iterator_types = ["parallel", "parallel", "reduction"]} ins(%h, %i, %short : tensor<48x128xbf16>, tensor<64x128xi8>, tensor<64x16xf32>) outs(%3 : tensor<48x64xf32>) {
  ^bb0(%x: bf16, %y: i8, %q: f32, %o: f32):
    %r = arith.extf %x : bf16 to f32
    %t = arith.sitofp %y : i8 to f32
    %u = arith.mulf %t, %q : f32
    %v = arith.mulf %r, %u : f32
    %w = arith.addf %o, %v : f32
    linalg.yield %w : f32
  } -> tensor<48x64xf32>
  return %4 : tensor<48x64xf32>
}

// A product that was ours before keeps its result and what follows it.
// CHECK-LABEL: @ours(
// CHECK: blockscale.matmul {{.*}} -> tensor<48x64xf32>
// CHECK-NEXT: arith.truncf
func.func @ours(%a: !blockscale.tensor<48x128xf8E4M3FN, "e8m0_t32", layout = tiled_128x4>, %b: !blockscale.tensor<64x128xf8E4M3FN, "e8m0_t32", layout = tiled_128x4>) -> tensor<48x64xbf16> {
  %0 = blockscale.matmul %a, %b : !blockscale.tensor<48x128xf8E4M3FN, "e8m0_t32", layout = tiled_128x4>, !blockscale.tensor<64x128xf8E4M3FN, "e8m0_t32", layout = tiled_128x4> -> tensor<48x64xf32>
  %1 = arith.truncf %0 : tensor<48x64xf32> to tensor<48x64xbf16>
  return %1 : tensor<48x64xbf16>
}
