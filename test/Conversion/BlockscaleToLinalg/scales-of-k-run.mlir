// Scales that cover all of K, executed: factors of exact sums. Integers mean their
// integer value under float scales and count in 1/64 under powers of two.

// RUN: blockscale-opt %s --blockscale-to-linalg --canonicalize --cse \
// RUN: | mlir-opt --one-shot-bufferize=bufferize-function-boundaries \
// RUN:   --convert-linalg-to-loops --convert-scf-to-cf \
// RUN:   --expand-strided-metadata --lower-affine --convert-to-llvm \
// RUN:   --reconcile-unrealized-casts \
// RUN: | %mlir-runner -e main -entry-point-result=void \
// RUN:   -shared-libs=%mlir_runner_libs | FileCheck %s

func.func private @printMemrefF32(tensor<*xf32>)
func.func private @printMemrefI32(tensor<*xi32>)

!rows = !blockscale.tensor<2x2xi8, "float32_t0">
!one = !blockscale.tensor<3x2xi8, "float16">

func.func @main() {
  // Rows of A under 4 and -6, all of B under 1/2, so that factors are 2 and -3:
  // 100 * 127 + 3 * 2 = 12706, 100 * -2 = -200, 3 * 1 = 3;
  // -50 * 127 + 1 * 2 = -6348, 100, 1.
  // CHECK: [25412, -400, 6]
  // CHECK: [19044, -300, -3]
  %a = arith.constant dense<[[100, 3], [-50, 1]]> : tensor<2x2xi8>
  %sa = arith.constant dense<[[4.0], [-6.0]]> : tensor<2x1xf32>
  %b = arith.constant dense<[[127, 2], [-2, 0], [0, 1]]> : tensor<3x2xi8>
  %sb = arith.constant dense<0.5> : tensor<1x1xf16>
  %qa = blockscale.assemble %a, %sa : tensor<2x2xi8>, tensor<2x1xf32> to !rows
  %qb = blockscale.assemble %b, %sb : tensor<3x2xi8>, tensor<1x1xf16> to !one
  %0 = blockscale.matmul %qa, %qb : !rows, !one -> tensor<2x3xf32>
  %1 = tensor.cast %0 : tensor<2x3xf32> to tensor<*xf32>
  call @printMemrefF32(%1) : (tensor<*xf32>) -> ()

  // Values of A: integers times 4 and -6.
  // CHECK: [400, 12]
  // CHECK: [300, -6]
  %2 = blockscale.dequantize %qa : !rows to tensor<2x2xf32>
  %3 = tensor.cast %2 : tensor<2x2xf32> to tensor<*xf32>
  call @printMemrefF32(%3) : (tensor<*xf32>) -> ()

  // Under a power of two they count in 1/64: 64 is 1.
  // CHECK: [2, -4]
  %c = arith.constant dense<[[64, -128]]> : tensor<1x2xi8>
  %two = arith.constant dense<2.0> : tensor<1x1xf8E8M0FNU>
  %qc = blockscale.assemble %c, %two : tensor<1x2xi8>, tensor<1x1xf8E8M0FNU> to !blockscale.tensor<1x2xi8, "e8m0_t0">
  %4 = blockscale.dequantize %qc : !blockscale.tensor<1x2xi8, "e8m0_t0"> to tensor<1x2xf32>
  %5 = tensor.cast %4 : tensor<1x2xf32> to tensor<*xf32>
  call @printMemrefF32(%5) : (tensor<*xf32>) -> ()

  // The scale of a row is its largest magnitude divided by 127.
  // CHECK: [2]
  // CHECK: [0.5]
  // CHECK: [127, -10, 1]
  // CHECK: [3, 0, -127]
  %x = arith.constant dense<[[254.0, -20.0, 1.2], [1.5, 0.125, -63.5]]> : tensor<2x3xf32>
  %q = blockscale.quantize %x : tensor<2x3xf32> to !blockscale.tensor<2x3xi8, "float32_t0">
  %data, %scales = blockscale.disassemble %q : !blockscale.tensor<2x3xi8, "float32_t0">
  %6 = tensor.cast %scales : tensor<2x1xf32> to tensor<*xf32>
  call @printMemrefF32(%6) : (tensor<*xf32>) -> ()
  %init = tensor.empty() : tensor<2x3xi32>
  %wide = linalg.generic {
      indexing_maps = [affine_map<(m, n) -> (m, n)>, affine_map<(m, n) -> (m, n)>],
      iterator_types = ["parallel", "parallel"]}
      ins(%data : tensor<2x3xi8>) outs(%init : tensor<2x3xi32>) {
  ^bb0(%in: i8, %out: i32):
    %ext = arith.extsi %in : i8 to i32
    linalg.yield %ext : i32
  } -> tensor<2x3xi32>
  %7 = tensor.cast %wide : tensor<2x3xi32> to tensor<*xi32>
  call @printMemrefI32(%7) : (tensor<*xi32>) -> ()

  // Rows of B share a scale by fours: 8 of the first four, 1/2 of the last. In a
  // batch each matrix has its own, and alpha and a row's scale come first.
  // CHECK: {{\[}}[16, 24, 0, 8, 1]]
  // CHECK: {{\[}}[-6, -9, 0, -3, 12]]
  %e = arith.constant dense<[[[1.0]], [[-3.0]]]> : tensor<2x1x1xf8E4M3FN>
  %se = arith.constant dense<[[[2.0]], [[1.0]]]> : tensor<2x1x1xbf16>
  %f = arith.constant dense<[[[2.0], [3.0], [0.0], [1.0], [2.0]], [[2.0], [3.0], [0.0], [1.0], [-4.0]]]> : tensor<2x5x1xf8E4M3FN>
  %sf = arith.constant dense<[[[8.0], [0.5]], [[2.0], [2.0]]]> : tensor<2x2x1xf8E8M0FNU>
  %half = arith.constant 0.5 : f32
  %qe = blockscale.assemble %e, %se : tensor<2x1x1xf8E4M3FN>, tensor<2x1x1xbf16> to !blockscale.tensor<2x1x1xf8E4M3FN, "bfloat16_t0">
  %qf = blockscale.assemble %f, %sf : tensor<2x5x1xf8E4M3FN>, tensor<2x2x1xf8E8M0FNU> to !blockscale.tensor<2x5x1xf8E4M3FN, "e8m0_t4_t0">
  %8 = blockscale.matmul %qe, %qf alpha(%half) : !blockscale.tensor<2x1x1xf8E4M3FN, "bfloat16_t0">, !blockscale.tensor<2x5x1xf8E4M3FN, "e8m0_t4_t0"> -> tensor<2x1x5xf32>
  %9 = tensor.cast %8 : tensor<2x1x5xf32> to tensor<*xf32>
  call @printMemrefF32(%9) : (tensor<*xf32>) -> ()

  // Zero points that count in steps of the scale come off the elements, 3 and 10:
  // 2 * (4 * 2 + 1 * -2) = 12 and 2 * (4 * -10 + 1 * 5) = -70.
  // CHECK: {{\[}}[12, -70]]
  %g = arith.constant dense<[[4.0, 1.0]]> : tensor<1x2xf8E4M3FN>
  %qg = blockscale.assemble %g : tensor<1x2xf8E4M3FN> to !blockscale.tensor<1x2xf8E4M3FN>
  %h = arith.constant dense<[[5, 1], [0, 15]]> : tensor<2x2xi4>
  %sh = arith.constant dense<2.0> : tensor<2x1xf32>
  %zh = arith.constant dense<[[3], [10]]> : tensor<2x1xi8>
  %qh = blockscale.assemble %h, %sh zeros(%zh : tensor<2x1xi8>) : tensor<2x2xi4>, tensor<2x1xf32> to !blockscale.tensor<2x2xui4, "float32_int8_t0">
  %10 = blockscale.matmul %qg, %qh : !blockscale.tensor<1x2xf8E4M3FN>, !blockscale.tensor<2x2xui4, "float32_int8_t0"> -> tensor<1x2xf32>
  %11 = tensor.cast %10 : tensor<1x2xf32> to tensor<*xf32>
  call @printMemrefF32(%11) : (tensor<*xf32>) -> ()

  // Those in real units come off the products, 3 and 1/2 of twice the elements:
  // 4 * 7 + 1 * -1 = 27 and 4 * -0.5 + 1 * 29.5 = 27.5.
  // CHECK: {{\[}}[27, 27.5]]
  %zi = arith.constant dense<[[3.0], [0.5]]> : tensor<2x1xf32>
  %qi = blockscale.assemble %h, %sh zeros(%zi : tensor<2x1xf32>) : tensor<2x2xi4>, tensor<2x1xf32> to !blockscale.tensor<2x2xui4, "float32_float32_t0">
  %12 = blockscale.matmul %qg, %qi : !blockscale.tensor<1x2xf8E4M3FN>, !blockscale.tensor<2x2xui4, "float32_float32_t0"> -> tensor<1x2xf32>
  %13 = tensor.cast %12 : tensor<1x2xf32> to tensor<*xf32>
  call @printMemrefF32(%13) : (tensor<*xf32>) -> ()
  return
}
