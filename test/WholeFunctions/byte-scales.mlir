// Scales that are bytes, drawn from all that there are, read by kernels and by linalg:
// of e5m3 and e5m2, and of e4m3, which as a scale has no infinities whatever it is
// spelt. Of tiles and of all of K, of a sparse operand too.

// RUN: blockscale verify %s --data=random 2>&1 | FileCheck %s

// CHECK-NOT: FAIL
// CHECK: function
// CHECK-DAG: {{^}}wide random - 1 5120 0 {{.*}} pass
// CHECK-DAG: {{^}}ieee random - 1 5120 0 {{.*}} pass
// CHECK-DAG: {{^}}rows random - 1 5120 0 {{.*}} pass
// CHECK-DAG: {{^}}sparse random - 1 5120 0 {{.*}} pass

!wide = !blockscale.tensor<40x128xf8E4M3FN, "e5m3fn_t32">
!tall = !blockscale.tensor<128x128xf8E4M3FN, "e5m3fn_t128_t128">
func.func @wide(%x: tensor<40x128xf8E4M3FN>, %s: tensor<40x4xi8>, %w: tensor<128x128xf8E4M3FN>, %t: tensor<1x1xi8>) -> tensor<40x128xf32> {
  %a = blockscale.assemble %x, %s : tensor<40x128xf8E4M3FN>, tensor<40x4xi8> to !wide
  %b = blockscale.assemble %w, %t : tensor<128x128xf8E4M3FN>, tensor<1x1xi8> to !tall
  %0 = blockscale.matmul %a, %b : !wide, !tall -> tensor<40x128xf32>
  return %0 : tensor<40x128xf32>
}

!ieee = !blockscale.tensor<40x128xf8E4M3FN, "e4m3_t32">
!short = !blockscale.tensor<128x128xf8E4M3FN, "e5m2_t64">
func.func @ieee(%x: tensor<40x128xf8E4M3FN>, %s: tensor<40x4xf8E4M3FN>, %w: tensor<128x128xf8E4M3FN>, %t: tensor<128x2xf8E5M2>) -> tensor<40x128xf32> {
  %a = blockscale.assemble %x, %s : tensor<40x128xf8E4M3FN>, tensor<40x4xf8E4M3FN> to !ieee
  %b = blockscale.assemble %w, %t : tensor<128x128xf8E4M3FN>, tensor<128x2xf8E5M2> to !short
  %0 = blockscale.matmul %a, %b : !ieee, !short -> tensor<40x128xf32>
  return %0 : tensor<40x128xf32>
}

!row = !blockscale.tensor<40x128xf8E4M3FN, "e4m3_t0">
!matrix = !blockscale.tensor<128x128xf8E4M3FN, "e5m2">
func.func @rows(%x: tensor<40x128xf32>, %w: tensor<128x128xf32>) -> tensor<40x128xf32> {
  %a = blockscale.quantize %x : tensor<40x128xf32> to !row
  %b = blockscale.quantize %w : tensor<128x128xf32> to !matrix
  %0 = blockscale.matmul %a, %b : !row, !matrix -> tensor<40x128xf32>
  return %0 : tensor<40x128xf32>
}

!pruned = !blockscale.tensor<40x128xf8E4M3FN, "float32_n2m4", layout = tiled_128x4>
!bytes = !blockscale.tensor<128x128xf8E4M3FN, "e4m3_t32_t0">
func.func @sparse(%x: tensor<40x128xf32>, %w: tensor<128x128xf32>) -> tensor<40x128xf32> {
  %a = blockscale.quantize %x : tensor<40x128xf32> to !pruned
  %b = blockscale.quantize %w : tensor<128x128xf32> to !bytes
  %0 = blockscale.matmul %a, %b : !pruned, !bytes -> tensor<40x128xf32>
  return %0 : tensor<40x128xf32>
}
